package awl_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/awl"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
)

// importer reads schemas next to a document.
func importer(dir string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(path))) }
}

var (
	validDir   = filepath.Join("testdata", "valid")
	invalidDir = filepath.Join("testdata", "invalid")
)

func documents(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.awl"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no documents in %s: %v", dir, err)
	}
	all := map[string][]byte{}
	for _, p := range paths {
		if all[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

func shown(ds []diag.Diagnostic) []string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s at %d:%d", d.Code, d.Span.Start.Line, d.Span.Start.Column))
	}
	return out
}

// awl 5.1: ok and deploys_green differ only for worker documents.
func TestValidDocumentsCheckAndCompile(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: importer(validDir)}
	for name, src := range documents(t, validDir) {
		r := awl.Check(src, o)
		p, compiled, err := awl.Compile(src, o)
		if diff := cmp.Diff(r, compiled); diff != "" {
			t.Errorf("%s: check and compile differ: %s", name, diff)
		}
		if name == "shell_worker.awl" {
			if !r.OK || r.DeploysGreen || p != nil || err == nil || len(r.Diagnostics) != 1 {
				t.Errorf("%s: %+v %v", name, r, err)
			}
			continue
		}
		if !r.OK || !r.DeploysGreen || len(r.Diagnostics) != 0 || err != nil {
			t.Errorf("%s: %v %v", name, shown(r.Diagnostics), err)
			continue
		}
		if p.ContentHash != awl.ContentHash(src, o.Import) || r.Steps != len(p.Flow.Steps) {
			t.Errorf("%s: hash %s, %d steps", name, p.ContentHash, r.Steps)
		}
	}
}

func TestInvalidDocumentsAreRefusedWithTheirFindings(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: importer(invalidDir)}
	for name, src := range documents(t, invalidDir) {
		first, _, _ := strings.Cut(string(src), "\n")
		_, want, _ := strings.Cut(first, "expects: ")
		r := awl.Check(src, o)
		if got := strings.Join(shown(r.Diagnostics), ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if r.OK != !diag.HasErrors(r.Diagnostics) || r.DeploysGreen != r.OK {
			t.Errorf("%s: ok %v, deploys_green %v", name, r.OK, r.DeploysGreen)
		}
		if !r.OK && r.Steps != 0 {
			t.Errorf("%s: %d steps", name, r.Steps)
		}
	}
}

func TestFormatGivesTheCanonicalForm(t *testing.T) {
	t.Parallel()
	docs := documents(t, validDir)
	got, found := awl.Format(docs["later_spelling.loose.awl"])
	if len(found) != 0 || string(got) != string(docs["later_spelling.awl"]) {
		t.Errorf("%v %s", shown(found), cmp.Diff(string(docs["later_spelling.awl"]), string(got)))
	}
	got, found = awl.Format([]byte("//! x\nworkflow w\n  outcome done: type"))
	if got != nil || len(found) == 0 {
		t.Errorf("a document that does not parse was formatted: %q %v", got, shown(found))
	}
}

// awl 9.3
func TestContentHashFollowsTheImports(t *testing.T) {
	t.Parallel()
	src := []byte("type A = schema(\"a.json\")\ntype B = schema(\"../b.json\")\ntype A2 = schema(\"a.json\")\nnot a document")
	read := func(path string) ([]byte, error) {
		if path != "a.json" {
			t.Errorf("%q was read", path)
		}
		return []byte("{}"), nil
	}
	file := sha256.Sum256([]byte("{}"))
	all := sha256.Sum256([]byte(string(src) + "\x00../b.json\x00missing\x00a.json\x00" + hex.EncodeToString(file[:])))
	if got := awl.ContentHash(src, read); got != hex.EncodeToString(all[:]) {
		t.Error(got)
	}
	if awl.ContentHash(src, nil) == awl.ContentHash(src, read) {
		t.Error("a missing import hashes like a present one")
	}
	plainSum := sha256.Sum256([]byte("text"))
	if got := awl.ContentHash([]byte("text"), nil); got != hex.EncodeToString(plainSum[:]) {
		t.Error(got)
	}
}

func TestRefusalNamesTheFindings(t *testing.T) {
	t.Parallel()
	_, r, err := awl.Compile([]byte("//! x\nworkflow w\n  outcome done: type Int, route success\n\nstep s\n  route done(b)\n"), awl.Options{})
	var e *domain.Error
	if !errors.As(err, &e) || e.Type != "CheckRefused" {
		t.Fatal(err)
	}
	if err := r.Refusal("team/x.awl"); !errors.As(err, &e) || !strings.Contains(e.Message, "team/x.awl") ||
		!strings.Contains(e.Message, "6:14 ") {
		t.Error(err)
	}
	worker := documents(t, validDir)["shell_worker.awl"]
	_, r, err = awl.Compile(worker, awl.Options{})
	if !errors.As(err, &e) || e.Type != "CheckRefused" || !strings.Contains(e.Message, "worker") {
		t.Errorf("%v %v", err, r)
	}
	if r := awl.Check(documents(t, validDir)["minimal.awl"], awl.Options{}); r.Refusal("x") != nil {
		t.Error("a document that deploys is refused")
	}
}

func TestAPlanThatWouldBeTooLargeIsAFinding(t *testing.T) {
	t.Parallel()
	src := "//! x\nworkflow w\n  outcome done: type [String], route success\n\nconst big = \"" + strings.Repeat("x", 500_000) +
		"\"\n\nstep s\n  route done([" + strings.Repeat("big, ", 40) + "])\n"
	r := awl.Check([]byte(src), awl.Options{})
	if len(r.Diagnostics) != 1 || r.Diagnostics[0].Code != "AWL0004" || r.OK {
		t.Errorf("%v", shown(r.Diagnostics))
	}
}

func FuzzCheckAndCompile(f *testing.F) {
	for _, src := range documents(f, validDir) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		o := awl.Options{Import: func(string) ([]byte, error) { return []byte(`{"type":"object"}`), nil }}
		p, r, err := awl.Compile(src, o)
		if (p != nil) != r.DeploysGreen || (err == nil) != r.DeploysGreen {
			t.Fatalf("%v %+v %v", p, r, err)
		}
		if p == nil {
			return
		}
		text, err := plan.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := plan.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, decoded) {
			t.Fatal(cmp.Diff(p, decoded))
		}
	})
}
