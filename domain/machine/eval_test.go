package machine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/machine"
)

func ex(op string, args ...*plan.Expr) *plan.Expr {
	e := &plan.Expr{Op: op}
	for _, a := range args {
		e.Args = append(e.Args, *a)
	}
	return e
}

func fieldOf(e *plan.Expr, name string) *plan.Expr {
	f := ex(plan.ExprField, e)
	f.Name = name
	return f
}

func item() *plan.Expr { return ex(plan.ExprItem) }

// awl 3.7: what the operations give. Names are x = 2, s = "b", none = absent, rows = three records.
func TestExpressions(t *testing.T) {
	t.Parallel()
	rows, err := value.Decode([]byte(`[{"n":2,"s":"b","ok":true},{"n":1,"s":"a"},{"n":2,"s":"a","ok":false}]`))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]value.Value{"x": value.Int(2), "s": value.String("b"), "none": value.Absent{}, "rows": rows}
	at := func(i int64, e *plan.Expr) *plan.Expr { x := ex(plan.ExprIndex, e); x.Index = i; return x }
	rec := func(e *plan.Expr) *plan.Expr {
		return &plan.Expr{Op: plan.ExprRecord, Fields: []plan.Arg{{Name: "b", Value: *e}, {Name: "a", Value: *lit(`1`)}}}
	}
	never := ex("no such operation")
	for _, c := range []struct {
		name string
		e    *plan.Expr
		want string // or the code of the failure
	}{
		{"literal", lit(`{"b":1.0,"a":[9007199254740993]}`), `{"a":[9007199254740993],"b":1}`},
		{"broken literal", lit(`{`), value.Invalid},
		{"reference", name("x"), `2`},
		{"unbound", name("y"), value.Invalid},
		{"no item", item(), value.Invalid},
		{"visits", ex(plan.ExprVisits), `7`},
		{"workflow id", ex(plan.ExprWorkflowID), `"w-1"`},
		{"list", ex(plan.ExprList, name("x"), lit(`3`)), `[2,3]`},
		{"record", rec(name("x")), `{"a":1,"b":2}`},
		{"record without an absent member", rec(name("none")), `{"a":1}`},
		{"field", fieldOf(at(0, name("rows")), "s"), `"b"`},
		{"missing field", fieldOf(at(1, name("rows")), "ok"), `null`},
		{"field of what is absent", fieldOf(name("none"), "ok"), `null`},
		{"field of a number", fieldOf(name("x"), "ok"), value.Invalid},
		{"index", at(1, lit(`[1,2]`)), `2`},
		{"index beyond", at(2, lit(`[1,2]`)), value.OutOfRange},
		{"negative index", at(-1, lit(`[1,2]`)), value.OutOfRange},
		{"index of a text", at(0, name("s")), value.Invalid},
		{"not", ex(plan.ExprNot, lit(`true`)), `false`},
		{"not of a number", ex(plan.ExprNot, name("x")), value.Invalid},
		{"and stops", ex(plan.ExprAnd, lit(`true`), lit(`false`), never), `false`},
		{"or stops", ex(plan.ExprOr, lit(`false`), lit(`true`), never), `true`},
		{"and of all", ex(plan.ExprAnd, lit(`true`), lit(`true`)), `true`},
		{"or of none", ex(plan.ExprOr, lit(`false`), lit(`false`)), `false`},
		{"and of a number", ex(plan.ExprAnd, lit(`true`), name("x")), value.Invalid},
		{"equal", ex(plan.ExprEq, name("x"), lit(`2.0`)), `true`},
		{"unequal", ex(plan.ExprNe, name("s"), lit(`"b"`)), `false`},
		{"absent equals nothing", ex(plan.ExprEq, name("none"), lit(`"b"`)), `false`},
		{"less", ex(plan.ExprLt, name("x"), lit(`2.5`)), `true`},
		{"less or equal", ex(plan.ExprLe, name("x"), lit(`2`)), `true`},
		{"greater", ex(plan.ExprGt, name("x"), lit(`2`)), `false`},
		{"greater or equal", ex(plan.ExprGe, name("x"), lit(`1`)), `true`},
		{"less of a text and a number", ex(plan.ExprLt, name("x"), name("s")), value.Invalid},
		{"joined texts", ex(plan.ExprAdd, ex(plan.ExprAdd, lit(`"a"`), name("s")), lit(`"c"`)), `"abc"`},
		{"joined lists", ex(plan.ExprAdd, lit(`[1]`), lit(`[2,3]`)), `[1,2,3]`},
		{"a text and a list", ex(plan.ExprAdd, lit(`"a"`), lit(`[]`)), value.Invalid},
		{"a list and a text", ex(plan.ExprAdd, lit(`[]`), lit(`"a"`)), value.Invalid},
		{"numbers", ex(plan.ExprAdd, lit(`1`), lit(`1`)), value.Invalid},
		{"empty", ex(plan.ExprEmpty, lit(`[]`)), `true`},
		{"empty of an absent value", ex(plan.ExprEmpty, name("none")), value.Invalid},
		{"present", ex(plan.ExprPresent, name("none")), `false`},
		{"absent", ex(plan.ExprAbsent, fieldOf(at(1, name("rows")), "ok")), `true`},
		{"filter", ex(plan.ExprCount, ex(plan.ExprFilter, name("rows"), ex(plan.ExprPresent, fieldOf(item(), "ok")))), `2`},
		{"filter by a number", ex(plan.ExprFilter, name("rows"), fieldOf(item(), "n")), value.Invalid},
		{"map", ex(plan.ExprMap, name("rows"), fieldOf(item(), "n")), `[2,1,2]`},
		{"sort by a number, stable", ex(plan.ExprMap, ex(plan.ExprSort, name("rows"), fieldOf(item(), "n")), fieldOf(item(), "s")), `["a","b","a"]`},
		{"sort without a key", ex(plan.ExprSort, lit(`["b","B","ä","a"]`)), `["B","a","b","ä"]`},
		{"sort by what has no order", ex(plan.ExprSort, name("rows"), lit(`[]`)), value.Invalid},
		{"any", ex(plan.ExprAny, name("rows"), ex(plan.ExprEq, fieldOf(item(), "s"), lit(`"a"`))), `true`},
		{"any stops", ex(plan.ExprAny, lit(`[true,1]`), item()), `true`},
		{"any of none", ex(plan.ExprAny, lit(`[]`), never), `false`},
		{"all", ex(plan.ExprAll, name("rows"), ex(plan.ExprEq, fieldOf(item(), "n"), name("x"))), `false`},
		{"all of none", ex(plan.ExprAll, lit(`[]`), never), `true`},
		{"inner item", ex(plan.ExprMap, lit(`[[1,2],[3]]`), ex(plan.ExprMap, item(), ex(plan.ExprEq, item(), lit(`3`)))), `[[false,false],[true]]`},
		{"unknown operation", never, value.Invalid},
		{"missing operands", ex(plan.ExprEq, name("x")), value.Invalid},
	} {
		got, f := machine.Eval(c.e, machine.Env{
			Visits: 7, WorkflowID: "w-1",
			Lookup: func(n string) (value.Value, bool) { v, ok := names[n]; return v, ok },
		})
		switch {
		case f != nil && f.Code != c.want:
			t.Errorf("%s: %s: %s", c.name, f.Code, f.Message)
		case f == nil && string(value.Encode(got)) != c.want:
			t.Errorf("%s: got %s, want %s", c.name, value.Encode(got), c.want)
		}
	}
}

// A chain of joins costs what its result costs, and stops at the size of a value.
func TestLongJoinsAreBounded(t *testing.T) {
	t.Parallel()
	long, _ := json.Marshal(strings.Repeat("x", 1000))
	e := lit(string(long))
	for range 1500 {
		e = ex(plan.ExprAdd, e, lit(string(long)))
	}
	if v, f := machine.Eval(e, machine.Env{}); f != nil || len(v.(value.String)) != 1_501_000 {
		t.Errorf("%v", f)
	}
	for range 1000 {
		e = ex(plan.ExprAdd, e, lit(string(long)))
	}
	if _, f := machine.Eval(e, machine.Env{}); f == nil || f.Code != value.TooLarge {
		t.Errorf("%v", f)
	}
}

func TestFuelStopsAnEvaluation(t *testing.T) {
	t.Parallel()
	fuel := 100
	e := ex(plan.ExprAll, lit("["+strings.Repeat("true,", 200)+"true]"), item())
	if _, f := machine.Eval(e, machine.Env{Fuel: &fuel}); f == nil || f.Code != "bound_out_of_range" || fuel > 0 {
		t.Errorf("%v, %d left", f, fuel)
	}
}
