package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
)

// find is the span of a piece of a document.
func find(t *testing.T, src, piece string) diag.Span {
	t.Helper()
	i := strings.Index(src, piece)
	if i < 0 {
		t.Fatalf("%q is not in the document", piece)
	}
	pos := func(offset int) diag.Pos {
		line := src[strings.LastIndexByte(src[:offset], '\n')+1 : offset]
		return diag.Pos{Offset: offset, Line: strings.Count(src[:offset], "\n") + 1, Column: len([]rune(line)) + 1}
	}
	return diag.Span{Start: pos(i), End: pos(i + len(piece))}
}

func TestRenderShowsTheSourceLine(t *testing.T) {
	t.Parallel()
	src := "//! é\nworkflow w\n\troute done(é: missing)\r\n"
	d := diag.New("AWL2006", find(t, src, "missing"), "name", "missing", "closest", "missed")
	d.Fix = &diag.Fix{Span: d.Span, Text: "missed"}
	want := strings.Join([]string{
		"w.awl:3:16: error[AWL2006]: nothing binds `missing` here",
		"   3 |  route done(é: missing)",
		"     |                ^^^^^^^",
		"  hint: bind it first, as an `input`, a `const` or by `-> missing`, or use `missed`",
		"  fix: replace `missing` by `missed` at 3:16",
		"",
	}, "\n")
	if diff := cmp.Diff(want, diag.Render("w.awl", []byte(src), d, false)); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if got := diag.Line("w.awl", d); got != "w.awl:3:16: error[AWL2006]: nothing binds `missing` here" {
		t.Errorf("line %q", got)
	}
	colored := diag.Render("w.awl", []byte(src), d, true)
	if !strings.Contains(colored, "\x1b[") || strings.Count(colored, "\n") != 5 {
		t.Errorf("coloured %q", colored)
	}
}

func TestRenderCutsLongAndHidesUnprintable(t *testing.T) {
	t.Parallel()
	src := strings.Repeat("a", 5000) + "\x1b[31mHERE" + strings.Repeat("b", 5000) + "\n"
	out := diag.Render("f", []byte(src), diag.New("AWL0012", find(t, src, "HERE"), "c", "x"), false)
	lines := strings.Split(out, "\n")
	if len([]rune(lines[1])) > 140 || strings.Contains(out, "\x1b") || !strings.Contains(lines[1], "HERE") {
		t.Errorf("rendered %q", out)
	}
	above, _, _ := strings.Cut(lines[1], "HERE")
	below, _, found := strings.Cut(lines[2], "^")
	if !found || len([]rune(above)) != len([]rune(below)) {
		t.Errorf("the caret is off:\n%s\n%s", lines[1], lines[2])
	}
}

func TestRenderManagesPlacesThatAreNotThere(t *testing.T) {
	t.Parallel()
	end := diag.Pos{Offset: 3, Line: 1, Column: 4}
	far := diag.Pos{Offset: 99, Line: 9, Column: 9}
	for _, s := range []diag.Span{{}, {Start: end, End: end}, {Start: far, End: far}, {Start: end, End: far}} {
		if out := diag.Render("f", []byte("abc"), diag.New("AWL0005", s), false); !strings.Contains(out, "AWL0005") {
			t.Errorf("rendered %q", out)
		}
	}
}
