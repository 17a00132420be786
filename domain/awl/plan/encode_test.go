package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/awl/plan"
)

// goldens are the plans of the valid documents, as the compiler's tests keep them.
func goldens(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "compile", "testdata", "plan", "*.json"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no goldens: %v", err)
	}
	all := map[string][]byte{}
	for _, p := range paths {
		if all[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

func TestDecodeUndoesEncode(t *testing.T) {
	t.Parallel()
	for name, text := range goldens(t) {
		p, err := plan.Decode(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		once, err := plan.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := plan.Decode(once)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := plan.Encode(again)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(string(once), string(twice)))
		}
	}
}

func TestEncodeEscapesNothingForHTML(t *testing.T) {
	t.Parallel()
	text, err := plan.Encode(&plan.Plan{Format: plan.Format, Narration: "a < b && c", InputSchema: []byte(`"<&>"`)})
	if err != nil || !strings.Contains(string(text), `"a < b && c"`) || !strings.Contains(string(text), `"<&>"`) {
		t.Errorf("%s %v", text, err)
	}
	if strings.HasSuffix(string(text), "\n") {
		t.Error("a line end follows the plan")
	}
}

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, typ, want string }{
		{`{"plan_format":2}`, "PlanFormatUnknown", "format 2"},
		{`{"plan_format":0}`, "PlanFormatUnknown", "format 0"},
		{`{"plan_format":7,"quantum":[]}`, "PlanFormatUnknown", "reads format 1"},
		{`{}`, "PlanInvalid", "no `plan_format`"},
		{``, "PlanInvalid", "not JSON"},
		{`[]`, "PlanInvalid", "not JSON"},
		{`{"plan_format":1,"quantum":[]}`, "PlanInvalid", "not a plan"},
		{`{"plan_format":1,"flow":{"steps":[{"body":[{"op":3}]}]}}`, "PlanInvalid", "not a plan"},
		{`{"plan_format":1} {}`, "PlanInvalid", "not JSON"},
		{`{"plan_format":1,"flow":` + strings.Repeat("[", 100_000), "PlanInvalid", "nests more than"},
	}
	for _, c := range cases {
		_, err := plan.Decode([]byte(c.text))
		var e *domain.Error
		if !errors.As(err, &e) || e.Type != c.typ || !strings.Contains(e.Message, c.want) {
			t.Errorf("%.60s: %v, want %s with %q", c.text, err, c.typ, c.want)
		}
	}
}

func TestEncodeRefusesAPlanThatNestsTooDeep(t *testing.T) {
	t.Parallel()
	e := plan.Expr{Op: plan.ExprItem}
	for range plan.MaxDepth {
		e = plan.Expr{Op: plan.ExprNot, Args: []plan.Expr{e}}
	}
	_, err := plan.Encode(&plan.Plan{Flow: plan.Flow{Steps: []plan.Step{{Visits: &e}}}})
	var refused *domain.Error
	if !errors.As(err, &refused) || refused.Type != "PlanInvalid" {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range goldens(f) {
		f.Add(text)
	}
	f.Add([]byte(`{"plan_format":1,"flow":{"steps":[{"body":[{"op":"fork","branches":[[]]}]}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := plan.Decode(text)
		if err != nil {
			var e *domain.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		once, err := plan.Encode(p)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		again, err := plan.Decode(once)
		if err != nil {
			t.Fatalf("encoded but not decoded: %v", err)
		}
		if twice, _ := plan.Encode(again); string(once) != string(twice) {
			t.Fatalf("%s\n%s", once, twice)
		}
	})
}
