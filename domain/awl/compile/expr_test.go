package compile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/compile"
	"aion/domain/awl/plan"
)

const typed = `  input ok: Bool
  input n: Int
  input f: Float
  input s: String
  input note: String?
  input rows: [Row]
  outcome done: type Out, route success

const hello = "Hello, "
const greeting = hello + "you"
const words = ["a", greeting]
const pattern = json { "a": [1, 2] }
const shape = schema of Row

type Kind = Good | Bad
type Row { name: String, kind: Kind, tags: [String], note: String? }
type Out { ok: Bool }

worker t
  action take(value: String) -> Nil
  action take_flag(value: Bool) -> Nil
  action take_list(value: [String]) -> Nil
  action take_row(value: Row) -> Nil
  action take_float(value: Float) -> Nil
  action take_int(value: Int) -> Nil
  action take_floats(value: [Float]) -> Nil`

// argument compiles one call with one argument and gives the argument's expression.
func argument(t *testing.T, call string) string {
	t.Helper()
	p := mustCompile(t, document(typed, "step s\n  "+call+"\n  route done(ok: ok)\n"))
	return spell(&p.Flow.Steps[0].Body[0].Args[0].Value)
}

func TestExpressionsBecomeTreesWithFoldedConsts(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`take(value: "a<b\n\"q\"")`:                                        `"a<b\n\"q\""`,
		`take(value: """raw\n""")`:                                         `"raw\\n"`,
		`take(value: greeting)`:                                            `"Hello, you"`,
		`take(value: greeting + s)`:                                        `add("Hello, you", s)`,
		`take_list(value: words)`:                                          `["a","Hello, you"]`,
		`take_list(value: ["x", greeting])`:                                `["x","Hello, you"]`,
		`take_list(value: ["x", s])`:                                       `list("x", s)`,
		`take_list(value: [])`:                                             `[]`,
		`take(value: pattern)`:                                             `"{ \"a\": [1, 2] }"`,
		`take(value: json {"b":  true})`:                                   `"{\"b\":  true}"`,
		`take(value: workflow.id)`:                                         `workflow_id`,
		`take_float(value: 3)`:                                             `3`,
		`take_float(value: -1.50e2)`:                                       `-150`,
		`take_float(value: 0.25)`:                                          `0.25`,
		`take_floats(value: [1, 2.5])`:                                     `[1,2.5]`,
		`take_int(value: rows |> filter(.kind == Good) |> count)`:          `count(filter(rows, eq(item.kind, "Good")))`,
		`take_flag(value: rows |> all(.note is present and .kind == Bad))`: `all(rows, and(is_present(item.note), eq(item.kind, "Bad")))`,
		`take_list(value: rows |> map(.name) |> sort)`:                     `sort(map(rows, item.name))`,
		`take_list(value: rows |> sort(.name) |> map(.name))`:              `map(sort(rows, item.name), item.name)`,
		`take(value: rows[0].tags[1])`:                                     `rows[0].tags[1]`,
		`take_flag(value: not (ok or n <= 3) and f > 0.5 and s != "x")`:    `and(not(or(ok, le(n, 3))), gt(f, 0.5), ne(s, "x"))`,
		`take_flag(value: ok or ok or (ok or ok))`:                         `or(ok, ok, ok, ok)`,
		`take_flag(value: rows is empty)`:                                  `is_empty(rows)`,
		`take_row(value: Row(name: s, kind: Bad, tags: []))`:               `record(name: s, kind: "Bad", tags: [])`,
	}
	for call, want := range cases {
		if got := argument(t, call); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	if got := argument(t, "take(value: schema of Row)"); !strings.HasPrefix(got, `"{\"type\":\"object\",\"properties\":`) ||
		got != argument(t, "take(value: shape)") {
		t.Error(got)
	}
}

func TestRoutesCarryTheirPayload(t *testing.T) {
	t.Parallel()
	decls := "  input word: String\n  outcome word_out: type String, route success\n  outcome row: type Row, route success\n" +
		"  outcome nothing: type Nil, route failure\n\ntype Row { name: String }\n\nworker t\n  action get(x: String) -> String"
	for steps, want := range map[string]string{
		"  route word_out(word)":                                 "word",
		"  route word_out(word + \"!\")":                         `add(word, "!")`,
		"  route row(name: word)":                                "record(name: word)",
		"  route row(Row(name: word))":                           "record(name: word)",
		"  Row(name: word) -> row_value\n  route row(row_value)": "row_value",
		"  get(x: word) -> nothing_else\n  route nothing":        "null",
		"  word |> get |> route word_out":                        "item",
	} {
		p := mustCompile(t, document(decls, "step s\n"+steps+"\n"))
		body := p.Flow.Steps[0].Body
		target := body[len(body)-1].Target
		if got := spell(target.Payload); got != want || target.Kind != plan.TargetOutcome {
			t.Errorf("%s: %s %s, want %s", steps, target.Kind, got, want)
		}
	}
	p := mustCompile(t, document("  input done: String\n  outcome end: type String, route success\n\nworker t\n  action get(x: String) -> String",
		"step s\n  get(x: done) -> end_text\n  route end(end_text)\n"))
	if p.Edges[0].To != "end" {
		t.Error(p.Edges)
	}
}

func TestABareRouteTakesTheBindingOfItsName(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document("  outcome answer: type String, route success\n\nworker t\n  action get() -> String",
		"step s\n  get() -> answer\n  route answer\n"))
	if got := spell(p.Flow.Steps[0].Body[1].Target.Payload); got != "answer" {
		t.Error(got)
	}
}

func TestPipesRunTheirStagesOnTheItem(t *testing.T) {
	t.Parallel()
	decls := "  input rows: [Row]\n  input row: Row\n  outcome done: type Nil, route success\n\ntype Row { name: Name, ok: Bool }\n" +
		"type Name { text: String }\n\nworker t\n  action get(hint: String?, x: String) -> String\n    node here, timeout 5s\n" +
		"  action one(x: String?) -> String"
	p := mustCompile(t, document(decls, `step s
  row |> .name.text |> get -> a
  rows |> filter(.ok) |> map(.name.text) |> count -> b
  a |> one -> c
  route done
`))
	var got []string
	for _, st := range p.Flow.Steps[0].Body[:3] {
		line := spell(st.Value)
		for _, stage := range st.Stages {
			if stage.Op == plan.StageExpr {
				line += " > " + spell(stage.Expr)
				continue
			}
			line += fmt.Sprintf(" > %s %s/%s(%s) %s %d", stage.Op, stage.Queue, stage.Name, stage.Param, stage.Node, stage.TimeoutMS)
		}
		got = append(got, line+" -> "+st.Bind)
	}
	want := []string{
		"row > item.name.text > call t/get(x) here 5000 -> a",
		"rows > filter(item, item.ok) > map(item, item.name.text) > count(item) -> b",
		"a > call t/one(x)  0 -> c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A small document cannot ask for a huge plan.
func TestAPlanHasABound(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 600_000)
	uses := strings.Repeat("big, ", 60)
	_, err := compiled(t, document("  outcome done: type Nil, route success\n\nconst big = \""+big+"\"\n\nworker t\n  action take(value: [String]) -> Nil",
		"step s\n  take(value: ["+uses+"])\n  route done\n"))
	var limit *compile.LimitError
	if !errors.As(err, &limit) || limit.Span.Start.Line == 0 || limit.Limit != 16<<20 {
		t.Errorf("%v", err)
	}
}

func TestAnExpressionHasABoundedDepth(t *testing.T) {
	t.Parallel()
	path := strings.Repeat(".kids[0]", 450)
	deep := "tree"
	for range 4 {
		deep = "[" + deep + path + "]" + "[0]"
	}
	_, err := compiled(t, document("  input tree: Tree\n  outcome done: type Nil, route success\n\ntype Tree { kids: [Tree] }\n\nworker t\n  action take(value: Tree) -> Nil",
		"step s\n  take(value: "+deep+")\n  route done\n"))
	var limit *compile.LimitError
	if !errors.As(err, &limit) || limit.Limit != 2000 {
		t.Errorf("%v", err)
	}
}
