package check_test

import (
	"path/filepath"
	"slices"
	"testing"

	"aion/domain/awl/diag"
)

// FuzzCheck: whatever the text, checking ends with findings that are sorted, once each, and of the catalogue.
func FuzzCheck(f *testing.F) {
	for _, folder := range []string{"valid", "invalid"} {
		names, err := filepath.Glob(filepath.Join(fixtures, folder, "*.awl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			f.Add(readFile(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, found := judge(src, filepath.Join(fixtures, "valid"))
		if !slices.IsSortedFunc(found, func(a, b diag.Diagnostic) int {
			return a.Span.Start.Offset - b.Span.Start.Offset
		}) {
			t.Errorf("findings are not sorted: %v", found)
		}
		for i, d := range found {
			if _, known := diag.Lookup(d.Code); !known || d.Message == "" {
				t.Errorf("finding %v is none of the catalogue", d)
			}
			if d.Span.Start.Line < 1 || d.Span.Start.Column < 1 || d.Span.End.Offset < d.Span.Start.Offset {
				t.Errorf("finding %v has no place", d)
			}
			if i > 0 && found[i-1].Code == d.Code && found[i-1].Span.Start == d.Span.Start {
				t.Errorf("finding %v occurs twice", d)
			}
		}
	})
}
