package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// declaredType is a type declaration and what it was understood as.
type declaredType struct {
	decl *syntax.TypeDecl
	typ  *schema.Type
	used bool
}

// port is an input or a signal.
type port struct {
	name syntax.Ident
	typ  *schema.Type
	used bool
}

// outcome is an ending of the workflow or of a subflow.
type outcome struct {
	name syntax.Ident
	typ  *schema.Type
	used bool
}

// constant is a const. Its value is folded when it is first needed.
type constant struct {
	decl       *syntax.Const
	state      foldState
	value      folded
	isDuration bool
	ms         int64
	used       bool
}

// command is a recipe.
type command struct {
	decl *syntax.Command
	used bool
}

// opKind is what a call can lead to.
type opKind int

const (
	opAction opKind = iota + 1
	opChild
	opSubflow
)

func (k opKind) String() string {
	switch k {
	case opAction:
		return "action"
	case opChild:
		return "child"
	default:
		return "subflow"
	}
}

// operation is an action, a child or a subflow.
type operation struct {
	kind      opKind
	name      syntax.Ident
	params    []*syntax.Param
	fields    []schema.Field // the parameters, typed
	resultRef *syntax.TypeRef
	result    *schema.Type
	action    *syntax.Action  // nil unless it is one
	subflow   *syntax.Subflow // nil unless it is one
	used      bool
}

// declare fills the namespaces and judges names: their shapes, and whether they are free.
func (c *checker) declare() {
	c.declareTypes()
	c.declareConsts()
	c.declareHeader()
	c.declareCommands()
	c.declareOperations()
}

func (c *checker) declareTypes() {
	for _, d := range c.doc.Types {
		c.title(d.Name)
		if c.builtin.named(d.Name.Name) != nil || d.Name.Name == "List" {
			c.found.add("AWL2004", d.Name.Span, "name", d.Name.Name)
			continue
		}
		t := &declaredType{decl: d, typ: &schema.Type{Kind: schema.Unknown, Name: d.Name.Name}}
		if at, ok := c.types.claim(d.Name, t); !ok {
			c.duplicate("type", d.Name, at)
		}
	}
}

func (c *checker) declareConsts() {
	for _, d := range c.doc.Consts {
		c.snake(d.Name)
		if at, ok := c.consts.claim(d.Name, &constant{decl: d}); !ok {
			c.duplicate("const", d.Name, at)
		}
	}
}

func (c *checker) declareHeader() {
	h := c.doc.Header
	if h == nil {
		return
	}
	c.snake(h.Name)
	for _, d := range h.Inputs {
		c.declarePort(&c.inputs, "input", d.Name)
	}
	for _, d := range h.Signals {
		c.declarePort(&c.signals, "signal", d.Name)
	}
	for _, d := range h.Outcomes {
		c.snake(d.Name)
		if at, ok := c.outcomes.claim(d.Name, &outcome{name: d.Name, typ: c.builtin.unknown}); !ok {
			c.duplicate("outcome", d.Name, at)
		}
	}
}

// declarePort takes the name of an input or signal, and reports the const that hides it.
func (c *checker) declarePort(n *namespace[*port], kind string, id syntax.Ident) {
	c.snake(id)
	if at, ok := n.claim(id, &port{name: id, typ: c.builtin.unknown}); !ok {
		c.duplicate(kind, id, at)
		return
	}
	if k, ok := c.consts.get(id.Name); ok {
		c.found.add("AWL2009", k.decl.Name.Span, "name", id.Name, "kind", kind)
	}
}

func (c *checker) declareCommands() {
	for _, d := range c.doc.Commands {
		c.snake(d.Name)
		if at, ok := c.commands.claim(d.Name, &command{decl: d}); !ok {
			c.duplicate("command", d.Name, at)
		}
	}
}

func (c *checker) declareOperations() {
	var workers namespace[struct{}]
	for _, w := range c.doc.Workers {
		c.snake(w.Name)
		if at, ok := workers.claim(w.Name, struct{}{}); !ok {
			c.duplicate("worker", w.Name, at)
		}
		for _, a := range w.Actions {
			c.declareOperation(&operation{kind: opAction, name: a.Name, params: a.Params, resultRef: a.Result, action: a})
		}
	}
	for _, d := range c.doc.Children {
		c.declareOperation(&operation{kind: opChild, name: d.Name, params: d.Params, resultRef: d.Result})
	}
	for _, d := range c.doc.Subflows {
		op := &operation{kind: opSubflow, name: d.Name, params: d.Params, subflow: d}
		if d.Outcome != nil {
			c.snake(d.Outcome.Name)
			op.resultRef = d.Outcome.Type
		}
		c.declareOperation(op)
	}
}

// declareOperation takes the name of a callable. Two of one kind are duplicates; of two kinds, the later written is at fault.
func (c *checker) declareOperation(op *operation) {
	c.snake(op.name)
	op.result = c.builtin.unknown
	c.operations = append(c.operations, op)
	at, ok := c.ops.claim(op.name, op)
	if ok || op.name.Name == "" {
		return
	}
	first := c.ops.byName[op.name.Name]
	if first.kind == op.kind {
		c.duplicate(op.kind.String(), op.name, at)
		return
	}
	later, earlier := op, first
	if op.name.Span.Start.Offset < at.Offset {
		later, earlier = first, op
	}
	c.found.add("AWL2021", later.name.Span, "name", op.name.Name, "what", article(earlier.kind.String()))
}

// hasBody says whether the server itself executes the operation.
func (op *operation) hasBody() bool { return op.action != nil && op.action.Body != nil }
