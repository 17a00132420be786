package compile

import (
	"encoding/json"
	"strconv"

	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/awl/value"
	"aion/domain/schema"
)

// root compiles an expression that stands by itself, and bounds its depth.
func (c *compiler) root(e syntax.Expr) *plan.Expr {
	if e == nil {
		return nil
	}
	x := c.expr(e)
	if c.over == nil && tooDeep(&x, maxExprDepth) {
		c.over = &LimitError{What: "the nesting of this expression", Limit: maxExprDepth, Span: e.Range()}
	}
	return &x
}

func tooDeep(x *plan.Expr, left int) bool {
	if left == 0 {
		return true
	}
	for i := range x.Args {
		if tooDeep(&x.Args[i], left-1) {
			return true
		}
	}
	for i := range x.Fields {
		if tooDeep(&x.Fields[i].Value, left-1) {
			return true
		}
	}
	return false
}

func op(name string, args ...plan.Expr) plan.Expr { return plan.Expr{Op: name, Args: args} }

func literal(v json.RawMessage) plan.Expr { return plan.Expr{Op: plan.ExprLit, Value: v} }

func (c *compiler) string(s string, at syntax.Expr) plan.Expr {
	v := value.Encode(value.String(s))
	c.spend(len(v), at.Range())
	return literal(v)
}

func (c *compiler) expr(e syntax.Expr) plan.Expr {
	const perNode = 16 // bytes of JSON around each node
	if !c.spend(perNode, e.Range()) {
		return literal(nil)
	}
	switch e := e.(type) {
	case *syntax.StringLit:
		return c.string(e.Value, e)
	case *syntax.JSONLit:
		return c.string(e.Body, e)
	case *syntax.SchemaOf:
		return c.string(string(schema.Of(c.named(e.Type.Name))), e)
	case *syntax.IntLit:
		return literal(strconv.AppendInt(nil, e.Value, 10))
	case *syntax.FloatLit:
		return literal(float(e.Text))
	case *syntax.BoolLit:
		return literal(strconv.AppendBool(nil, e.Value))
	case *syntax.ListLit:
		return c.list(e)
	case *syntax.Name:
		return c.name(e)
	case *syntax.VisitsRef:
		return op(plan.ExprVisits)
	case *syntax.WorkflowID:
		return op(plan.ExprWorkflowID)
	case *syntax.Construct:
		return c.construct(e)
	case *syntax.ItemField:
		return field(op(plan.ExprItem), e.Name)
	case *syntax.Access:
		return field(c.expr(e.Of), e.Name)
	case *syntax.Index:
		x := op(plan.ExprIndex, c.expr(e.Of))
		x.Index = e.Value
		return x
	case *syntax.Combine:
		return c.combine(c.expr(e.Of), e.Comb)
	case *syntax.Paren:
		return c.expr(e.Of)
	case *syntax.Not:
		return op(plan.ExprNot, c.expr(e.Of))
	case *syntax.Binary:
		return c.binary(e)
	case *syntax.Is:
		return c.is(e)
	}
	return literal(nil) // DurationLit and BadExpr: the checker refuses both
}

// float is the canonical spelling of a float literal.
func float(text string) json.RawMessage {
	v, err := value.Decode([]byte(text))
	if err != nil {
		return json.RawMessage(text)
	}
	return value.Encode(v)
}

// list folds a list of literals to one literal.
func (c *compiler) list(e *syntax.ListLit) plan.Expr {
	x := plan.Expr{Op: plan.ExprList}
	folded := []byte{'['}
	for i, el := range e.Elems {
		y := c.expr(el)
		x.Args = append(x.Args, y)
		if y.Op != plan.ExprLit {
			folded = nil
		}
		if folded == nil {
			continue
		}
		if i > 0 {
			folded = append(folded, ',')
		}
		folded = append(folded, y.Value...)
	}
	if folded == nil {
		return x
	}
	return literal(append(folded, ']'))
}

// name is a const, folded, or a binding.
func (c *compiler) name(e *syntax.Name) plan.Expr {
	if v, ok := c.res.Consts[e.Name]; ok {
		c.spend(len(v), e.Range())
		return literal(v)
	}
	return plan.Expr{Op: plan.ExprRef, Name: e.Name}
}

// construct is a record, or a bare variant.
func (c *compiler) construct(e *syntax.Construct) plan.Expr {
	if !e.HasArgs {
		return c.string(e.Name.Name, e)
	}
	c.named(e.Name.Name)
	return plan.Expr{Op: plan.ExprRecord, Fields: c.args(e.Args)}
}

// args compiles named values; none are nil, as a decoded plan has it.
func (c *compiler) args(args []*syntax.Arg) []plan.Arg {
	if len(args) == 0 {
		return nil
	}
	out := make([]plan.Arg, 0, len(args))
	for _, a := range args {
		out = append(out, plan.Arg{Name: a.Name.Name, Value: c.expr(a.Value)})
	}
	return out
}

func field(of plan.Expr, name syntax.Ident) plan.Expr {
	x := op(plan.ExprField, of)
	x.Name = name.Name
	return x
}

func (c *compiler) combine(of plan.Expr, comb *syntax.Combinator) plan.Expr {
	x := op(comb.Name.Name, of) // the operations are named like the combinators
	if comb.Arg != nil {
		x.Args = append(x.Args, c.expr(comb.Arg))
	}
	return x
}

// binary compiles an operator. A chain of `and` or of `or` is one operation over all operands: they are evaluated in
// written order until the result is known, as they would be one by one.
func (c *compiler) binary(e *syntax.Binary) plan.Expr {
	l, r := c.expr(e.L), c.expr(e.R)
	name := operators(e.Op)
	if name != plan.ExprAnd && name != plan.ExprOr {
		return op(name, l, r)
	}
	if l.Op != name {
		l = op(name, l)
	}
	if r.Op == name {
		l.Args = append(l.Args, r.Args...)
	} else {
		l.Args = append(l.Args, r)
	}
	return l
}

func operators(sign string) string {
	switch sign {
	case "and":
		return plan.ExprAnd
	case "or":
		return plan.ExprOr
	case "==":
		return plan.ExprEq
	case "!=":
		return plan.ExprNe
	case "<":
		return plan.ExprLt
	case "<=":
		return plan.ExprLe
	case ">":
		return plan.ExprGt
	case ">=":
		return plan.ExprGe
	}
	return plan.ExprAdd
}

func (c *compiler) is(e *syntax.Is) plan.Expr {
	of := op(plan.ExprItem)
	if e.Of != nil {
		of = c.expr(e.Of)
	}
	switch e.Word {
	case "empty":
		return op(plan.ExprEmpty, of)
	case "present":
		return op(plan.ExprPresent, of)
	}
	return op(plan.ExprAbsent, of)
}
