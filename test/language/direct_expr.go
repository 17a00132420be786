package language

import (
	"fmt"
	"sort"
	"strconv"

	"aion/domain/awl/syntax"
)

// eval computes an expression. item is that of the combinator around; nil outside.
func (a *activation) eval(e syntax.Expr, in names, item any) any {
	if a.f.d.fuel--; a.f.d.fuel < 0 {
		panic(tired{})
	}
	switch e := e.(type) {
	case *syntax.StringLit:
		return e.Value
	case *syntax.IntLit:
		return e.Value
	case *syntax.FloatLit:
		f, err := strconv.ParseFloat(e.Text, 64)
		if err != nil {
			panic(err)
		}
		return whole(f)
	case *syntax.BoolLit:
		return e.Value
	case *syntax.ListLit:
		list := []any{}
		for _, x := range e.Elems {
			list = append(list, a.eval(x, in, item))
		}
		return list
	case *syntax.JSONLit:
		return e.Body
	case *syntax.SchemaOf:
		return a.f.d.schemaOf(e.Type.Name)
	case *syntax.Name:
		if b, ok := in[e.Name]; ok {
			return b.value
		}
		if c, ok := a.f.d.consts[e.Name]; ok {
			return a.eval(c.Value, nil, nil)
		}
		panic("nothing binds " + e.Name)
	case *syntax.VisitsRef:
		return int64(a.visit)
	case *syntax.WorkflowID:
		return string(WorkflowID)
	case *syntax.Construct:
		if !e.HasArgs {
			return e.Name.Name
		}
		return a.record(e.Args, in, item)
	case *syntax.ItemField:
		return member(item, e.Name.Name)
	case *syntax.Access:
		return member(a.eval(e.Of, in, item), e.Name.Name)
	case *syntax.Paren:
		return a.eval(e.Of, in, item)
	}
	return a.operation(e, in, item)
}

func (a *activation) operation(e syntax.Expr, in names, item any) any {
	switch e := e.(type) {
	case *syntax.Index:
		list := a.eval(e.Of, in, item).([]any)
		if e.Value < 0 || e.Value >= int64(len(list)) {
			fail("index_out_of_range")
		}
		return list[e.Value]
	case *syntax.Combine:
		return a.combine(a.eval(e.Of, in, item).([]any), e.Comb, in)
	case *syntax.Not:
		return !a.eval(e.Of, in, item).(bool)
	case *syntax.Binary:
		return a.binary(e, in, item)
	case *syntax.Is:
		v := item
		if e.Of != nil {
			v = a.eval(e.Of, in, item)
		}
		_, gone := v.(absent)
		switch e.Word {
		case "present":
			return !gone
		case "absent":
			return gone
		}
		return len(v.([]any)) == 0
	}
	panic(fmt.Sprintf("%T is no expression", e))
}

// member reads a field; what is not there is absent.
func member(v any, name string) any {
	if got, ok := v.(map[string]any)[name]; ok {
		return got
	}
	return absent{}
}

// record makes an object of named values; an absent one is left out.
func (a *activation) record(args []*syntax.Arg, in names, item any) any {
	out := map[string]any{}
	for _, arg := range args {
		v := a.eval(arg.Value, in, item)
		if _, gone := v.(absent); !gone {
			out[arg.Name.Name] = v
		}
	}
	return out
}

func (a *activation) binary(e *syntax.Binary, in names, item any) any {
	switch e.Op {
	case "and":
		return a.eval(e.L, in, item).(bool) && a.eval(e.R, in, item).(bool)
	case "or":
		return a.eval(e.L, in, item).(bool) || a.eval(e.R, in, item).(bool)
	}
	l, r := a.eval(e.L, in, item), a.eval(e.R, in, item)
	switch e.Op {
	case "+":
		if s, ok := l.(string); ok {
			return s + r.(string)
		}
		return append(append([]any{}, l.([]any)...), r.([]any)...)
	case "==":
		return l == r
	case "!=":
		return l != r
	case "<":
		return less(l, r)
	case ">":
		return less(r, l)
	case "<=":
		return !less(r, l)
	}
	return !less(l, r)
}

// less orders numbers and strings. A whole Float is an int64, like an Int.
func less(l, r any) bool {
	switch x := l.(type) {
	case string:
		return x < r.(string)
	case int64:
		if y, ok := r.(int64); ok {
			return x < y
		}
		return float64(x) < r.(float64)
	}
	if y, ok := r.(int64); ok {
		return l.(float64) < float64(y)
	}
	return l.(float64) < r.(float64)
}

func (a *activation) combine(list []any, c *syntax.Combinator, in names) any {
	holds := func(x any) bool { return a.eval(c.Arg, in, x).(bool) }
	switch c.Name.Name {
	case "count":
		return int64(len(list))
	case "any":
		for _, x := range list {
			if holds(x) {
				return true
			}
		}
		return false
	case "all":
		for _, x := range list {
			if !holds(x) {
				return false
			}
		}
		return true
	case "filter":
		out := []any{}
		for _, x := range list {
			if holds(x) {
				out = append(out, x)
			}
		}
		return out
	case "map":
		out := make([]any, len(list))
		for i, x := range list {
			out[i] = a.eval(c.Arg, in, x)
		}
		return out
	}
	return a.sorted(list, c, in)
}

func (a *activation) sorted(list []any, c *syntax.Combinator, in names) any {
	type keyed struct{ key, value any }
	out := make([]keyed, len(list))
	for i, x := range list {
		out[i] = keyed{x, x}
		if c.Arg != nil {
			out[i].key = a.eval(c.Arg, in, x)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return less(out[i].key, out[j].key) })
	values := make([]any, len(out))
	for i := range out {
		values[i] = out[i].value
	}
	return values
}
