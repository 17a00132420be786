package syntax_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// seed gives a fuzz target the fixtures and the small hostile documents.
func seed(f *testing.F) {
	f.Helper()
	for _, dir := range []string{validDir, invalidDir} {
		for _, src := range fixtures(f, dir) {
			f.Add([]byte(src))
		}
	}
	for _, src := range printed() {
		f.Add([]byte(src.loose))
	}
	for _, src := range hostile(300, fragments()...) {
		f.Add([]byte(src))
	}
}

// FuzzScan shows that the scanner alone ends on every text, and that import paths are distinct and in order.
func FuzzScan(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		paths := syntax.ImportPaths(src)
		if !slices.IsSorted(paths) || len(slices.Compact(slices.Clone(paths))) != len(paths) {
			t.Errorf("import paths %q", paths)
		}
	})
}

// FuzzParse shows that every text gives a document and findings that stand inside it, in order, one per code and place.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		d, ds := syntax.Parse(src)
		if d == nil {
			t.Fatal("no document")
		}
		if len(ds) == 0 && d.Header == nil && len(d.Workers) == 0 {
			t.Error("neither a workflow nor a worker document, and no finding")
		}
		if diff := cmp.Diff(diag.Sort(slices.Clone(ds)), ds); diff != "" {
			t.Errorf("findings are out of order (-sorted +got):\n%s", diff)
		}
		for _, x := range ds {
			s, e := x.Span.Start, x.Span.End
			if s.Line < 1 || s.Column < 1 || s.Offset < 0 || s.Offset > len(src) || e.Offset < s.Offset {
				t.Errorf("%s stands outside of the document: %+v", x.Code, x.Span)
			}
			diag.Render("f", src, x, true)
		}
	})
}

// FuzzPrintParse shows that printing is a fixed point: the text of a document parses, and prints to itself.
func FuzzPrintParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		d, ds := syntax.Parse(src)
		if len(ds) > 0 {
			return
		}
		first := syntax.Print(d)
		again, ds := syntax.Parse(first)
		if len(ds) > 0 {
			t.Fatalf("the printed text has findings %v:\n%s", say(ds), first)
		}
		if diff := cmp.Diff(string(first), string(syntax.Print(again))); diff != "" {
			t.Errorf("printing again (-first +second):\n%s", diff)
		}
		sameTree(t, d, again)
	})
}
