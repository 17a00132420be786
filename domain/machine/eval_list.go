package machine

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
)

// combine computes the operations over a list.
func (in Env) combine(e *plan.Expr, list value.List) (value.Value, *value.Failure) {
	switch e.Op {
	case plan.ExprIndex:
		return value.Index(list, e.Index)
	case plan.ExprEmpty:
		return value.Bool(len(list) == 0), nil
	case plan.ExprCount:
		return value.Int(len(list)), nil
	case plan.ExprFilter:
		return value.Filter(list, in.predicate(&e.Args[1]))
	case plan.ExprMap:
		mapped, weight, f := value.Map(list, in.each(&e.Args[1]))
		in.charge(weight)
		return mapped, f
	case plan.ExprAny:
		ok, f := value.Any(list, in.predicate(&e.Args[1]))
		return value.Bool(ok), f
	case plan.ExprAll:
		ok, f := value.All(list, in.predicate(&e.Args[1]))
		return value.Bool(ok), f
	case plan.ExprSort:
		return in.sorted(e, list)
	}
	return nil, value.Failed(value.Invalid, "operation %q is not known", e.Op)
}

func (in Env) sorted(e *plan.Expr, list value.List) (value.Value, *value.Failure) {
	if len(e.Args) < 2 {
		return value.Sort(list, list)
	}
	key := in.each(&e.Args[1])
	keys := make([]value.Value, len(list))
	for i, item := range list {
		v, f := key(item)
		if f != nil {
			return nil, f
		}
		keys[i] = v
	}
	return value.Sort(list, keys)
}

// each is an expression as a function of the item.
func (in Env) each(e *plan.Expr) func(value.Value) (value.Value, *value.Failure) {
	return func(item value.Value) (value.Value, *value.Failure) {
		in.Item = item
		return Eval(e, in)
	}
}

func (in Env) predicate(e *plan.Expr) value.Predicate {
	each := in.each(e)
	return func(item value.Value) (bool, *value.Failure) {
		v, f := each(item)
		if f != nil {
			return false, f
		}
		b, f := truth(v)
		return bool(b), f
	}
}

// connective computes `and` and `or`; it stops as soon as the result is known.
func (in Env) connective(e *plan.Expr) (value.Value, *value.Failure) {
	decided := value.Bool(e.Op == plan.ExprOr)
	for i := range e.Args {
		v, f := Eval(&e.Args[i], in)
		if f != nil {
			return nil, f
		}
		b, f := truth(v)
		if f != nil {
			return nil, f
		}
		if b == decided {
			return decided, nil
		}
	}
	return !decided, nil
}

// add joins a whole chain of `+` in one pass, so that its cost is that of the result.
func (in Env) add(e *plan.Expr) (value.Value, *value.Failure) {
	var spine []*plan.Expr
	for ; e.Op == plan.ExprAdd && len(e.Args) == 2; e = &e.Args[0] {
		spine = append(spine, &e.Args[1])
	}
	parts := make([]value.Value, 0, len(spine)+1)
	first, f := Eval(e, in)
	if f != nil {
		return nil, f
	}
	parts = append(parts, first)
	for i := len(spine) - 1; i >= 0; i-- {
		v, f := Eval(spine[i], in)
		if f != nil {
			return nil, f
		}
		parts = append(parts, v)
	}
	joined, weight, f := value.Concat(parts)
	in.charge(weight)
	return joined, f
}

func (in Env) compare(e *plan.Expr, left value.Value) (value.Value, *value.Failure) {
	right, f := Eval(&e.Args[1], in)
	if f != nil {
		return nil, f
	}
	if s, ok := left.(value.String); ok {
		in.charge(len(s))
	}
	switch e.Op {
	case plan.ExprEq:
		return value.Bool(value.Equal(left, right)), nil
	case plan.ExprNe:
		return value.Bool(!value.Equal(left, right)), nil
	}
	c, f := value.Compare(left, right)
	if f != nil {
		return nil, f
	}
	switch e.Op {
	case plan.ExprLt:
		return value.Bool(c < 0), nil
	case plan.ExprLe:
		return value.Bool(c <= 0), nil
	case plan.ExprGt:
		return value.Bool(c > 0), nil
	default:
		return value.Bool(c >= 0), nil
	}
}

// field reads a member; what is not there has no members either.
func field(subject value.Value, name string) (value.Value, *value.Failure) {
	switch v := subject.(type) {
	case value.Object:
		return v.Get(name), nil
	case value.Absent:
		return v, nil
	default:
		return nil, value.Failed(value.Invalid, "%s has no field %q", value.Kind(subject), name)
	}
}

func truth(v value.Value) (value.Bool, *value.Failure) {
	b, ok := v.(value.Bool)
	if !ok {
		return false, value.Failed(value.Invalid, "a condition is %s", value.Kind(v))
	}
	return b, nil
}
