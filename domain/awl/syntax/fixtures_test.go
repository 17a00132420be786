package syntax_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

const (
	validDir   = "../testdata/valid"
	invalidDir = "../testdata/invalid"
)

// fixtures gives the documents of a folder, at least one.
func fixtures(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.awl"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no fixtures in %s: %v", dir, err)
	}
	docs := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		docs[filepath.Base(p)] = string(b)
	}
	return docs
}

// say lists findings as `CODE at LINE:COLUMN`.
func say(ds []diag.Diagnostic) []string {
	var list []string
	for _, d := range ds {
		list = append(list, fmt.Sprintf("%s at %d:%d", d.Code, d.Span.Start.Line, d.Span.Start.Column))
	}
	return list
}

// mustParse parses a document that has no findings.
func mustParse(tb testing.TB, src string) *syntax.Document {
	tb.Helper()
	d, ds := syntax.Parse([]byte(src))
	if len(ds) > 0 {
		tb.Fatalf("findings: %v\n%s", say(ds), diag.Render("test.awl", []byte(src), ds[0], false))
	}
	return d
}

func TestValidDocumentsPrintToThemselves(t *testing.T) {
	t.Parallel()
	for name, src := range fixtures(t, validDir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := src
			if strings.Contains(name, ".loose.") {
				want = fixtures(t, validDir)[strings.Replace(name, ".loose", "", 1)]
			}
			d := mustParse(t, src)
			if diff := cmp.Diff(want, string(syntax.Print(d))); diff != "" {
				t.Errorf("printed text (-want +got):\n%s", diff)
			}
			sameTree(t, d, mustParse(t, want))
		})
	}
}

func TestInvalidDocumentsHaveTheirFindings(t *testing.T) {
	t.Parallel()
	expects := regexp.MustCompile(`^//!? expects: (.*)\n`)
	for name, src := range fixtures(t, invalidDir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := expects.FindStringSubmatch(src)
			if m == nil {
				t.Fatal("line 1 names no findings")
			}
			var want []string
			for _, f := range strings.Split(m[1], ", ") {
				if f < "AWL2" {
					want = append(want, f)
				}
			}
			_, ds := syntax.Parse([]byte(src))
			var got []string
			for _, f := range say(ds) {
				if f < "AWL2" {
					got = append(got, f)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
