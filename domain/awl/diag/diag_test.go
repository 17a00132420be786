package diag_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain/awl/diag"
)

// span is a span of n columns on one line.
func span(line, column, n int) diag.Span {
	start := diag.Pos{Offset: line*1000 + column, Line: line, Column: column}
	end := start
	end.Offset += n
	end.Column += n
	return diag.Span{Start: start, End: end}
}

func TestCatalogueHoldsEveryCodeOnceInOrder(t *testing.T) {
	t.Parallel()
	all := diag.Catalogue()
	if len(all) != 173 {
		t.Errorf("%d codes", len(all))
	}
	warnings := 0
	for i, e := range all {
		if i > 0 && all[i-1].Code >= e.Code {
			t.Errorf("%s follows %s", e.Code, all[i-1].Code)
		}
		if !regexp.MustCompile(`^AWL[0-7]\d{3}$`).MatchString(e.Code) || e.Rule == "" || e.Message == "" || e.At == "" || e.Hint == "" {
			t.Errorf("incomplete entry %+v", e)
		}
		if found, ok := diag.Lookup(e.Code); !ok || found != e {
			t.Errorf("Lookup(%s) = %+v, %v", e.Code, found, ok)
		}
		if e.Severity == diag.Warning {
			warnings++
		}
	}
	if warnings != 9 {
		t.Errorf("%d warnings", warnings)
	}
	if _, ok := diag.Lookup("AWL9999"); ok {
		t.Error("AWL9999 was found")
	}
}

func TestNewFillsMessageAndHint(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code          string
		pairs         []string
		message, hint string
	}{
		{"AWL2006", []string{"name", "mising", "closest", "missing"}, "nothing binds `mising` here", "bind it first, as an `input`, a `const` or by `-> mising`, or use `missing`"},
		{"AWL2006", []string{"name", "mising", "closest", "`missing`"}, "nothing binds `mising` here", "bind it first, as an `input`, a `const` or by `-> mising`, or use `missing`"},
		{"AWL2006", []string{"name", "x", "closest", ""}, "nothing binds `x` here", "bind it first, as an `input`, a `const` or by `-> x`"},
		{"AWL2006", []string{"name", "{name}{closest}"}, "nothing binds `{name}{closest}` here", "bind it first, as an `input`, a `const` or by `-> {name}{closest}`"},
		{"AWL6003", nil, "`{{` opens no valid hole", "write `{{name}}`"},
		{"AWL6018", nil, "`cwd` starts with `/` or `{workspace_root}`", "start it with `{workspace_root}/`"},
		{"AWL0008", []string{"c", "q"}, "`\\q` is not an escape", "use `\\\"` `\\\\` `\\n` `\\t` `\\r` `\\uXXXX`, or a raw string"},
		{"AWL1008", []string{"found", "`x`"}, "an outcome reads `outcome <name>: type <Type>, route success|failure`, found `x`", "add the missing part"},
		{"AWL3018", nil, "a duration is not a value here", "pass the seconds as an Int, such as `30`"},
		{"AWL3018", []string{"name", "n"}, "`n` is not a duration", "write `30s`, or declare `const pause = 30s` and write `pause`: an input or a result is no duration"},
		{"AWL2006", []string{"name", "x", "closest", "y", "hint", "ask {name}"}, "nothing binds `x` here", "ask {name}"},
	}
	for _, tt := range tests {
		d := diag.New(tt.code, span(1, 1, 1), tt.pairs...)
		if d.Message != tt.message || d.Hint != tt.hint || d.Code != tt.code || d.Span != span(1, 1, 1) || d.Severity != diag.Error {
			t.Errorf("New(%s, %q) = %+v", tt.code, tt.pairs, d)
		}
	}
}

func TestNewKnowsTheSeverity(t *testing.T) {
	t.Parallel()
	if d := diag.New("AWL2026", span(1, 1, 1), "kind", "const", "name", "x"); d.Severity != diag.Warning || d.Severity.String() != "warning" {
		t.Errorf("severity %v", d.Severity)
	}
}

func TestSortKeepsOnePerCodeAndPosition(t *testing.T) {
	t.Parallel()
	ds := []diag.Diagnostic{
		{Code: "AWL2006", Span: span(2, 1, 1)},
		{Code: "AWL1005", Span: span(2, 1, 1), Message: "first"},
		{Code: "AWL1005", Span: span(2, 1, 9), Message: "second"},
		{Code: "AWL1005", Span: span(1, 9, 1)},
		{Code: "AWL1005", Span: span(1, 2, 1)},
	}
	var got []string
	for _, d := range diag.Sort(ds) {
		got = append(got, fmt.Sprintf("%d:%d %s %s", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message))
	}
	want := []string{"1:2 AWL1005 ", "1:9 AWL1005 ", "2:1 AWL1005 first", "2:1 AWL2006 "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sorted (-want +got):\n%s", diff)
	}
}

func TestLimitSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	many := func(errors, warnings int) []diag.Diagnostic {
		var ds []diag.Diagnostic
		for i := range warnings {
			ds = append(ds, diag.New("AWL2026", span(i+1, 1, 1), "kind", "const", "name", "x"))
		}
		for i := range errors {
			ds = append(ds, diag.New("AWL0005", span(i+1, 5, 1)))
		}
		return ds
	}
	tests := []struct {
		name             string
		in               []diag.Diagnostic
		errors, warnings int // of the result, without the closing one
		left             int
		severity         diag.Severity // of the closing one
	}{
		{"none", nil, 0, 0, 0, 0},
		{"a hundred", many(60, 40), 60, 40, 0, 0},
		{"one more", many(61, 40), 61, 38, 2, diag.Warning},
		{"errors come first", many(120, 300), 99, 0, 321, diag.Error},
		{"warnings only", many(0, 500), 0, 99, 401, diag.Warning},
		{"left out before", append(many(10, 5), diag.Full(span(700, 1, 1), 50, 7)), 10, 5, 50, diag.Error},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := diag.Limit(tt.in)
			if tt.left > 0 {
				last := got[len(got)-1]
				got = got[:len(got)-1]
				if last.Code != "AWL0004" || last.Severity != tt.severity || last.Omitted != tt.left ||
					!strings.Contains(last.Message, fmt.Sprintf("(%d left out)", tt.left)) {
					t.Errorf("the closing finding is %+v", last)
				}
				if p := got[len(got)-1].Span.Start; p.Offset > last.Span.Start.Offset {
					t.Errorf("it stands before %+v", p)
				}
			}
			count := map[diag.Severity]int{}
			for _, d := range got {
				count[d.Severity]++
			}
			if count[diag.Error] != tt.errors || count[diag.Warning] != tt.warnings || !slices.IsSortedFunc(got, func(a, b diag.Diagnostic) int {
				return a.Span.Start.Offset - b.Span.Start.Offset
			}) {
				t.Errorf("%d errors and %d warnings", count[diag.Error], count[diag.Warning])
			}
			if diag.HasErrors(got) != (tt.errors > 0) {
				t.Error("HasErrors is wrong")
			}
		})
	}
}

func TestClosestFindsTypingMistakes(t *testing.T) {
	t.Parallel()
	names := []string{"greeting", "verdict", "verdicts", "x", "base_commit", strings.Repeat("a", 100)}
	tests := map[string]string{
		"greting": "greeting", "vedrict": "verdict", "verdict_": "verdict", "y": "x", "basecommit": "base_commit",
		"summary": "", "": "", strings.Repeat("a", 99): "",
	}
	for name, want := range tests {
		if got := diag.Closest(name, names); got != want {
			t.Errorf("Closest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestClosestDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab_]{0,8}`)
		names := rapid.SliceOfN(word, 0, 8).Draw(t, "names")
		name := word.Draw(t, "name")
		got := diag.Closest(name, names)
		slices.Sort(names)
		if again := diag.Closest(name, names); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
		if got != "" && !slices.Contains(names, got) {
			t.Fatalf("%q is no candidate", got)
		}
	})
}
