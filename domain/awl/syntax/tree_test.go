package syntax_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// at is the source of a span.
func at(src string, s diag.Span) string { return src[s.Start.Offset:s.End.Offset] }

func TestSpansCoverWhatWasWritten(t *testing.T) {
	t.Parallel()
	src := opening + text(`
step a after b
  make(a: xs[0].id |> count + 1, b: (not x is empty)) -> y
  "é" + y |> .f.g |> sort(.k) |> route done(Nil2(v: workflow.id, w: Red))
  outcome x: when a.b == 1 and c, route s
  max 3 visits
`)
	d := mustParse(t, src)
	s := d.Steps[0]
	call, pipe := s.Body[0].(*syntax.Call), s.Body[1].(*syntax.Pipe)
	guard := s.Clauses[0].Guard.(*syntax.Binary)
	sum := call.Args[0].Value.(*syntax.Binary)
	combine := sum.L.(*syntax.Combine)
	index := combine.Of.(*syntax.Access).Of.(*syntax.Index)
	paren := call.Args[1].Value.(*syntax.Paren)
	construct := pipe.Route.Value.(*syntax.Construct)
	got := []string{
		at(src, s.Keyword), at(src, s.Name.Span), at(src, s.After[0].Span),
		at(src, call.Span), at(src, call.Bind.Span), at(src, sum.Span), at(src, sum.OpSpan), at(src, combine.Span),
		at(src, combine.Comb.Span), at(src, combine.Of.Range()), at(src, combine.Of.(*syntax.Access).Name.Span),
		at(src, index.Span), at(src, index.IndexSpan), at(src, paren.Span), at(src, paren.Of.Range()),
		at(src, pipe.Span), at(src, pipe.Head.Range()), at(src, pipe.Stages[0].Span), at(src, pipe.Stages[0].Path[1].Span),
		at(src, pipe.Stages[1].Span), at(src, pipe.Route.Span), at(src, construct.Span), at(src, construct.Args[0].Value.Range()),
		at(src, s.Clauses[0].GuardSpan), at(src, guard.Span), at(src, guard.L.Range()), at(src, s.Visits.Keyword), at(src, s.Visits.Max.Range()),
	}
	want := []string{
		"step", "a", "b",
		"make(a: xs[0].id |> count + 1, b: (not x is empty)) -> y", "y", "xs[0].id |> count + 1", "+", "xs[0].id |> count",
		"count", "xs[0].id", ".id",
		"xs[0]", "0", "(not x is empty)", "not x is empty",
		"\"é\" + y |> .f.g |> sort(.k) |> route done(Nil2(v: workflow.id, w: Red))", "\"é\" + y", ".f.g", ".g",
		"sort(.k)", "done(Nil2(v: workflow.id, w: Red))", "Nil2(v: workflow.id, w: Red)", "workflow.id",
		"when", "a.b == 1 and c", "a.b == 1", "max", "3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if p := pipe.Stages[0].Span.Start; p.Line != 7 || p.Column != 14 {
		t.Errorf("a column counts code points: %+v", p)
	}
}

func TestStringsKnowThePlaceOfEveryByte(t *testing.T) {
	t.Parallel()
	src := opening + "const a = \"x\\u00e9\\n{{y\"\nconst b = \"\"\"p\r\nq\"\"\"\n"
	d := mustParse(t, src)
	a, b := d.Consts[0].Value.(*syntax.StringLit), d.Consts[1].Value.(*syntax.StringLit)
	if a.Value != "xé\n{{y" || b.Value != "p\nq" {
		t.Fatalf("values %q and %q", a.Value, b.Value)
	}
	for _, s := range []*syntax.StringLit{a, b} {
		if len(s.Offsets) != len(s.Value)+1 {
			t.Fatalf("%d places for %d bytes", len(s.Offsets), len(s.Value))
		}
	}
	hole := a.Offsets[strings.Index(a.Value, "{{")]
	if src[hole.Offset:hole.Offset+2] != "{{" || hole.Line != 5 || hole.Column != 21 {
		t.Errorf("the hole stands at %+v", hole)
	}
	if end := a.Offsets[len(a.Value)]; src[end.Offset] != '"' {
		t.Errorf("the text ends at %+v", end)
	}
	if q := b.Offsets[2]; q.Line != 7 || q.Column != 1 {
		t.Errorf("the second line starts at %+v", q)
	}
}

func TestStepsWithAMistakeInsideAreBroken(t *testing.T) {
	t.Parallel()
	src := opening + text(`
step a
  make(1)
step b
  make(a: 1)
step c
  step inner
    make(a: 1);
  step other
    make(a: 1)
step d
  outcome x: when null == a, route b
`)
	d, _ := syntax.Parse([]byte(src))
	got := map[string]bool{}
	for _, s := range d.Steps {
		got[s.Name.Name] = s.Broken
		for _, st := range s.Body {
			if sub, ok := st.(*syntax.Substep); ok {
				got[sub.Step.Name.Name] = sub.Step.Broken
			}
		}
	}
	want := map[string]bool{"a": true, "b": false, "c": true, "inner": true, "other": false, "d": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("broken steps (-want +got):\n%s", diff)
	}
}

func TestOrderListsDeclarationsAsWritten(t *testing.T) {
	t.Parallel()
	d := mustParse(t, opening+"step a\nconst b = 1\ntype C { d: Int }\nstep e\n")
	var got []string
	for _, decl := range d.Order {
		switch x := decl.(type) {
		case *syntax.Step:
			got = append(got, x.Name.Name)
		case *syntax.Const:
			got = append(got, x.Name.Name)
		case *syntax.TypeDecl:
			got = append(got, x.Name.Name)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "C", "e"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestImportPathsAreFoundInAnyText(t *testing.T) {
	t.Parallel()
	src := text(`
type B = schema("b.json")
type A = schema( "a.json" ) garbage ] (
type C = schema("b.json")
type D = schema("""raw.json""")
type E = schema("open.json
// schema("comment.json")
const s = "schema(\"inner.json\")"
const j = json { "x": "schema(\"j.json\")" }
command c:
  echo schema("line.json")
  cwd schema("é.json")
x schema("../up.json")
schema(x)
`)
	want := []string{"../up.json", "a.json", "b.json", "é.json"}
	if diff := cmp.Diff(want, syntax.ImportPaths([]byte(src))); diff != "" {
		t.Errorf("import paths (-want +got):\n%s", diff)
	}
}
