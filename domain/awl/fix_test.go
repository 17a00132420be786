package awl_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// The repairs of the invalid documents, one line per finding. Review changes: a repair that is offered is made unseen.
func TestFixesAreTheReviewedOnes(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: importer(invalidDir)}
	docs := documents(t, invalidDir)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		for _, d := range awl.Check(docs[name], o).Diagnostics {
			title := "-"
			if d.Fix != nil {
				title = d.Fix.Title(docs[name])
			}
			fmt.Fprintf(&b, "%s %s: %s\n", strings.TrimSuffix(name, ".awl"), d.Code, title)
		}
	}
	path := filepath.Join("testdata", "fixes.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("fixes (-want +got):\n%s", diff)
	}
}

func TestEachFixRemovesItsFinding(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: importer(invalidDir)}
	for name, src := range documents(t, invalidDir) {
		before := awl.Check(src, o)
		for i, d := range before.Diagnostics {
			if d.Fix == nil {
				continue
			}
			text, n := diag.Apply(src, before.Diagnostics[i:i+1])
			if n != 1 || d.Fix.Span.End.Offset > len(src) {
				t.Errorf("%s: the fix of %s cannot be made: %+v", name, d.Code, d.Fix)
				continue
			}
			after := awl.Check(text, o)
			if fewer := count(after, diag.Error) < count(before, diag.Error); !fewer && (d.Severity == diag.Error || len(after.Diagnostics) >= len(before.Diagnostics)) {
				t.Errorf("%s: %s leaves %v", name, d.Fix.Title(src), shown(after.Diagnostics))
			}
		}
	}
}

func count(r awl.Report, of diag.Severity) int {
	n := 0
	for _, d := range r.Diagnostics {
		if d.Severity == of {
			n++
		}
	}
	return n
}

func TestFixMendsWhatAnAgentWritesFirst(t *testing.T) {
	t.Parallel()
	const draft = `# Greets people.
workflow greet
	input name: string
  input title: Optional<string>
  outcome greeted: type Greeting

type Greeting { text: string, }

worker shell
  action greet(name: String) -> String
    timeout 10
    run "echo Hello, {{name}}"

step say
  let text = greet(nam: name)
  return greeted(text: text);
`
	const want = `//! Greets people.
workflow greet
  input name: String
  input title: String?
  outcome greeted: type Greeting, route success

type Greeting { text: String, }

worker shell
  action greet(name: String) -> String
    timeout 10s
    run "echo Hello, {{name}}" capture text

step say
  greet(name: name) -> text
  route greeted(text: text)
`
	src := []byte(draft)
	text, made, r := awl.Fix(src, awl.Options{})
	if diff := cmp.Diff(want, string(text)); diff != "" || !r.OK {
		t.Errorf("mended (-want +got):\n%s%v\n%s", diff, shown(r.Diagnostics), strings.Join(made, "\n"))
	}
	if string(src) != draft {
		t.Error("the source changed")
	}
	if again, made, _ := awl.Fix(text, awl.Options{}); len(made) != 0 || !bytes.Equal(again, text) {
		t.Errorf("a second time: %v", made)
	}
}

// Some warnings show only when no error is left; a repair that makes them show is one all the same.
func TestFixMendsTheLastErrorOfADocumentWithWarnings(t *testing.T) {
	t.Parallel()
	src := "//! A document.\nworkflow w\n  input unused: Int\n  signal never: Int\n  outcome done: type Int, route success\n  outcome bad: type Int, route failure\n\nstep a\n  route don(1)\n"
	text, made, r := awl.Fix([]byte(src), awl.Options{})
	if !r.OK || len(made) != 1 || count(r, diag.Warning) != 3 {
		t.Errorf("made %v, left %v\n%s", made, shown(r.Diagnostics), text)
	}
}

func TestFixLeavesAGreenDocumentAlone(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: importer(validDir)}
	for name, src := range documents(t, validDir) {
		if !awl.Check(src, o).OK {
			continue
		}
		if text, made, _ := awl.Fix(src, o); len(made) != 0 || !bytes.Equal(text, src) {
			t.Errorf("%s: %v", name, made)
		}
	}
}

// A large text with mistakes is answered about as fast as one without: few repairs are tried on it, or none.
func TestRepairsOfLargeTextsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("//! Many steps.\nworkflow large\n  input n: Int\n  outcome done: type Int, route success\n\n")
	for i := range 480 {
		fmt.Fprintf(&b, "step s%d\n  rout%d s%d\n\n", i, i, i+1)
	}
	b.WriteString("step s480\n  route done(n)\n")
	judged := 0
	o := awl.Options{Import: func(string) ([]byte, error) { judged++; return nil, os.ErrNotExist }}
	text := b.String() + "\ntype T = schema(\"t.json\")\n"
	r := awl.Check([]byte(text), o)
	if r.OK || judged > 1 {
		t.Errorf("ok %v, the import was read %d times", r.OK, judged)
	}
	for _, src := range []string{strings.Repeat("[", 1<<20), strings.Repeat("step a\n", 50_000), strings.Repeat("x ", 300_000)} {
		if awl.Check([]byte(src), awl.Options{}).OK {
			t.Error("nonsense is green")
		}
	}
}

func FuzzFix(f *testing.F) {
	for _, dir := range []string{validDir, invalidDir} {
		for _, src := range documents(f, dir) {
			if len(src) < 1500 {
				f.Add(src)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		o := awl.Options{Import: func(string) ([]byte, error) { return []byte(`{"type":"object"}`), nil }}
		before := awl.Check(src, o)
		for _, d := range before.Diagnostics {
			if d.Fix != nil && (d.Fix.Span.Start.Offset < 0 || d.Fix.Span.End.Offset > len(src) || d.Fix.Title(src) == "") {
				t.Fatalf("%+v", d.Fix)
			}
			if strings.ContainsAny(d.Advice(src), "\n\x1b") {
				t.Fatalf("advice %q", d.Advice(src))
			}
		}
		text, made, after := awl.Fix(src, o)
		if len(made) == 0 && !bytes.Equal(text, src) || before.OK && !after.OK {
			t.Fatalf("%v: %q", made, text)
		}
	})
}
