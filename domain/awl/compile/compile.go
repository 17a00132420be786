package compile

import (
	"encoding/json"
	"fmt"
	"strings"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// The limits of a plan. A const stands in the plan wherever it is used and a schema holds every type it refers to, so a
// small document can ask for a large plan.
const (
	maxPlanBytes = 16 << 20 // of literals, schemas and texts together
	maxExprDepth = 2000
)

// defaultTimeoutMS is the workflow timeout when none is declared.
const defaultTimeoutMS = 3_600_000

// LimitError says that the plan of a document goes beyond a limit, and at which place of the document. It is the only error of
// Compile.
type LimitError struct {
	What  string
	Limit int
	Span  diag.Span
}

func (l *LimitError) Error() string {
	return fmt.Sprintf("%s exceeds the limit of %d (line %d)", l.What, l.Limit, l.Span.Start.Line)
}

// Compile makes the plan of a workflow document in which the checker found no error. The result depends on its arguments
// alone: the same document gives the same plan, and the same encoding of it.
func Compile(doc *syntax.Document, res check.Result, contentHash string) (*plan.Plan, error) {
	c := newCompiler(doc, res)
	for _, d := range doc.Types {
		if t := res.Types[d.Name.Name]; t != nil && !c.spend(len(t.Raw), d.Name.Span) {
			return nil, c.over
		}
	}
	p := &plan.Plan{
		Format: plan.Format, WorkflowType: doc.Header.Name.Name, ContentHash: contentHash,
		Narration: text(doc.Narration), TimeoutMS: defaultTimeoutMS,
		Inputs: []plan.Port{}, Signals: []plan.Port{}, Outcomes: []plan.Outcome{}, Types: []plan.TypeDef{},
		Workers: []plan.Worker{}, Children: []plan.Child{}, Subflows: []plan.Subflow{},
	}
	if doc.Header.Timeout != nil {
		p.TimeoutMS = c.duration(doc.Header.Timeout)
	}
	c.header(p)
	c.workers(p)
	p.Flow = c.flow(doc.Steps, c.workflowScope())
	p.Edges = p.Flow.Edges
	p.Flow.Edges = nil
	for _, s := range doc.Subflows {
		p.Subflows = append(p.Subflows, c.subflow(s))
	}
	c.children(p)
	c.reachable(p)
	if c.over != nil {
		return nil, c.over
	}
	return p, nil
}

// operation is what a call names: exactly one member is set.
type operation struct {
	action  *syntax.Action
	queue   string
	child   *syntax.Child
	subflow *syntax.Subflow
}

// compiler holds what the parts of a document share.
type compiler struct {
	doc      *syntax.Document
	res      check.Result
	ops      map[string]operation
	commands map[string]*syntax.Command
	called   map[string]bool // children
	spawned  map[string]bool
	used     map[string]bool // types
	bytes    int
	over     *LimitError
}

func newCompiler(doc *syntax.Document, res check.Result) *compiler {
	c := &compiler{
		doc: doc, res: res, ops: map[string]operation{}, commands: map[string]*syntax.Command{},
		called: map[string]bool{}, spawned: map[string]bool{}, used: map[string]bool{},
	}
	for _, w := range doc.Workers {
		for _, a := range w.Actions {
			c.ops[a.Name.Name] = operation{action: a, queue: w.Name.Name}
		}
	}
	for _, ch := range doc.Children {
		c.ops[ch.Name.Name] = operation{child: ch}
	}
	for _, s := range doc.Subflows {
		c.ops[s.Name.Name] = operation{subflow: s}
	}
	for _, cmd := range doc.Commands {
		c.commands[cmd.Name.Name] = cmd
	}
	return c
}

// spend counts bytes of the plan. Past the limit it keeps the first place that went over, and what follows is left out.
func (c *compiler) spend(n int, at diag.Span) bool {
	if c.bytes += n; c.bytes > maxPlanBytes && c.over == nil {
		c.over = &LimitError{What: "the compiled plan", Limit: maxPlanBytes, Span: at}
	}
	return c.over == nil
}

// schemaOf is the schema of a type, counted.
func (c *compiler) schemaOf(t *schema.Type, at diag.Span) json.RawMessage {
	if c.over != nil {
		return nil
	}
	b := schema.Of(t)
	c.spend(len(b), at)
	return b
}

// typeOf is the type that is written at a place.
func (c *compiler) typeOf(r *syntax.TypeRef) *schema.Type {
	t := &schema.Type{Kind: schema.Unknown}
	switch {
	case r == nil:
	case r.Elem != nil:
		t = &schema.Type{Kind: schema.List, Elem: c.typeOf(r.Elem)}
	default:
		t = c.named(r.Name.Name)
	}
	if r != nil && r.Optional {
		return &schema.Type{Kind: schema.Optional, Elem: t}
	}
	return t
}

func (c *compiler) named(name string) *schema.Type {
	switch name {
	case "Bool":
		return &schema.Type{Kind: schema.Bool}
	case "Int":
		return &schema.Type{Kind: schema.Int}
	case "Float":
		return &schema.Type{Kind: schema.Float}
	case "String":
		return &schema.Type{Kind: schema.String}
	case "Dir":
		return &schema.Type{Kind: schema.Dir}
	case "Nil":
		return &schema.Type{Kind: schema.Nil}
	}
	if t, ok := c.res.Types[name]; ok {
		c.used[name] = true
		return t
	}
	return &schema.Type{Kind: schema.Unknown}
}

// duration is a duration in milliseconds; 0 when there is none.
func (c *compiler) duration(d *syntax.Duration) int64 {
	switch {
	case d == nil:
		return 0
	case d.Name != nil:
		return c.res.Durations[d.Name.Name]
	}
	return d.MS
}

// text is doc or narration text.
func text(lines []string) string { return strings.Join(lines, "\n") }

// reachable lists the types that anything in the plan refers to, in declared order.
func (c *compiler) reachable(p *plan.Plan) {
	for _, k := range c.doc.Consts {
		c.mentioned(k.Value)
	}
	seen := map[string]bool{}
	for name := range c.used {
		c.reach(c.res.Types[name], seen)
	}
	for _, d := range c.doc.Types {
		name := d.Name.Name
		if t := c.res.Types[name]; t != nil && seen[name] {
			p.Types = append(p.Types, plan.TypeDef{Name: name, Schema: c.schemaOf(t, d.Name.Span)})
		}
	}
}

func (c *compiler) reach(t *schema.Type, seen map[string]bool) {
	for t != nil && (t.Kind == schema.List || t.Kind == schema.Optional) {
		t = t.Elem
	}
	if t == nil || t.Name == "" || seen[t.Name] {
		return
	}
	seen[t.Name] = true
	if t.Raw != nil {
		return // its own definitions are no declared types
	}
	for _, f := range t.Fields {
		c.reach(f.Type, seen)
	}
}

// mentioned counts the types whose schema a const holds.
func (c *compiler) mentioned(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.SchemaOf:
		c.named(e.Type.Name)
	case *syntax.ListLit:
		for _, x := range e.Elems {
			c.mentioned(x)
		}
	case *syntax.Binary:
		c.mentioned(e.L)
		c.mentioned(e.R)
	case *syntax.Paren:
		c.mentioned(e.Of)
	}
}
