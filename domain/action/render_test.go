package action_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aion/domain/action"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func runBody(command string) action.Body {
	return action.Body{Run: &action.RunBody{Command: command, Capture: action.CaptureText}}
}

// param reads `name`, `name?`, `name*` (a list), `name*?` and `name!` (a record).
func param(s string) action.Param {
	p := action.Param{Kind: action.KindScalar}
	s, p.Optional = strings.CutSuffix(s, "?")
	if s2, list := strings.CutSuffix(s, "*"); list {
		s, p.Kind = s2, action.KindList
	}
	if s2, other := strings.CutSuffix(s, "!"); other {
		s, p.Kind = s2, action.KindOther
	}
	p.Name = s
	return p
}

func params(names ...string) []action.Param {
	var all []action.Param
	for _, n := range names {
		all = append(all, param(n))
	}
	return all
}

// render gives the lines as `a|b / c`, or the code of the refusal.
func render(t *testing.T, b action.Body, ps []action.Param, input string) string {
	t.Helper()
	in, f := action.ParseInput(json.RawMessage(input))
	if f != nil {
		return f.Code
	}
	p, f := action.Prepare(b, ps)
	if f != nil {
		return f.Code
	}
	c, f := p.Render(in, action.World{Root: "/srv/ws", Env: []string{"PATH=/bin"}})
	if f != nil {
		if f.Class != action.Terminal || len(f.Message) < 20 {
			t.Errorf("%s without a remedy: %+v", f.Code, f)
		}
		return f.Code
	}
	var lines []string
	for _, argv := range c.Lines {
		lines = append(lines, strings.Join(argv, "|"))
	}
	return strings.Join(lines, " / ")
}

// actions 14
func TestAnInputThatIsNoObjectIsNamed(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"[1,2]": "an array", `"text"`: "a string", "3": "a number", " null ": "`null`", "true": "a boolean",
	} {
		if _, f := action.ParseInput(json.RawMessage(input)); f == nil || f.Code != action.CodeInputNotObject || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v", input, f)
		}
	}
	for _, input := range []string{"", "{", "{} x", "\x00"} {
		if _, f := action.ParseInput(json.RawMessage(input)); f == nil || f.Code != action.CodeInputNotJSON {
			t.Errorf("%s: %v", input, f)
		}
	}
}

// actions 20, 25
func TestValuesBecomeWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, params, input, want string }{
		{"echo {{x}}", "x", `{"x":"a b'\"$;\n|"}`, "echo|a b'\"$;\n|"},
		{"echo {{x}}", "x", `{"x":""}`, "echo|"},
		{"echo {{x}}", "x", `{"x":12345678901234567890.50}`, "echo|12345678901234567890.50"},
		{"echo {{x}} {{y}}", "x y", `{"x":true,"y":false}`, "echo|true|false"},
		{"echo -- {{x}}", "x", `{"x":-1}`, "echo|--|-1"},
		{"echo {{x}} end", "x*", `{"x":["a",1,true,"-b"]}`, "echo|a|1|true|-b|end"},
		{"echo {{x}} end", "x*", `{"x":[]}`, "echo|end"},
		{"echo {{x}} end", "x?", `{}`, "echo|end"},
		{"echo {{x}} end", "x?", `{"x":null}`, "echo|end"},
		{"echo {{x}} end", "x*?", `{}`, "echo|end"},
		{"echo {{x}} end", "x?", `{"x":"v"}`, "echo|v|end"},
		{"echo --x={{x}}-{{y}}", "x y", `{"x":"{{y}}","y":"b"}`, "echo|--x={{y}}-b"},
		{"echo {workspace_root}/{{x}}", "x", `{"x":"a/b"}`, "echo|/srv/ws/a/b"},
		{"echo x", "x unused!", `{"x":1,"unused":{}}`, "echo|x"},
		{"echo {{x}}", "x", `{}`, action.CodeValueAbsent},
		{"echo {{x}}", "x", `{"x":null}`, action.CodeValueAbsent},
		{"echo {{x}}", "x*", `{}`, action.CodeValueAbsent},
		{"echo {{x}}", "x", `{"x":["a"]}`, action.CodeShapeMismatch},
		{"echo {{x}}", "x", `{"x":{"a":1}}`, action.CodeShapeMismatch},
		{"echo {{x}}", "x*", `{"x":"a"}`, action.CodeShapeMismatch},
		{"echo {{x}}", "x*", `{"x":[["a"]]}`, action.CodeShapeMismatch},
		{"echo {{x}}", "x*", `{"x":[null]}`, action.CodeShapeMismatch},
		{"echo {{x}}", "x", `{"x":"a","y":1}`, action.CodeArgumentUndeclared},
		{"echo {{x}}", "x", `{"x":"a\u0000b"}`, action.CodeNulInValue},
		{"echo {{x}}", "x*", `{"x":["a\u0000b"]}`, action.CodeNulInValue},
		{"echo 'x", "", `{}`, action.CodeBodyUnparsable},
		{"{{x}}", "x", `{"x":"ls"}`, action.CodeBodyUnparsable},
		{"echo {{y}}", "x", `{"x":"a"}`, action.CodeBodyUnparsable},
		{"echo {{x}}", "x!", `{"x":{}}`, action.CodeBodyUnparsable},
		{"echo a{{x}}", "x*", `{"x":[]}`, action.CodeBodyUnparsable},
		{"echo a{{x}}", "x?", `{"x":"v"}`, action.CodeBodyUnparsable},
		{"echo a\x00b", "", `{}`, action.CodeBodyUnparsable},
	} {
		if got := render(t, runBody(c.command), params(strings.Fields(c.params)...), c.input); got != c.want {
			t.Errorf("%s with %s: got %s", c.command, c.input, got)
		}
	}
	if got := render(t, action.Body{}, nil, "{}"); got != action.CodeBodyUnparsable {
		t.Errorf("got %s", got)
	}
}

func command(t *testing.T, params []action.Parameter, lines ...string) action.Body {
	t.Helper()
	r := action.Recipe{Name: "build", Params: params}
	for _, l := range lines {
		line, problems := action.ParseLine(l)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		r.Lines = append(r.Lines, line.Plain())
	}
	return action.Body{Command: &action.CommandBody{Capture: action.CaptureText, Command: r}}
}

// actions 19, 25
func TestACommandBindsItsParametersAndDefaults(t *testing.T) {
	t.Parallel()
	author := "aion bot"
	b := command(t, []action.Parameter{
		{Name: "a", Kind: action.KindOne, Default: &author},
		{Name: "xs", Kind: action.KindList},
		{Name: "ys", Kind: action.KindList1},
	}, "git {{a}} {{xs}}", "git x-{{a}} {{ys}}")
	ps := params("a?", "xs*", "ys*", "more")
	for input, want := range map[string]string{
		`{"a":"x","xs":["1"],"ys":["2"]}`:   "git|x|1 / git|x-x|2",
		`{"xs":[],"ys":["2"],"more":"z"}`:   "git|aion bot / git|x-aion bot|2",
		`{"a":null,"xs":[],"ys":["2","3"]}`: "git|aion bot / git|x-aion bot|2|3",
		`{"xs":[],"ys":[]}`:                 action.CodeValueAbsent,
		`{"xs":[]}`:                         action.CodeValueAbsent,
		`{"ys":["2"]}`:                      action.CodeValueAbsent,
		`{"a":"-x","xs":[],"ys":["2"]}`:     action.CodeLeadingDash,
		`{"a":["x"],"xs":[],"ys":["2"]}`:    action.CodeShapeMismatch,
		`{"b":"x","xs":[],"ys":["2"]}`:      action.CodeArgumentUndeclared,
	} {
		if got := render(t, b, ps, input); got != want {
			t.Errorf("%s: got %s", input, got)
		}
	}
}

func TestDirectivesOfACommandAreRendered(t *testing.T) {
	t.Parallel()
	b := command(t, []action.Parameter{{Name: "dir", Kind: action.KindOne}}, "pwd")
	b.Command.Command.Cwd, _ = action.ParsePieces("{workspace_root}/{{dir}}")
	b.Command.Command.Env = []action.EnvVar{{Name: "PATH", Value: "/opt/bin"}, {Name: "W", Value: "{workspace_root}/{{dir}}"}}
	p, f := action.Prepare(b, params("dir"))
	if f != nil {
		t.Fatal(f)
	}
	if anywhere, inWords := p.UsesRoot(); !anywhere || inWords {
		t.Errorf("uses root: %v, in words: %v", anywhere, inWords)
	}
	if path, ok := p.Path("/ws"); !ok || path != "/opt/bin" {
		t.Errorf("path %q", path)
	}
	c, f := p.Render(action.Input{"dir": json.RawMessage(`"a b"`)}, action.World{Root: "/ws", Env: []string{"PATH=/bin", "K=1"}})
	if f != nil {
		t.Fatal(f)
	}
	want := action.Command{
		Name: "build", Lines: [][]string{{"pwd"}}, Dir: "/ws/a b",
		Env: []string{"K=1", "PATH=/opt/bin", "W=/ws/{{dir}}"}, Capture: action.CaptureText,
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	for name, broken := range map[string]func(*action.Recipe){
		"relative cwd":  func(r *action.Recipe) { r.Cwd, _ = action.ParsePieces("src") },
		"no lines":      func(r *action.Recipe) { r.Lines = nil },
		"an empty line": func(r *action.Recipe) { r.Lines = [][]action.Word{{}} },
		"list in cwd":   func(r *action.Recipe) { r.Params[0].Kind = action.KindList },
		"reserved":      func(r *action.Recipe) { r.Env[0].Name = "AION_X" },
		"no variable":   func(r *action.Recipe) { r.Env[0].Name = "A=B" },
	} {
		r := b.Command.Command
		r.Params, r.Env = slices.Clone(r.Params), slices.Clone(r.Env)
		broken(&r)
		_, f := action.Prepare(action.Body{Command: &action.CommandBody{Command: r}}, params("dir"))
		if f == nil || f.Code != action.CodeBodyUnparsable {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// actions 21
func TestAValueCannotBecomeAnOption(t *testing.T) {
	t.Parallel()
	for commandText, want := range map[string]string{
		"git clone {{url}}":            action.CodeLeadingDash,
		"git clone '{{url}}'":          action.CodeLeadingDash,
		"git clone {{url}}.git":        action.CodeLeadingDash,
		"git clone {{empty}}{{url}}":   action.CodeLeadingDash,
		"git clone -- {{url}}":         "git|clone|--|--upload-pack=x",
		"git clone {{url}} --":         action.CodeLeadingDash,
		"git clone {{dashes}} {{url}}": action.CodeLeadingDash,
		"git clone --url={{url}}":      "git|clone|--url=--upload-pack=x",
		"git clone ./{{url}}":          "git|clone|./--upload-pack=x",
		"sh -c 'git clone' sh {{url}}": "sh|-c|git clone|sh|--upload-pack=x",
		"/bin/sh -ec 'x' sh {{url}}":   "/bin/sh|-ec|x|sh|--upload-pack=x",
		"sh -c {{url}}":                action.CodeLeadingDash,
		"sh script {{url}}":            action.CodeLeadingDash,
		"env sh -c 'x' {{url}}":        action.CodeLeadingDash,
		"git clone {{list}}":           "git|clone|-x",
	} {
		got := render(t, runBody(commandText), params("url", "dashes", "list*", "empty"),
			`{"url":"--upload-pack=x","dashes":"--","list":["-x"],"empty":""}`)
		if got != want {
			t.Errorf("%s: got %s", commandText, got)
		}
	}
	if got := render(t, command(t, []action.Parameter{{Name: "url", Kind: action.KindOne}}, "echo --", "git clone {{url}}"), params("url"),
		`{"url":"-x"}`); got != action.CodeLeadingDash {
		t.Errorf("`--` of another line counted: %s", got)
	}
}

// actions 19
func TestAPathStaysBelowTheWorkspaceRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, x, want string }{
		{"ls {workspace_root}/{{x}}", "a/b", "ls|/srv/ws/a/b"},
		{"ls {workspace_root}/{{x}}", "/etc", "ls|/srv/ws//etc"},
		{"ls {workspace_root}/{{x}}", "a..b/..c", "ls|/srv/ws/a..b/..c"},
		{"ls {workspace_root}/{{x}}", "../x", action.CodePathTraversal},
		{"ls {workspace_root}/{{x}}", "a/../b", action.CodePathTraversal},
		{"ls {workspace_root}/{{x}}", "..", action.CodePathTraversal},
		{"ls {workspace_root}/.{{x}}", ".", action.CodePathTraversal},
		{"ls {workspace_root}/a/.{{x}}", ".", "ls|/srv/ws/a/.."},
		{"ls {workspace_root}{{x}}", ".bak", action.CodePathTraversal},
		{"ls {workspace_root}{{x}}", "/a", "ls|/srv/ws/a"},
		{"ls {workspace_root}/../{{x}}", "a", action.CodePathTraversal},
		{"ls {workspace_root}/a/../b", "", "ls|/srv/ws/a/../b"},
		{"docker -v {workspace_root}:/work {{x}}", "a", "docker|-v|/srv/ws:/work|a"},
		{"ls --dir={workspace_root}/{{x}}", "../..", action.CodePathTraversal},
		{"ls /srv/{{x}}", "../..", "ls|/srv/../.."},
	} {
		input, err := json.Marshal(map[string]string{"x": c.x})
		if err != nil {
			t.Fatal(err)
		}
		if got := render(t, runBody(c.command), params("x"), string(input)); got != c.want {
			t.Errorf("%s with %s: got %s", c.command, c.x, got)
		}
	}
	b := command(t, []action.Parameter{{Name: "x", Kind: action.KindOne}}, "pwd")
	b.Command.Command.Cwd, _ = action.ParsePieces("/srv/{{x}}")
	if got := render(t, b, params("x"), `{"x":"a/../../etc"}`); got != action.CodePathTraversal {
		t.Errorf("got %s", got)
	}
}

// actions 19, 22
func TestSizesAreBoundedBeforeTheSpawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, count int
		want        string
	}{
		{131071, 1, ""},
		{131072, 1, action.CodeArgumentTooLarge},
		{130000, 9, action.CodeArgumentsTooLarge},
		{0, 150000, action.CodeArgumentsTooLarge},
		{100000, 10, ""},
	} {
		list := make([]string, c.count)
		for i := range list {
			list[i] = strings.Repeat("x", c.size)
		}
		input, err := json.Marshal(map[string]any{"x": list})
		if err != nil {
			t.Fatal(err)
		}
		got := render(t, runBody("echo {{x}}"), params("x*"), string(input))
		if c.want == "" && !strings.HasPrefix(got, "echo|x") || c.want != "" && got != c.want {
			t.Errorf("%d times %d: got %s", c.count, c.size, got[:min(len(got), 60)])
		}
	}
}

// actions 20
func TestTheNumberOfWordsDoesNotDependOnValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "'b c'", "{{x}}", "p-{{x}}-{{y}}", "--", "'{{y}}'", "{workspace_root}/q"}), 0, 8).
			Draw(t, "words")
		text := "echo -- " + strings.Join(words, " ")
		values := rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.String(), 2, 2).Draw(t, "values")
		in, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		input, f := action.ParseInput(in)
		if f != nil {
			t.Fatal(f)
		}
		p, f := action.Prepare(runBody(text), params("x", "y"))
		if f != nil {
			t.Fatal(f)
		}
		c, f := p.Render(input, action.World{Root: "/ws"})
		if f != nil {
			if f.Code != action.CodeNulInValue {
				t.Fatal(f)
			}
			return
		}
		if got := len(c.Lines[0]); got != len(words)+2 {
			t.Fatalf("%q became %d words", text, got)
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add("echo {{x}} '{{y}}' {{l}} {workspace_root}/{{x}}", `{"x":"a","y":"-b","l":["c",1]}`)
	f.Add("sh -c '{{x}}' {{y}}", `{"x":1,"y":null}`)
	f.Fuzz(func(t *testing.T, text, input string) {
		in, failure := action.ParseInput(json.RawMessage(input))
		if failure != nil {
			return
		}
		p, failure := action.Prepare(runBody(text), params("x", "y?", "l*"))
		if failure != nil {
			if failure.Code != action.CodeBodyUnparsable {
				t.Fatal(failure)
			}
			return
		}
		c, failure := p.Render(in, action.World{Root: "/ws", Env: []string{"PATH=/bin"}})
		if failure != nil {
			return
		}
		line, _ := action.ParseLine(text)
		want := 0
		for _, w := range line.Words {
			switch name, whole := w.WholeHole(); {
			case whole && name == "l":
				var l []json.RawMessage
				if err := json.Unmarshal(in["l"], &l); err != nil {
					t.Fatal(err)
				}
				want += len(l)
			case whole && name == "y" && (in["y"] == nil || string(in["y"]) == "null"):
			default:
				want++
			}
		}
		if len(c.Lines) != 1 || len(c.Lines[0]) != want {
			t.Fatalf("%q with %q: %d words instead of %d", text, input, len(c.Lines[0]), want)
		}
		for _, word := range c.Lines[0] {
			if strings.ContainsRune(word, 0) {
				t.Fatal("NUL in a word")
			}
		}
	})
}

// actions 9, 10, 11
func TestTheWorkspaceRootIsJudged(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{
		"/srv/a$b": "", "/srv/a b": action.CodeRootShape, "/srv/{x}": action.CodeRootShape, "/srv/a\\b": action.CodeRootShape,
		"/srv/'": action.CodeRootShape, "/srv/\"": action.CodeRootShape, "/srv/`": action.CodeRootShape, "/srv/a}": action.CodeRootShape, "/srv/\n": action.CodeRootShape, "/srv/\u00a0": action.CodeRootShape, "/srv/\x07": action.CodeRootShape,
		"srv": action.CodeRootNotAbsolute, "": action.CodeRootNotAbsolute, "/srv/\xff": action.CodeRootNotUTF8, "/srv/\x00": action.CodeRootNotUTF8,
	} {
		got := ""
		if f := action.RootFailure("go", root, true); f != nil {
			got = f.Code
			if !strings.Contains(f.Message, "`go`") {
				t.Errorf("%q: the action is not named: %s", root, f.Message)
			}
		}
		if got != want {
			t.Errorf("%q: got %q", root, got)
		}
		if f := action.RootFailure("go", root, false); f != nil && f.Code == action.CodeRootShape {
			t.Errorf("%q: the shape matters where nothing parses", root)
		}
	}
	if f := action.RootFailure("go", "/srv/{x}", true); !strings.Contains(f.Message, "would change the parsed shape") {
		t.Error(f.Message)
	}
	if f := action.RootUnresolved("go", "cannot resolve Aion home: set AION_HOME or HOME"); !strings.HasSuffix(f.Error(), "set AION_HOME or HOME") {
		t.Error(f.Error())
	}
	if f := action.RootCreation("go", "/x", fmt.Errorf("not a directory")); !strings.Contains(f.Message, "could not be created: not a directory") {
		t.Error(f.Message)
	}
}
