package action_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aion/domain/action"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// show writes words with holes as <name> and the root as <>, separated by |.
func show(words []action.Word) string {
	var all []string
	for _, w := range words {
		var b strings.Builder
		for _, p := range w.Pieces {
			switch {
			case p.Lit != nil:
				b.WriteString(*p.Lit)
			case p.Root:
				b.WriteString("<>")
			default:
				b.WriteString("<" + p.Hole + ">")
			}
		}
		all = append(all, b.String())
	}
	return strings.Join(all, "|")
}

// actions 18
func TestSplittingFollowsItsRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"echo a\tb\n c\r\nd":               "echo|a|b|c|d",
		"  echo   x  ":                     "echo|x",
		`echo 'a b' "c d"`:                 "echo|a b|c d",
		`echo a'b c'd"e f"`:                "echo|ab cde f",
		`echo '' ""`:                       "echo||",
		`echo '"' "'"`:                     `echo|"|'`,
		`echo \' x'`:                       `echo|\ x`,
		"echo {{name}} {{ name }}":         "echo|<name>|<name>",
		`echo 'x {{name}}' "{{a}}{{_b1}}"`: "echo|x <name>|<a><_b1>",
		"echo --x={{name}}!":               "echo|--x=<name>!",
		"echo {workspace_root}/{{x}}":      "echo|<>/<x>",
		"echo '{workspace_root} x'":        "echo|<> x",
		"echo {{workspace_root}}":          "echo|<workspace_root>",
		"echo { } {x} }} {workspace_roo}":  "echo|{|}|{x}|}}|{workspace_roo}",
		"echo $HOME * ~ | > < & ;":         "echo|$HOME|*|~|||>|<|&|;",
		"echo a\rb":                        "echo|a\rb",
		"echo é\u00a0x":                    "echo|é\u00a0x",
	} {
		line, problems := action.ParseLine(text)
		if got := show(line.Words); got != want || len(problems) > 0 {
			t.Errorf("%q: got %q, %v", text, got, problems)
		}
	}
}

func TestProblemsStandWhereTheMistakeIs(t *testing.T) {
	t.Parallel()
	type problems = []action.LineProblem
	for text, want := range map[string]problems{
		"":                          {{Code: action.ProblemEmpty}},
		" \n\t":                     {{Code: action.ProblemEmpty}},
		"'' x":                      {{Code: action.ProblemEmpty}},
		"echo 'x":                   {{Code: action.ProblemQuote, Offset: 5}},
		`echo "{{x}}'`:              {{Code: action.ProblemQuote, Offset: 5}},
		"echo {{first name}} {{b}}": {{Code: action.ProblemHole, Offset: 5}},
		"echo {{}} {{ }}":           {{Code: action.ProblemHole, Offset: 5}, {Code: action.ProblemHole, Offset: 10}},
		"echo {{1a}}":               {{Code: action.ProblemHole, Offset: 5}},
		"echo {{x":                  {{Code: action.ProblemHole, Offset: 5}},
		"echo {{{x}}}":              {{Code: action.ProblemHole, Offset: 5}},
		"{{name}} --version":        {{Code: action.ProblemProgramHole, Offset: 0}},
		"git-{{name}} x":            {{Code: action.ProblemProgramHole, Offset: 4}},
		"é{{name}}":                 {{Code: action.ProblemProgramHole, Offset: 2}},
	} {
		_, got := action.ParseLine(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestPositionsAndQuotesAreKeptForFindings(t *testing.T) {
	t.Parallel()
	line, _ := action.ParseLine(`cat 'a'{{x}} | "|" >{{f}} 2>&1`)
	if diff := cmp.Diff([]int{0, 4, 13, 15, 19, 26}, line.Starts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{false, true, false, true, false, false}, line.Quoted); diff != "" {
		t.Error(diff)
	}
	if got := line.Words[1].Pieces[1].Offset; got != 7 {
		t.Errorf("hole at %d", got)
	}
	var found []string
	for i := range line.Words {
		if text, ok := line.ShellSyntax(i); ok {
			found = append(found, text)
		}
	}
	if diff := cmp.Diff([]string{"|", ">", "2>&1"}, found); diff != "" {
		t.Error(diff)
	}
	if plain := line.Plain(); plain[1].Pieces[1].Offset != 0 {
		t.Error("a plan would keep offsets")
	}
}

func TestTheScriptOfAShellIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"sh -c x":                  2,
		"/bin/bash -ec x sh {{a}}": 2,
		"bash -euo pipefail -c x":  4,
		"bash -o errexit -c x":     4,
		"bash --norc -c x":         3,
		"bash --rcfile f -c x":     4,
		"sh -c -e x":               3,
		"sh -c -- x":               3,
		"sh -c {{x}}":              2,
		"sh script.sh -c x":        -1,
		"sh {{x}} -c y":            -1,
		"sh -c":                    -1,
		"sh -c --":                 -1,
		"sh":                       -1,
		"env sh -c x":              -1,
		"bash --norc x":            -1,
	} {
		line, _ := action.ParseLine(text)
		if got := action.Script(line.Words); got != want {
			t.Errorf("%q: got %d", text, got)
		}
	}
}

func TestValuesOfDirectivesAreNotSplit(t *testing.T) {
	t.Parallel()
	pieces, problems := action.ParsePieces(`{workspace_root}/a 'b' {{dir}}`)
	if got := show([]action.Word{{Pieces: pieces}}); got != "<>/a 'b' <dir>" || len(problems) > 0 {
		t.Errorf("got %q, %v", got, problems)
	}
	if _, problems := action.ParsePieces("/a/{{b c}}"); len(problems) != 1 || problems[0].Offset != 3 {
		t.Errorf("got %v", problems)
	}
	if got := show([]action.Word{{Pieces: action.ParseExport("{{x}} {workspace_root}")}}); got != "{{x}} <>" {
		t.Errorf("got %q", got)
	}
	if got := action.ParseExport(""); len(got) != 1 || *got[0].Lit != "" {
		t.Errorf("got %v", got)
	}
}

// actions 18
func TestAQuotedRenderingSplitsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z '"$|>{}\t\n;é\\-]{0,8}`), 1, 6).Draw(t, "words")
		words[0] = "x" + words[0]
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, quote(w))
		}
		line, problems := action.ParseLine(strings.Join(quoted, " "))
		var got []string
		for _, w := range line.Words {
			text, literal := w.Literal()
			if !literal {
				t.Fatalf("not literal: %v", w)
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(words, got); diff != "" || len(problems) > 0 {
			t.Fatal(diff, problems)
		}
	})
}

// quote writes a word so that it splits back to itself: each `'` in double quotes, all else in single ones, and `{{`
// apart from itself, because no quote hides it.
func quote(w string) string {
	var b strings.Builder
	b.WriteString("''")
	for _, r := range w {
		if r == '\'' {
			b.WriteString(`"'"`)
		} else {
			b.WriteString("'" + string(r) + "'")
		}
	}
	return b.String()
}

func FuzzParseLine(f *testing.F) {
	run := regexp.MustCompile(`run "+(.*?)"+`)
	files, err := filepath.Glob("../awl/testdata/*/*.awl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range run.FindAllStringSubmatch(string(src), -1) {
			f.Add(m[1])
		}
	}
	f.Add("{{x}} {{ y z }} '{{' \"")
	f.Fuzz(func(t *testing.T, text string) {
		line, problems := action.ParseLine(text)
		if len(line.Words) != len(line.Starts) || len(line.Words) != len(line.Quoted) {
			t.Fatalf("%d words, %d starts, %d quoted", len(line.Words), len(line.Starts), len(line.Quoted))
		}
		last := -1
		for i, w := range line.Words {
			if len(w.Pieces) == 0 || line.Starts[i] <= last {
				t.Fatalf("word %d of %q at %d after %d: %v", i, text, line.Starts[i], last, w)
			}
			last = line.Starts[i]
			line.ShellSyntax(i)
		}
		for _, p := range problems {
			if p.Offset < 0 || p.Offset > len(text) {
				t.Fatalf("problem at %d of %d", p.Offset, len(text))
			}
		}
		if len(problems) == 0 && len(line.Words) == 0 {
			t.Fatal("no word and no problem")
		}
		action.Script(line.Words)
	})
}
