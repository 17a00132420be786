// Package graph draws a document: its steps and outcomes as nodes, what leads from one to the next as edges, and the blocks
// around them as groups. It knows the text alone, so that a document that does not check, or is half written, has a graph
// too. Node ids are paths of declared names: editing one part of a document leaves the ids of the others as they are.
package graph

import (
	"fmt"
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
)

// Graph is what a document looks like.
type Graph struct {
	// Complete is false when the text could not be read as a whole: then what was not understood is missing.
	Complete bool     `json:"complete"`
	Document Document `json:"document"`
	Nodes    []Node   `json:"nodes"`
	Edges    []Edge   `json:"edges"`
	Groups   []Group  `json:"groups"`
}

// Document names the text. Of leaves both members to the caller.
type Document struct {
	Path        string `json:"path"`
	ContentHash string `json:"content_hash"`
}

// Node kinds besides those of plan steps (awl 8).
const (
	KindOutcome = "outcome"
	KindChild   = "child" // a step that is one call of a child workflow
)

// Node is a step or an outcome.
type Node struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	Name      string   `json:"name"`
	Doc       string   `json:"doc"`
	Group     string   `json:"group"`      // id of the innermost group around it; empty: none
	Span      Span     `json:"span"`       // of the name where it is declared
	Actions   []string `json:"actions"`    // that it calls, each once, in written order
	Children  []string `json:"children"`   // that it calls or spawns
	Waits     []string `json:"waits"`      // signals that it waits for
	Subflow   string   `json:"subflow"`    // that it calls; empty: none
	MaxVisits string   `json:"max_visits"` // the bound as written; empty: none
	Status    string   `json:"status"`     // of an outcome of the workflow: success or failure
}

// Span is a range of the text: lines and columns from 1, the end behind the last character.
type Span struct {
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"end_line"`
	EndColumn int `json:"end_column"`
}

// Edge kinds.
const (
	Route       = "route"
	FallThrough = "fall_through"
	After       = "after"
	Failure     = "failure"
)

// Edge leads from one node to another.
type Edge struct {
	ID     string `json:"id"` // source>target:label
	Source string `json:"source"`
	Target string `json:"target"`
	Kind   string `json:"kind"`
	Label  string `json:"label"` // the clause that fires, `on failure`, or empty
	Back   bool   `json:"back"`  // it leads to a step written no later than its source
}

// Group kinds.
const (
	Region   = "region"
	Fork     = "fork"
	Loop     = "loop"
	Subflow  = "subflow"
	Substeps = "group"
)

// Group is a block that nodes stand in.
type Group struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Parent string `json:"parent"` // empty: none
	Label  string `json:"label"`
	Node   string `json:"node"` // the step whose block it is; empty for a subflow
}

// Of draws the text of a document.
func Of(src []byte) Graph {
	doc, found := syntax.Parse(src)
	b := &builder{src: string(src), actions: map[string]bool{}, children: map[string]bool{}, subflows: map[string]bool{}, taken: map[string]bool{}}
	b.g = Graph{Complete: !diag.HasErrors(found), Nodes: []Node{}, Edges: []Edge{}, Groups: []Group{}}
	b.declare(doc)
	top := flow{outcomes: map[string]string{}}
	var outcomes []*syntax.OutcomeDecl
	if doc.Header != nil {
		outcomes = doc.Header.Outcomes
	}
	for _, o := range outcomes {
		top.outcomes[o.Name.Name] = "!" + o.Name.Name
	}
	b.flow(doc.Steps, top)
	for _, o := range outcomes {
		status := plan.Success
		if o.Failure {
			status = plan.Failure
		}
		b.outcome("!"+o.Name.Name, o.Name, o.Doc, "", status)
	}
	for _, s := range doc.Subflows {
		b.subflow(s)
	}
	return b.g
}

type builder struct {
	src                         string
	g                           Graph
	actions, children, subflows map[string]bool
	taken                       map[string]bool // node and edge ids
}

func (b *builder) declare(doc *syntax.Document) {
	for _, w := range doc.Workers {
		for _, a := range w.Actions {
			b.actions[a.Name.Name] = true
		}
	}
	for _, c := range doc.Children {
		b.children[c.Name.Name] = true
	}
	for _, s := range doc.Subflows {
		b.subflows[s.Name.Name] = true
	}
}

func (b *builder) subflow(s *syntax.Subflow) {
	id := b.free("~" + s.Name.Name)
	b.g.Groups = append(b.g.Groups, Group{ID: id, Kind: Subflow, Label: "subflow " + s.Name.Name})
	f := flow{path: id + "/", group: id, outcomes: map[string]string{}}
	end := ""
	if s.Outcome != nil {
		end = id + "/!" + s.Outcome.Name.Name
		f.outcomes[s.Outcome.Name.Name] = end
	}
	b.flow(s.Steps, f)
	if s.Outcome != nil {
		b.outcome(end, s.Outcome.Name, nil, id, plan.Success)
	}
}

// free takes an id, or the next free one when a mistaken document declares a name twice.
func (b *builder) free(id string) string {
	unique := id
	for n := 2; b.taken[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	b.taken[unique] = true
	return unique
}

func (b *builder) outcome(id string, name syntax.Ident, doc []string, group, status string) {
	if b.taken[id] {
		return
	}
	b.taken[id] = true
	b.g.Nodes = append(b.g.Nodes, Node{
		ID: id, Kind: KindOutcome, Name: name.Name, Doc: text(doc), Group: group, Span: spanOf(name.Span), Status: status,
		Actions: []string{}, Children: []string{}, Waits: []string{},
	})
}

func text(lines []string) string { return strings.Join(lines, "\n") }

func spanOf(s diag.Span) Span {
	return Span{Line: s.Start.Line, Column: s.Start.Column, EndLine: s.End.Line, EndColumn: s.End.Column}
}

// written is the text of a span on one line.
func (b *builder) written(s diag.Span) string {
	if s.Start.Offset < 0 || s.End.Offset > len(b.src) || s.Start.Offset > s.End.Offset {
		return ""
	}
	return strings.Join(strings.Fields(b.src[s.Start.Offset:s.End.Offset]), " ")
}
