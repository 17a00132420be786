package repair_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/repair"
	"aion/domain/awl/syntax"
)

const opening = "//! A document.\nworkflow w\n  input n: Int\n  input ok: Bool\n  outcome done: type Int, route success\n\n"

func judge(src []byte) []diag.Diagnostic {
	doc, parsed := syntax.Parse(src)
	_, found := check.Check(doc, parsed, nil)
	return found
}

// repairs gives the titles of the repairs of a document.
func repairs(src string) []string {
	ds := judge([]byte(src))
	repair.Suggest([]byte(src), ds, judge)
	var titles []string
	for _, d := range ds {
		if d.Fix != nil {
			titles = append(titles, d.Fix.Title([]byte(src)))
		}
	}
	return titles
}

func TestOneRepairIsOffered(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"step a\n  rout done(n)\n":   "replace `rout` by `route` at 8:3",
		"step a\n  return done(n)\n": "replace `return` by `route` at 8:3",
		"step a\n  route done n)\n":  "insert `(` at 8:14",
		"step a\n  route done(n\n":   "insert `)` at 8:15",
		"stpe a\n  route done(n)\n":  "replace `stpe` by `step` at 7:1",
		"step a\n  outcome x: when ok && n > 1, route done(n)\n  outcome y: otherwise, route done(1)\n":                                   "replace `&&` by `and` at 8:22",
		"step a\n  outcome x: when 0 < n < 9, route done(n)\n  outcome y: otherwise, route done(1)\n":                                     "insert `and n` at 8:25",
		"step a\n  outcome x: when ok, route done(n)\n  outcome y: route done(1)\n":                                                       "insert `otherwise,` at 9:14",
		"type R { a: Int? }\n\nstep a\n  R(a: n) -> r\n  outcome x: when r.a > 1, route done(n)\n  outcome y: otherwise, route done(1)\n": "insert `r.a is present and` at 11:19",
	} {
		if got := strings.Join(repairs(opening+body), "; "); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

// Which of two was meant is not for the program to say.
func TestAnAmbiguousRepairIsNotOffered(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"step a\n  outcome x: when ok ok, route done(n)\n  outcome y: otherwise, route done(1)\n",
		"step a\n  outcome x: when ok (n == 1), route done(n)\n  outcome y: otherwise, route done(1)\n",
		"step a\n  route done(m)\n",
		"const low = 1\nconst lot = 2\n\nstep a\n  outcome x: when ok, route done(loq)\n  outcome y: otherwise, route done(low)\n  outcome z: otherwise, route done(lot)\n",
	} {
		for _, title := range repairs(opening + body) {
			if strings.Contains(title, "`and`") || strings.Contains(title, "`or`") || strings.Contains(title, "by `n`") || strings.Contains(title, "by `low`") {
				t.Errorf("%q: %s", body, title)
			}
		}
	}
}

// A repair that reads well to the checker and means something else is worse than none.
func TestARepairKeepsWhatWasMeant(t *testing.T) {
	t.Parallel()
	clauses := func(guard string) string {
		return "type R { o: Int?, xs: [Int] }\n\nworker k\n  action r() -> R\n\nstep a\n  r() -> v\n\n  outcome x: when " + guard + ", route done(n)\n  outcome y: otherwise, route done(1)\n"
	}
	for body, want := range map[string]string{
		clauses("v.o is not present"):                "replace `not present` by `absent` at 15:26",
		clauses("v.o is not absent"):                 "replace `not absent` by `present` at 15:26",
		clauses("v.xs is not empty"):                 "replace `v.xs is not empty` by `not v.xs is empty` at 15:19",
		clauses("n is not 4"):                        "replace `is not` by `!=` at 15:21",
		"step a\n  n - 1 -> m\n  route done(m)\n":    "",
		"step a\n  n.length -> m\n  route done(n)\n": "",
		"worker k\n  action f() -> Int\n    timeout 3s\n    retry 2 every 1s\n\nstep a\n  f() -> m\n  route done(m)\n":       "write `,` and line 10 behind line 9",
		"worker k\n  action f() -> Int\n    run \"x\" capture json\n    timeout 3s\n\nstep a\n  f() -> m\n  route done(m)\n": "move line 10 above line 9",
	} {
		if got := strings.Join(repairs(opening+body), "; "); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestRepairsDoNotChangeFromRunToRun(t *testing.T) {
	t.Parallel()
	src := opening + "step a\n  outcome x: wen ok, route done(n)\n  outcome y: oterwise, route b\n\nstep b\n  slep 1s\n  route done(n\n"
	want := repairs(src)
	for range 5 {
		if diff := cmp.Diff(want, repairs(src)); diff != "" {
			t.Fatal(diff)
		}
	}
	if len(want) < 3 {
		t.Errorf("only %q", want)
	}
}

func TestWhatIsTriedIsBounded(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{1, 100, 5_000} {
		src := []byte(opening + strings.Repeat("// a comment that makes the text longer\n", lines) + "step a\n  x y z\n  route done(n) n\n  wat\n")
		ds := judge(src)
		bytes := 0
		repair.Suggest(src, ds, func(text []byte) []diag.Diagnostic {
			bytes += len(text)
			return judge(text)
		})
		if bytes > 1<<18 {
			t.Errorf("%d bytes are judged again for a text of %d", bytes, len(src))
		}
	}
}

func TestAGreenDocumentIsNotTouched(t *testing.T) {
	t.Parallel()
	repair.Suggest([]byte(opening+"step a\n  route done(n)\n"), nil, func([]byte) []diag.Diagnostic {
		t.Error("a green document is judged again")
		return nil
	})
}
