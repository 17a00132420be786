package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/check"
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

const fixtures = "../testdata"

// judge checks a document as one that lies in a folder, so that imports resolve next to it.
func judge(src []byte, folder string) (check.Result, []diag.Diagnostic) {
	doc, parsed := syntax.Parse(src)
	return check.Check(doc, parsed, importer(folder))
}

func importer(folder string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
	}
}

// places spells findings as the fixtures name them.
func places(found []diag.Diagnostic) []string {
	list := []string{}
	for _, d := range found {
		list = append(list, fmt.Sprintf("%s at %d:%d", d.Code, d.Span.Start.Line, d.Span.Start.Column))
	}
	return list
}

func documents(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.awl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents in %s: %v", folder, err)
	}
	return names
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// The documents of the language show each rule once; those of this package show how rules meet.
func TestEveryDocumentGivesExactlyTheFindingsItNames(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`AWL\d{4} at \d+:\d+`)
	for _, name := range slices.Concat(documents(t, fixtures+"/invalid"), documents(t, "testdata/rules")) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			src := readFile(t, name)
			first, _, _ := strings.Cut(string(src), "\n")
			want := append([]string{}, named.FindAllString(first, -1)...)
			_, found := judge(src, filepath.Dir(name))
			if diff := cmp.Diff(want, places(found)); diff != "" {
				t.Errorf("findings (-named on line 1, +given):\n%s%v", diff, found)
			}
		})
	}
}

func TestValidDocumentsHaveNoFinding(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(documents(t, fixtures+"/valid"), documents(t, "testdata/flows")) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			want := []string{}
			if filepath.Base(name) == "shell_worker.awl" {
				want = []string{"AWL6019 at 2:8"}
			}
			_, found := judge(readFile(t, name), filepath.Dir(name))
			if diff := cmp.Diff(want, places(found)); diff != "" {
				t.Errorf("findings (-wanted, +given):\n%s%v", diff, found)
			}
		})
	}
}
