package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"aion/adapters/cli"
	"aion/domain/awl"
	"aion/domain/awl/guide"
)

// shell runs command lines in a folder of its own.
type shell struct {
	t        *testing.T
	in       string
	terminal bool
	dir      string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	return &shell{t: t, dir: t.TempDir()}
}

// run gives what a command line prints, and its exit code. Words that end in .awl are files of the folder.
func (s *shell) run(args ...string) (out, errs string, code int) {
	s.t.Helper()
	for i, a := range args {
		if strings.HasSuffix(a, ".awl") {
			args[i] = s.path(a)
		}
	}
	var stdout, stderr bytes.Buffer
	code = cli.Run(s.t.Context(), cli.Program{In: strings.NewReader(s.in), Out: &stdout, Err: &stderr, ErrTerminal: s.terminal, NoColor: true, Backend: noServer{}}, args)
	clean := func(b bytes.Buffer) string {
		return strings.ReplaceAll(b.String(), s.dir+string(filepath.Separator), "")
	}
	return clean(stdout), clean(stderr), code
}

func (s *shell) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shell) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o640); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shell) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func hello(t *testing.T) string {
	t.Helper()
	text, err := guide.Source("hello", "")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func broken(t *testing.T) string {
	t.Helper()
	text := strings.Replace(hello(t), "input name: String", "input name: string", 1)
	return strings.Replace(text, "route greeted", "rout greeted", 1)
}

func TestCheckSaysWhatIsWrongAndHowToMendIt(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", broken(t))
	out, errs, code := s.run("awl", "check", "h.awl")
	for _, want := range []string{
		"h.awl:4:15: error[AWL1010]: `string` is not AWL; write `String`\n  hint: write `String` in its place; fix: replace `string` by `String` at 4:15\n",
		"fix: replace `rout` by `route` at 16:3\n",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing in\n%s", want, errs)
		}
	}
	if out != "" || code != 1 {
		t.Errorf("exit %d, %q", code, out)
	}
	s.terminal = true
	_, errs, _ = s.run("awl", "check", "h.awl")
	for _, want := range []string{"   4 |   input name: string\n     |               ^^^^^^\n", "  hint: write `String` in its place\n", "  fix: replace `string` by `String` at 4:15\n"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing in\n%s", want, errs)
		}
	}
}

func TestAFlagThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"awl", "check", "--json", "h.awl"}, "error[usage]: unknown flag: --json\n  hint: did you mean: -o json\n"},
		{[]string{"--json", "awl", "check", "h.awl"}, "error[usage]: unknown flag: --json\n"},
		{[]string{"--quiet", "--home", "awl", "-x", "awl", "check"}, "error[usage]: unknown shorthand flag: 'x' in -x\n"},
		{[]string{"awl", "check", "--jsn", "h.awl"}, "error[usage]: unknown flag: --jsn\n  hint: aion awl check --help"},
		{[]string{"awl", "chek", "h.awl"}, "error[usage]: aion awl has no command \"chek\"\n  hint: did you mean: aion awl check\n"},
		{[]string{"config", "shw"}, "did you mean: aion config show\n"},
		{[]string{"--quiet", "chek", "h.awl"}, `aion has no command "chek"`},
	} {
		if out, errs, code := s.run(c.args...); code != 2 || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%v: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}

func TestCheckAsJSONHasTheFixAsEdits(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", broken(t))
	s.write("ok.awl", hello(t))
	out, _, code := s.run("awl", "check", "-o", "json", "ok.awl", "h.awl")
	var reports []struct {
		File        string
		OK          bool `json:"ok"`
		Steps       *int
		Diagnostics []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 2 || code != 1 {
		t.Fatalf("exit %d: %v in %s", code, err, out)
	}
	if !reports[0].OK || *reports[0].Steps != 1 || len(reports[0].Diagnostics) != 0 {
		t.Errorf("%+v", reports[0])
	}
	want := map[string]any{"title": "replace `string` by `String` at 4:15", "edits": []any{map[string]any{
		"start": map[string]any{"line": 4., "column": 15.}, "end": map[string]any{"line": 4., "column": 21.}, "text": "String",
	}}}
	if diff := cmp.Diff(want, reports[1].Diagnostics[0]["fix"]); diff != "" {
		t.Errorf("fix (-want +got):\n%s", diff)
	}
}

func TestCheckFixWritesTheMendedFile(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", broken(t))
	out, errs, code := s.run("awl", "check", "--fix", "h.awl")
	if out != "ok: h.awl (1 steps)\n" || code != 0 || strings.Count(errs, "fixed: h.awl: ") != 2 {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if diff := cmp.Diff(hello(t), s.read("h.awl")); diff != "" {
		t.Errorf("mended (-want +got):\n%s", diff)
	}
	info, err := os.Stat(s.path("h.awl"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
	if _, errs, _ := s.run("awl", "check", "--fix", "h.awl"); errs != "" {
		t.Errorf("a green file was mended: %q", errs)
	}
}

func TestCheckFixOfStandardInputPrintsTheText(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.in = broken(t)
	out, _, code := s.run("awl", "check", "--fix", "-")
	if out != hello(t) || code != 0 {
		t.Errorf("exit %d, %q", code, out)
	}
	if _, errs, code := s.run("awl", "check", "--fix", "-o", "json", "-"); code != 2 || !strings.Contains(errs, "name a file") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestCheckFixLeavesWhatIsNotCertain(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	text := strings.Replace(hello(t), "greet(name: name) -> text", "greet(name: somebody) -> text", 1)
	s.write("h.awl", text)
	_, errs, code := s.run("awl", "check", "--fix", "h.awl")
	if s.read("h.awl") != text || code != 1 || strings.Contains(errs, "fixed:") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestFmtShowsTheDifference(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	loose := strings.Replace(hello(t), "  route greeted(text: text)\n", "  route greeted( text:text )\n", 1)
	s.write("h.awl", loose)
	out, _, code := s.run("awl", "fmt", "--diff", "h.awl")
	want := "--- h.awl\n+++ h.awl (canonical)\n@@ -13,4 +13,4 @@\n \n step say\n   greet(name: name) -> text\n-  route greeted( text:text )\n+  route greeted(text: text)\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 1 {
		t.Errorf("exit %d (-want +got):\n%s", code, diff)
	}
	if s.read("h.awl") != loose {
		t.Error("--diff wrote the file")
	}
	if out, _, code := s.run("awl", "fmt", "--check", "h.awl"); out != "h.awl\n" || code != 1 {
		t.Errorf("exit %d, %q", code, out)
	}
	if _, _, code := s.run("awl", "fmt", "h.awl"); code != 0 || s.read("h.awl") != hello(t) {
		t.Errorf("exit %d, %s", code, s.read("h.awl"))
	}
	if out, _, code := s.run("awl", "fmt", "--diff", "h.awl"); out != "" || code != 0 {
		t.Errorf("exit %d, %q", code, out)
	}
}

// patched applies a difference, as patch does.
func patched(t *testing.T, text, difference string) string {
	t.Helper()
	old := strings.SplitAfter(text, "\n")
	var lines []string
	at := 0
	for line := range strings.Lines(strings.ReplaceAll(difference, "\n\\ No newline at end of file", "")) {
		var from, n int
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "@@"):
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &n); err != nil || from-1 < at {
				t.Fatalf("%q after line %d: %v", line, at, err)
			}
			lines = append(lines, old[at:from-1]...)
			at = from - 1
		case line[0] == '+':
			lines = append(lines, line[1:])
		default:
			if strings.TrimSuffix(old[at], "\n") != strings.TrimSuffix(line[1:], "\n") {
				t.Fatalf("line %d is %q, not %q", at+1, old[at], line[1:])
			}
			if line[0] == ' ' {
				lines = append(lines, old[at])
			}
			at++
		}
	}
	return strings.Join(append(lines, old[at:]...), "")
}

func TestTheDifferenceLeadsToTheCanonicalForm(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, tpl := range guide.Templates() {
		text, err := guide.Source(tpl.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, loose := range []string{
			strings.ReplaceAll(text, "\n\n", "\n\n\n"), strings.ReplaceAll(text, ": ", ":"), strings.TrimSuffix(text, "\n"),
			strings.ReplaceAll(text, ",\n", ",\n\n"), strings.ReplaceAll(text, "(", "( "),
		} {
			s.write("x.awl", loose)
			want, _ := awl.Format([]byte(loose))
			out, _, code := s.run("awl", "fmt", "--diff", "x.awl")
			if got := patched(t, loose, out); got != string(want) || (code == 1) != (loose != got) {
				t.Errorf("%s, exit %d (-want +got):\n%s\n%s", tpl.Name, code, cmp.Diff(string(want), got), out)
			}
		}
	}
}

func TestSchemaPrintsTheInputOrAType(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", hello(t))
	out, _, code := s.run("awl", "schema", "h.awl")
	var start struct {
		Title      string
		Required   []string
		Properties map[string]struct{ Type, Description string }
	}
	if err := json.Unmarshal([]byte(out), &start); err != nil || code != 0 || start.Title != "hello" ||
		start.Properties["name"].Description != "Who is greeted." || !slices.Equal(start.Required, []string{"name"}) {
		t.Errorf("exit %d, %v, %s", code, err, out)
	}
	if out, _, code := s.run("awl", "schema", "h.awl", "--type", "Greeting"); code != 0 || !strings.Contains(out, `"text": {`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if _, errs, code := s.run("awl", "schema", "h.awl", "--type", "Greting"); code != 2 || !strings.Contains(errs, "did you mean Greeting?") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s.write("bad.awl", broken(t))
	if out, errs, code := s.run("awl", "schema", "bad.awl"); out != "" || code != 1 || !strings.Contains(errs, "AWL1010") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	s.write("w.awl", "//! Served elsewhere.\nworker w\n  action a(x: String) -> String\n    run \"echo {{x}}\" capture text\n\ntype T { a: Int }\n")
	if _, errs, code := s.run("awl", "schema", "w.awl"); code != 2 || !strings.Contains(errs, "it declares T") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if out, _, code := s.run("awl", "schema", "--type", "T", "w.awl"); code != 0 || !strings.Contains(out, `"a"`) {
		t.Errorf("exit %d, %q", code, out)
	}
}

func TestGraphDrawsInEachFormat(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("h.awl", hello(t))
	for format, want := range map[string]string{
		"text": "say  calls greet\n  -> !greeted\n", "dot": `"say" -> "!greeted"`, "mermaid": "flowchart TD\n", "json": `"id":"say>!greeted:"`,
	} {
		if out, errs, code := s.run("awl", "graph", "--format", format, "h.awl"); code != 0 || !strings.Contains(out, want) || errs != "" {
			t.Errorf("%s: exit %d, %s%s", format, code, out, errs)
		}
	}
	if _, errs, code := s.run("awl", "graph", "--format", "png", "h.awl"); code != 2 || !strings.Contains(errs, "mermaid") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s.write("bad.awl", strings.Replace(hello(t), "route greeted(", "route greeted(((", 1))
	if out, errs, code := s.run("awl", "graph", "bad.awl"); code != 1 || !strings.Contains(out, "incomplete") || !strings.Contains(errs, "AWL1009") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func TestGuideExplains(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "collect           closes a region\n"},
		{[]string{"collect"}, "Example\n\n  //! Probe every host"},
		{[]string{"--", "->"}, "Grammar\n\n  call        = NAME"},
		{[]string{"awl3006"}, "hint: guard it: `when {path} is present`"},
		{[]string{"--codes"}, "AWL0001 error: the document is UTF-8"},
		{[]string{"--card"}, "# AWL on one card\n"},
		{[]string{"--json", "collect"}, `"grammar":"collect     = \"collect\"`},
		{[]string{"--codes", "--json"}, `{"code":"AWL7011","class":"error"`},
	} {
		if out, errs, code := s.run(append([]string{"awl", "guide"}, c.args...)...); code != 0 || !strings.Contains(out, c.want) || errs != "" {
			t.Errorf("%v: exit %d: %.400s%s", c.args, code, out, errs)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"->"}, "aion awl guide -- '->'"},
		{[]string{"colect"}, "did you mean: aion awl guide collect"},
		{[]string{"AWL9999"}, "there is no finding"},
		{[]string{"--card", "--codes"}, "one of them at a time"},
		{[]string{"collect", "--codes"}, "one of them at a time"},
	} {
		if _, errs, code := s.run(append([]string{"awl", "guide"}, c.args...)...); code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, errs)
		}
	}
}

func TestNewWritesADocumentThatChecks(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, tpl := range guide.Templates() {
		if _, errs, code := s.run("awl", "new", "my_"+tpl.Name+".awl", "--template", tpl.Name); code != 0 || !strings.Contains(errs, "wrote my_") {
			t.Errorf("%s: exit %d, %s", tpl.Name, code, errs)
		}
		if out, errs, code := s.run("awl", "check", "--warnings-as-errors", "my_"+tpl.Name+".awl"); code != 0 || !strings.HasPrefix(out, "ok: ") {
			t.Errorf("%s: exit %d, %s%s", tpl.Name, code, out, errs)
		}
	}
	if out, _, code := s.run("awl", "new", "--list"); code != 0 || strings.Count(out, "\n") != len(guide.Templates()) {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("taken.awl", "mine")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"taken.awl"}, "exists already"},
		{[]string{"loop.awl"}, "is no name of a workflow"},
		{[]string{"Bad-Name.awl"}, "is no name of a workflow"},
		{[]string{"x y.awl"}, "is no name of a workflow"},
		{[]string{"a.awl", "--template", "nothing"}, "there are hello, approval"},
		{[]string{"no/such/folder/a.awl"}, "cannot be written"},
		{nil, "needs one name"},
	} {
		if _, errs, code := s.run(append([]string{"awl", "new"}, c.args...)...); code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
		}
	}
	if s.read("taken.awl") != "mine" {
		t.Error("the file was overwritten")
	}
	if files, err := os.ReadDir(s.dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
}

// noServer is a process that has no store and no server: the commands of the language need neither.
type noServer struct{ cli.Backend }

func (noServer) AddFlags(*pflag.FlagSet) {}
