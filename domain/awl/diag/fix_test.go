package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
)

func TestAFixSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	src := "//! x\nworkflow w\n\tinput a: string\n"
	word := find(t, src, "string")
	end := diag.Span{Start: word.End, End: word.End}
	tab := find(t, src, "\t")
	tests := []struct {
		fix  diag.Fix
		want string
	}{
		{diag.Fix{Span: word, Text: "String"}, "replace `string` by `String` at 3:11"},
		{diag.Fix{Span: word}, "delete `string` at 3:11"},
		{diag.Fix{Span: end, Text: "?"}, "insert `?` at 3:17"},
		{diag.Fix{Span: end, Text: " "}, "insert ` ` at 3:17"},
		{diag.Fix{Span: end, Text: "\n  outcome a: type Nil"}, "insert 1 line `outcome a: type Nil` at 3:17"},
		{diag.Fix{Span: end, Text: "\n\nstep a\n  route b"}, "insert 2 lines `step a ⏎   route b` at 3:17"},
		{diag.Fix{Span: tab, Text: "  "}, "indent line 3 by 2 spaces"},
		{diag.Fix{Span: word, Text: strings.Repeat("x", 200)}, "replace `string` by `" + strings.Repeat("x", 99) + "…` at 3:11"},
		{diag.Fix{Span: word, Text: "\x1b[31m"}, "replace `string` by `\uFFFD[31m` at 3:11"},
	}
	for _, tt := range tests {
		if got := tt.fix.Title([]byte(src)); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	for want, fix := range map[string]diag.Fix{
		"delete what stands at 3:11": {Span: word},
		"insert `x` at 3:17":         {Span: end, Text: "x"},
		"write `x` at 3:11":          {Span: word, Text: "x"},
	} {
		if got := fix.Title(nil); got != want {
			t.Errorf("without its document: %q, want %q", got, want)
		}
	}
}

// Whoever mends by hand reads which line goes where, not two texts of many lines.
func TestTheTitleOfAMoveNamesTheLines(t *testing.T) {
	t.Parallel()
	src := "a\n  on failure\n    route c\n\n  route b\nd\n"
	for text, want := range map[string]string{
		"  route b\n  on failure\n    route c": "move line 5 above line 2",
		"    route c\n  route b\n  on failure": "move line 2 below line 5",
		"  route b\n  on failure\n    route x": "replace `on failure ⏎     route c ⏎   route b` by `route b ⏎   on failure ⏎     route x` at 2:1",
		"  on failure\n  route b":              "replace `on failure ⏎     route c ⏎   route b` by `on failure ⏎   route b` at 2:1",
	} {
		at := find(t, src, "  on failure\n    route c\n\n  route b")
		if got := (diag.Fix{Span: at, Text: text}).Title([]byte(src)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheTitleOfAJoinNamesTheLines(t *testing.T) {
	t.Parallel()
	src := "a\n    timeout 1s\n    retry\n"
	at := find(t, src, "\n    retry")
	at.End.Offset, at.End.Line = at.End.Offset-len("retry"), 3
	if got := (diag.Fix{Span: at, Text: ", "}).Title([]byte(src)); got != "write `,` and line 3 behind line 2" {
		t.Error(got)
	}
}

func TestAdviceNamesTheFix(t *testing.T) {
	t.Parallel()
	src := "route don(1)"
	d := diag.New("AWL2012", find(t, src, "don"), "name", "don", "closest", "done")
	if got := d.Advice([]byte(src)); got != "add it, or use `done`" {
		t.Error(got)
	}
	d.Fix = &diag.Fix{Span: d.Span, Text: "done"}
	if got := d.Advice([]byte(src)); got != "add it, or use `done`; fix: replace `don` by `done` at 1:7" {
		t.Error(got)
	}
	d.Hint = ""
	if got := d.Advice([]byte(src)); got != "fix: replace `don` by `done` at 1:7" {
		t.Error(got)
	}
}

func TestApplyMakesTheFixesThatDoNotTouch(t *testing.T) {
	t.Parallel()
	src := "one two three"
	fixed := func(piece, text string) diag.Diagnostic {
		at := find(t, src, piece)
		return diag.Diagnostic{Span: at, Fix: &diag.Fix{Span: at, Text: text}}
	}
	far := diag.Pos{Offset: 99, Line: 9, Column: 9}
	got, n := diag.Apply([]byte(src), []diag.Diagnostic{
		fixed("three", "3"), fixed("one", ""), fixed("e t", "E"),
		{Code: "AWL0001"},
		fixed("two", "22222"),
		{Fix: &diag.Fix{Span: diag.Span{Start: far, End: far}}},
	})
	if diff := cmp.Diff(" 22222 3", string(got)); diff != "" || n != 3 {
		t.Errorf("%d fixes: %s", n, diff)
	}
	if src != "one two three" {
		t.Error("the source changed")
	}
}

func TestTheHintOfAWrongTokenShowsTheConstruct(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]string{
		"a statement": "act(arg: value) -> x", "`join`": "join -> results", "`->`": "-> String", "`}}`": "write `}}` in its place",
		"a step's name": "one word in lower case", "`,`": ", route <target>", "a type": "`[T]`",
	} {
		d := diag.New("AWL1005", span(1, 1, 1), "expected", pair, "found", "`x`")
		if !strings.Contains(d.Hint, want) || strings.Contains(d.Hint, "section") {
			t.Errorf("expected %s: %q", pair, d.Hint)
		}
	}
	for word, want := range map[string]string{
		"return": "route done", "for": "fork item in items", "as": "-> x", "{": "indented", "while": "until", "string": "write `String` in its place",
		"match": "otherwise", "race": "timeout 5m", "queue": "worker <name>", "about": "//!",
	} {
		d := diag.New("AWL1010", span(1, 1, 1), "found", word, "replacement", "`String`")
		if !strings.Contains(d.Hint, want) {
			t.Errorf("%s: %q", word, d.Hint)
		}
	}
}

// A reader of the message alone cannot look anything up.
func TestNoHintPointsAtABook(t *testing.T) {
	t.Parallel()
	for _, e := range diag.Catalogue() {
		if strings.Contains(e.Hint+e.Message, "section") || strings.Contains(e.Hint, "see the") {
			t.Errorf("%s: %s", e.Code, e.Hint)
		}
	}
}
