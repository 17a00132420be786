package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

const opening = "//! A document.\nworkflow w\n  input n: Int\n  outcome done: type Int, route success\n\n"

const ending = "\nstep last\n  route done(n)\n"

func checked(src string, imp func(string) ([]byte, error)) (check.Result, []diag.Diagnostic) {
	doc, parsed := syntax.Parse([]byte(src))
	return check.Check(doc, parsed, imp)
}

func TestConstsAreFolded(t *testing.T) {
	t.Parallel()
	src := opening + `const greeting = "say \"<hi>\""
const twice = greeting + "!" + greeting
const numbers = [1, -2] + [3]
const empty = []
const ratio = -1.25e-3
const yes = (true)
const color = Red
const contract = schema of Rec
const body = json { "a":  [1] }
const soon = 90s
const alias = soon

type Rec { a: Int, b: Color? }
type Color = Red | Green

step a
  sleep alias
` + ending
	res, found := checked(src, nil)
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	got := map[string]string{}
	for name, raw := range res.Consts {
		got[name] = string(raw)
	}
	contract, err := json.Marshal(string(schema.Of(res.Types["Rec"])))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"greeting": `"say \"<hi>\""`, "twice": `"say \"<hi>\"!say \"<hi>\""`, "numbers": "[1,-2,3]", "empty": "[]",
		"ratio": "-1.25e-3", "yes": "true", "color": `"Red"`, "contract": string(contract), "body": `"{ \"a\":  [1] }"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("consts (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"soon": 90_000, "alias": 90_000}, res.Durations); diff != "" {
		t.Errorf("durations (-want, +got):\n%s", diff)
	}
	if res.Steps != 2 {
		t.Errorf("%d steps, want 2", res.Steps)
	}
}

func TestConstsThatGrowAreRefused(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(opening + "const c0 = \"0123456789\"\n")
	for i := range 40 {
		fmt.Fprintf(&b, "const c%d = c%d + c%d\n", i+1, i, i)
	}
	_, found := checked(b.String()+ending, nil)
	if len(found) != 1 || found[0].Code != "AWL0004" {
		t.Errorf("found %v, want one AWL0004", found)
	}
}

func TestTypesAreStructuralAndNamed(t *testing.T) {
	t.Parallel()
	src := opening + "/// A tree.\ntype Tree { /// Leaves.\n  leaves: [Tree], size: Int? }\ntype Kind = A | B\n" + ending
	res, _ := checked(src, nil)
	tree := res.Types["Tree"]
	if tree == nil || tree.Kind != schema.Record || tree.Name != "Tree" || tree.Doc != "A tree." {
		t.Fatalf("Tree is %+v", tree)
	}
	if tree.Fields[0].Type.Elem != tree || tree.Fields[1].Type.Kind != schema.Optional {
		t.Errorf("the fields of Tree are %+v", tree.Fields)
	}
	if k := res.Types["Kind"]; k == nil || k.Kind != schema.Enum || len(k.Variants) != 2 {
		t.Errorf("Kind is %+v", k)
	}
}

func TestImportsAreBoundedAndNeedAPath(t *testing.T) {
	t.Parallel()
	src := opening + "type T = schema(\"t.json\")\n\nworker tools\n  action go(t: T) -> T\n" + ending
	for name, c := range map[string]struct {
		imp  func(string) ([]byte, error)
		want string
	}{
		"no path":   {nil, "AWL7011 at 6:17"},
		"too large": {func(string) ([]byte, error) { return make([]byte, 262145), nil }, "AWL7010 at 6:17"},
		"too deep": {func(string) ([]byte, error) {
			return []byte(strings.Repeat(`{"type":"array","items":`, 70) + "{}" + strings.Repeat("}", 70)), nil
		}, "AWL7010 at 6:17"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := checked(src, c.imp)
			if diff := cmp.Diff([]string{c.want}, places(found)); diff != "" {
				t.Errorf("findings (-want, +got):\n%s%v", diff, found)
			}
		})
	}
}

func TestAProblemOfAnImportEndsInItsPointer(t *testing.T) {
	t.Parallel()
	src := opening + "type T = schema(\"t.json\")\n\nworker tools\n  action go(t: T) -> T\n" + ending
	_, found := checked(src, func(string) ([]byte, error) {
		return []byte(`{"type": "object", "properties": {"id": {"oneOf": []}}}`), nil
	})
	want := "keyword `oneOf` cannot be typed at `/properties/id/oneOf`"
	if len(found) != 1 || found[0].Message != want {
		t.Errorf("found %v, want %q", found, want)
	}
}

func TestAMisspeltNameIsRepaired(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"step last\n  route done(total: n)\n":                                                    "",
		"step lst\n  sleep 1s\n\nstep end\n  route donee(n)\n":                                   "done",
		"const limit = 5\n\nstep last\n  route done(limmit)\n":                                   "limit",
		"type Rec { weight: Int }\n\nstep last\n  Rec(wieght: n) -> x\n  route done(x.weight)\n": "weight",
		"type Rec { weight: Int }\n\nstep last\n  Rec(weight: n) -> x\n  route done(x.weigth)\n": ".weight",
		"type Kind = Open | Shut\n\nstep last\n  outcome x: when [Open, Shutt] is empty, route done(1)\n" +
			"  outcome y: otherwise, route done(n)\n": "Shut",
	} {
		_, found := checked(opening+src, nil)
		got := ""
		for _, d := range found {
			if d.Fix != nil {
				got = d.Fix.Text
				if d.Fix.Span != d.Span {
					t.Errorf("the repair of %v stands at %v", d, d.Fix.Span)
				}
			}
		}
		if got != want {
			t.Errorf("%q is repaired by %q, want %q: %v", src, got, want, found)
		}
	}
}
