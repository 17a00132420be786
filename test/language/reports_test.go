package language_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

const plainTop = "//! x\nworkflow w\n  input n: Int\n  outcome done: type Int, route success\n\nworker tools\n  action go(n: Int) -> Int\n\n"

func places(list []diag.Diagnostic) string {
	var parts []string
	for _, d := range list {
		if d.Severity == diag.Error {
			parts = append(parts, fmt.Sprintf("%s at %d:%d", d.Code, d.Span.Start.Line, d.Span.Start.Column))
		}
	}
	return strings.Join(parts, ", ")
}

// report 85: only U+0020 indents. Anything else in the place of indentation is a finding there, in lines that go on with the
// one above as well.
func TestOnlySpacesIndent(t *testing.T) {
	t.Parallel()
	step := plainTop + "step s\n%s\n  route done(x)\n"
	for _, c := range []struct{ name, body, want string }{
		{"spaces", "  go(n: n) -> x", ""},
		{"a tab", "\tgo(n: n) -> x", "AWL0005 at 10:1"},
		{"a tab behind spaces", "  \tgo(n: n) -> x", "AWL0005 at 10:3"},
		{"a tab in front of a continuation", "  n\n\t\t|> go -> x", "AWL0005 at 11:1"},
		{"a tab behind the spaces of a continuation", "  n\n   \t|> go -> x", "AWL0005 at 11:4"},
		{"a no-break space", "\u00a0\u00a0go(n: n) -> x", "AWL0012 at 10:1"},
		{"a no-break space in a continuation", "  n\n\u00a0\u00a0  |> go -> x", "AWL0012 at 11:1"},
		{"an ideographic space", "\u3000go(n: n) -> x", "AWL0012 at 10:1"},
		{"an em space inside brackets", "  go(\n\u2003\u2003n: n) -> x", "AWL0012 at 11:1"},
		{"a vertical tab", "  \vgo(n: n) -> x", "AWL0002 at 10:3"},
		{"a form feed", "  \fgo(n: n) -> x", "AWL0002 at 10:3"},
		{"three spaces", "   go(n: n) -> x", "AWL0006 at 10:4"},
	} {
		r := awl.Check(fmt.Appendf(nil, step, c.body), awl.Options{})
		got := places(r.Diagnostics)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// report 87: a column counts characters and lies within its line, whatever wide characters, tabs or marks stand before it.
func TestColumnsCountCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before string
		column int
	}{
		{`"日本語"`, 9}, {"\"é\"", 7}, {`"🙂🙂"`, 8}, {"\"e\u0301\"", 8}, {"\"a\tb\"", 9}, {"\"\u202e\"", 7}, {`"\ud83d\ude00"`, 18},
	} {
		src := plainTop + "step s\n  " + c.before + " + nix -> x\n  route done(n)\n"
		r := awl.Check([]byte(src), awl.Options{})
		column := 3 + len([]rune(c.before)) + 3
		if got := places(r.Diagnostics); got != fmt.Sprintf("AWL2006 at 10:%d", column) {
			t.Errorf("%s: %s, want column %d", c.before, got, column)
		}
	}
}

// report 88: a word is a word. A reserved one is no name, and says so; the others are names, and never become booleans.
func TestWordsAreNeverRetyped(t *testing.T) {
	t.Parallel()
	step := plainTop + "step s\n  go(n: n) -> %s\n  route done(%s)\n"
	for word, want := range map[string]string{
		"yes": "", "no": "", "off": "", "y": "", "n2": "", "absent": "", "success": "", "id": "", "all": "", "command": "",
		"on": "AWL1006 at 10:15, AWL1006 at 11:14", "not": "AWL1006 at 10:15, AWL1005 at 11:14", "null": "", "true": "",
	} {
		r := awl.Check(fmt.Appendf(nil, step, word, word), awl.Options{})
		got := places(r.Diagnostics)
		switch {
		case want != "" && !strings.HasPrefix(got, strings.Split(want, ",")[0]),
			want == "" && (word == "null" || word == "true") && !strings.Contains(got, "AWL1006 at 10:15"),
			want == "" && word != "null" && word != "true" && got != "":
			t.Errorf("%s: %q", word, got)
		}
		for _, d := range r.Diagnostics {
			if d.Code == "AWL1006" && d.Hint == "" {
				t.Errorf("%s has no hint", word)
			}
		}
	}
	quoted := strings.Replace(fmt.Sprintf(step, "x", "x"), "go(n: n)", `go(n: "on")`, 1)
	if got := places(awl.Check([]byte(quoted), awl.Options{}).Diagnostics); got != "AWL3001 at 10:9" {
		t.Errorf(`"on" is %s`, got)
	}
	const reserved = "workflow input signal outcome type schema worker action child subflow step const after fork join loop counting until max " +
		"visits sequential spawn wait sleep on when if otherwise else route is not and or true false null in json of distribute sequence collect"
	var free []string
	for _, word := range strings.Fields(reserved) {
		src := strings.Replace(plainTop, "input n", "input "+word, 1) + "step s\n  route done(1)\n"
		if !strings.Contains(places(awl.Check([]byte(src), awl.Options{}).Diagnostics), "AWL1006 at 3:9") {
			free = append(free, word)
		}
	}
	if diff := cmp.Diff([]string(nil), free); diff != "" {
		t.Errorf("reserved words that are taken for names: %s", diff)
	}
}
