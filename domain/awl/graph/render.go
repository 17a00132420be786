package graph

import (
	"fmt"
	"strings"

	"aion/domain/awl/plan"
)

// Dot renders a graph for Graphviz.
func (g Graph) Dot() string {
	var b strings.Builder
	b.WriteString("digraph workflow {\n  rankdir=TB\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\", fontsize=10]\n")
	g.tree(func(depth int, grp *Group) {
		fmt.Fprintf(&b, "%ssubgraph %s {\n%s  label=%s\n", pad(depth), dotText("cluster_"+grp.ID), pad(depth), dotText(grp.Label))
	}, func(depth int) {
		fmt.Fprintf(&b, "%s}\n", pad(depth))
	}, func(depth int, n *Node) {
		fmt.Fprintf(&b, "%s%s [label=%s%s]\n", pad(depth), dotText(n.ID), dotText(caption(n, "\n")), dotShape(n))
	})
	for _, e := range g.Edges {
		style := ""
		switch e.Kind {
		case After:
			style = ", style=dashed"
		case Failure:
			style = ", style=dotted, color=red"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s]\n", dotText(e.Source), dotText(e.Target), dotText(edgeLabel(e)), style)
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func dotShape(n *Node) string {
	switch n.Kind {
	case KindOutcome:
		if n.Status == plan.Failure {
			return `, shape=octagon, style=solid, color=red`
		}
		return `, shape=oval, style=solid`
	case plan.KindDecision:
		return `, shape=diamond, style=solid`
	case plan.KindSubflow, KindChild:
		return `, shape=box3d, style=solid`
	}
	return ""
}

// Mermaid renders a graph as a Mermaid flow chart.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	names := map[string]string{}
	for i, n := range g.Nodes {
		names[n.ID] = fmt.Sprintf("n%d", i)
	}
	g.tree(func(depth int, grp *Group) {
		fmt.Fprintf(&b, "%ssubgraph g%d [\"%s\"]\n", pad(depth), g.index(grp.ID), mermaidText(grp.Label))
	}, func(depth int) {
		fmt.Fprintf(&b, "%send\n", pad(depth))
	}, func(depth int, n *Node) {
		left, right := mermaidShape(n)
		fmt.Fprintf(&b, "%s%s%s\"%s\"%s\n", pad(depth), names[n.ID], left, mermaidText(caption(n, "\n")), right)
	})
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == After || e.Kind == Failure {
			arrow = "-.->"
		}
		label := ""
		if l := edgeLabel(e); l != "" {
			label = `|"` + mermaidText(l) + `"|`
		}
		fmt.Fprintf(&b, "  %s %s%s %s\n", names[e.Source], arrow, label, names[e.Target])
	}
	return b.String()
}

func mermaidText(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "\n", "<br/>", "<", "#lt;", ">", "#gt;").Replace(s)
}

func mermaidShape(n *Node) (left, right string) {
	switch n.Kind {
	case KindOutcome:
		if n.Status == plan.Failure {
			return "{{", "}}"
		}
		return "([", "])"
	case plan.KindDecision:
		return "{", "}"
	case plan.KindSubflow, KindChild:
		return "[[", "]]"
	}
	return "[", "]"
}

// Text renders a graph for a terminal: each step with what it does, and below it where it leads.
func (g Graph) Text() string {
	var b strings.Builder
	g.tree(func(depth int, grp *Group) {
		in := pad(2*depth - 1)
		if grp.Node == "" {
			in = ""
		}
		fmt.Fprintf(&b, "%s%s:\n", in, grp.Label)
	}, func(int) {}, func(depth int, n *Node) {
		mark := ""
		if n.Kind == KindOutcome {
			mark = "(" + n.Status + ") "
		}
		fmt.Fprintf(&b, "%s%s%s\n", pad(2*depth-2), mark, caption(n, "  "))
		for _, e := range g.Edges {
			if e.Source == n.ID {
				fmt.Fprintf(&b, "%s  -> %s%s\n", pad(2*depth-2), e.Target, remark(e))
			}
		}
	})
	if !g.Complete {
		b.WriteString("(incomplete: the document could not be read as a whole)\n")
	}
	return b.String()
}

// caption is the id's last name with what the step does.
func caption(n *Node, sep string) string {
	parts := []string{n.Name}
	if len(n.Actions) > 0 {
		parts = append(parts, "calls "+strings.Join(n.Actions, ", "))
	}
	if len(n.Children) > 0 {
		parts = append(parts, "child "+strings.Join(n.Children, ", "))
	}
	if n.Subflow != "" {
		parts = append(parts, "subflow "+n.Subflow)
	}
	if len(n.Waits) > 0 {
		parts = append(parts, "waits for "+strings.Join(n.Waits, ", "))
	}
	if n.MaxVisits != "" {
		parts = append(parts, "max "+n.MaxVisits+" visits")
	}
	return strings.Join(parts, sep)
}

// edgeLabel says on an edge what the arrow alone does not.
func edgeLabel(e Edge) string {
	if e.Label == "" && e.Kind == After {
		return After
	}
	return e.Label
}

// remark is what the text form says behind an arrow.
func remark(e Edge) string {
	switch l := edgeLabel(e); {
	case l != "" && e.Back:
		return "  (" + l + ", back)"
	case l != "":
		return "  (" + l + ")"
	case e.Back:
		return "  (back)"
	}
	return ""
}

func pad(depth int) string { return strings.Repeat("  ", max(depth, 0)) }

func (g Graph) index(id string) int {
	for i := range g.Groups {
		if g.Groups[i].ID == id {
			return i
		}
	}
	return -1
}

// tree visits the nodes of each level in order, behind each the groups that are blocks of it, and last the subflows. The
// depth of the top level is 1. Groups without nodes (a fork of calls) are left out.
func (g Graph) tree(open func(depth int, grp *Group), shut func(depth int), node func(depth int, n *Node)) {
	var visit func(id string, depth int)
	blocks := func(of, in string, depth int) {
		for i := range g.Groups {
			grp := &g.Groups[i]
			if grp.Node != of || grp.Parent != in || !g.peopled(grp.ID) {
				continue
			}
			open(depth, grp)
			visit(grp.ID, depth+1)
			shut(depth)
		}
	}
	visit = func(id string, depth int) {
		for i := range g.Nodes {
			if n := &g.Nodes[i]; n.Group == id {
				node(depth, n)
				blocks(n.ID, id, depth)
			}
		}
		if g.owner(id) != "" { // a fork or loop beside others: those in the substeps' place
			blocks(g.owner(id), id, depth)
		}
	}
	visit("", 1)
	blocks("", "", 1)
}

// owner is the step whose block a group is.
func (g Graph) owner(id string) string {
	if i := g.index(id); i >= 0 {
		return g.Groups[i].Node
	}
	return ""
}

// peopled says whether a node stands in a group, or in a group inside it. Empty groups are left out of pictures.
func (g Graph) peopled(id string) bool {
	for i := range g.Nodes {
		if g.Nodes[i].Group == id {
			return true
		}
	}
	for i := range g.Groups {
		if g.Groups[i].Parent == id && g.peopled(g.Groups[i].ID) {
			return true
		}
	}
	return false
}
