package machine

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
)

// Env is what the names of an expression mean. The zero Env binds nothing.
type Env struct {
	Lookup     func(name string) (value.Value, bool)
	Item       value.Value // the item of the innermost combinator or the value in a pipe; nil: none
	Visits     int64
	WorkflowID string
	// Fuel counts evaluated nodes down; at zero every evaluation fails, so that no expression runs for ever. nil: no bound.
	Fuel *int
}

// Eval computes an expression. It has no effect but on Fuel. An expression of a checked document fails with
// index_out_of_range or value_too_large only.
func Eval(e *plan.Expr, in Env) (value.Value, *value.Failure) {
	if f := in.spend(); f != nil {
		return nil, f
	}
	switch e.Op {
	case plan.ExprLit:
		in.charge(len(e.Value))
		v, err := value.Decode(e.Value)
		if err != nil {
			return nil, value.Failed(value.Invalid, "a literal is no JSON value: %v", err)
		}
		return v, nil
	case plan.ExprRef:
		if in.Lookup != nil {
			if v, ok := in.Lookup(e.Name); ok {
				return v, nil
			}
		}
		return nil, value.Failed(value.Invalid, "nothing binds %q", e.Name)
	case plan.ExprItem:
		if in.Item == nil {
			return nil, value.Failed(value.Invalid, "there is no item here")
		}
		return in.Item, nil
	case plan.ExprVisits:
		return value.Int(in.Visits), nil
	case plan.ExprWorkflowID:
		return value.String(in.WorkflowID), nil
	case plan.ExprList:
		return in.list(e)
	case plan.ExprRecord:
		return in.record(e.Fields)
	}
	return in.operation(e)
}

func (in Env) spend() *value.Failure {
	if in.Fuel == nil {
		return nil
	}
	if *in.Fuel <= 0 {
		return value.Failed(boundOutOfRange, "one event may evaluate at most %d expressions", maxSteps)
	}
	*in.Fuel--
	return nil
}

// charge counts work on bytes; the next evaluation fails when it was too much.
func (in Env) charge(bytes int) {
	if in.Fuel != nil {
		*in.Fuel -= bytes / bytesPerStep
	}
}

func (in Env) list(e *plan.Expr) (value.Value, *value.Failure) {
	list := make(value.List, len(e.Args))
	for i := range e.Args {
		v, f := Eval(&e.Args[i], in)
		if f != nil {
			return nil, f
		}
		list[i] = v
	}
	return list, nil
}

// record evaluates named values; an absent one is left out.
func (in Env) record(fields []plan.Arg) (value.Value, *value.Failure) {
	members := make([]value.Member, len(fields))
	for i := range fields {
		v, f := Eval(&fields[i].Value, in)
		if f != nil {
			return nil, f
		}
		members[i] = value.Member{Name: fields[i].Name, Value: v}
	}
	return value.NewObject(members), nil
}

// operation computes the operations over operands.
func (in Env) operation(e *plan.Expr) (value.Value, *value.Failure) {
	if n := operands(e.Op); n < 0 || len(e.Args) < n {
		return nil, value.Failed(value.Invalid, "operation %q with %d operands is not known", e.Op, len(e.Args))
	}
	switch e.Op {
	case plan.ExprAnd, plan.ExprOr:
		return in.connective(e)
	case plan.ExprAdd:
		return in.add(e)
	}
	subject, f := Eval(&e.Args[0], in)
	if f != nil {
		return nil, f
	}
	switch e.Op {
	case plan.ExprField:
		return field(subject, e.Name)
	case plan.ExprNot:
		b, f := truth(subject)
		return !b, f
	case plan.ExprPresent:
		return value.Bool(value.Present(subject)), nil
	case plan.ExprAbsent:
		return value.Bool(!value.Present(subject)), nil
	case plan.ExprEq, plan.ExprNe, plan.ExprLt, plan.ExprLe, plan.ExprGt, plan.ExprGe:
		return in.compare(e, subject)
	}
	list, ok := subject.(value.List)
	if !ok {
		return nil, value.Failed(value.Invalid, "%s needs a list, found %s", e.Op, value.Kind(subject))
	}
	return in.combine(e, list)
}

// operands is how many operands an operation needs; negative: it is not known.
func operands(op string) int {
	switch op {
	case plan.ExprField, plan.ExprIndex, plan.ExprNot, plan.ExprAnd, plan.ExprOr, plan.ExprEmpty, plan.ExprPresent,
		plan.ExprAbsent, plan.ExprSort, plan.ExprCount:
		return 1
	case plan.ExprEq, plan.ExprNe, plan.ExprLt, plan.ExprLe, plan.ExprGt, plan.ExprGe, plan.ExprAdd, plan.ExprFilter,
		plan.ExprMap, plan.ExprAny, plan.ExprAll:
		return 2
	}
	return -1
}
