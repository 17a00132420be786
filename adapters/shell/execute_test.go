package shell_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/domain/action"
	"aion/ports"

	"github.com/google/go-cmp/cmp"
)

func with(e ports.Execution, input string, params ...action.Param) ports.Execution {
	e.Params, e.Dispatch.Input = params, json.RawMessage(input)
	return e
}

func scalar(name string) action.Param { return action.Param{Name: name, Kind: action.KindScalar} }

// recipe is an execution of `runs command` with the given lines.
func recipe(t *testing.T, capture action.Capture, lines ...string) ports.Execution {
	t.Helper()
	e := run("")
	r := action.Recipe{Name: "build"}
	for _, l := range lines {
		line, problems := action.ParseLine(l)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		r.Lines = append(r.Lines, line.Plain())
	}
	e.Body = action.Body{Command: &action.CommandBody{Capture: capture, Command: r}}
	return e
}

// actions 2
func TestABodyRunsAndItsOutputIsTheResult(t *testing.T) {
	t.Parallel()
	x := open(t)
	e := with(run("echo {{greeting}}"), `{"greeting":"hello  'world' $HOME ; x"}`, scalar("greeting"))
	want := `completed:{"exit_code":0,"stdout":"hello  'world' $HOME ; x","stderr":""}`
	if got := execute(t, x, e); got != want {
		t.Errorf("got %s", got)
	}
}

// actions 4
func TestLinesOfBothStreamsReachTheTranscript(t *testing.T) {
	t.Parallel()
	x, rec := open(t), &recorder{}
	got := text(x.Execute(t.Context(), run(`sh -c 'echo one; echo two; echo warned >&2'`), rec))
	if want := `completed:{"exit_code":0,"stdout":"one\ntwo","stderr":"warned"}`; got != want {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff([]string{"one", "two"}, rec.texts("command stdout")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"warned"}, rec.texts("command stderr")); diff != "" {
		t.Error(diff)
	}
}

// actions 5
func TestAnExitCodeIsARetryableFailureWithTheStandardError(t *testing.T) {
	t.Parallel()
	x := open(t)
	v := x.Execute(t.Context(), run(`sh -c 'echo boom >&2; exit 7'`), nil)
	f, ok := v.(action.Failed)
	if !ok || !strings.HasPrefix(f.Error(), "retryable:exited with code 7: ") || !strings.Contains(f.Message, "boom") {
		t.Errorf("got %s", text(v))
	}
	want := `{"exit_code":7,"program":"sh","stderr_bytes":5,"stdout_bytes":0}`
	if got := string(f.Details); got != want {
		t.Errorf("details %s", got)
	}
}

// actions 57
func TestASignalIsInTheDetails(t *testing.T) {
	t.Parallel()
	x := open(t)
	f, _ := x.Execute(t.Context(), run(`sh -c 'kill -9 $$'`), nil).(action.Failed)
	if f.Code != action.CodeExitSignal || f.Class != action.Retryable ||
		!strings.Contains(string(f.Details), `"exit_code":137,"signal":9`) {
		t.Errorf("got %s %s", text(f), f.Details)
	}
}

// actions 8, 9, 10, 11, 12
func TestTheWorkspaceRootIsMadeOrRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ root, reason, body, want string }{
		"made":        {filepath.Join(base, "a", "b"), "", "echo {workspace_root}", filepath.Join(base, "a", "b")},
		"dollar":      {filepath.Join(base, "$x"), "", "echo {workspace_root}", filepath.Join(base, "$x")},
		"unresolved":  {"", "cannot resolve Aion home: set AION_HOME or HOME", "echo {workspace_root}", "terminal:action `go` uses {workspace_root}, which is not known: cannot resolve Aion home"},
		"brace":       {filepath.Join(base, "{x}"), "", "echo {workspace_root}", "would change the parsed shape"},
		"below file":  {filepath.Join(file, "x"), "", "echo {workspace_root}", "could not be created"},
		"relative":    {"clones", "", "echo {workspace_root}", "workspace_root_not_absolute"},
		"empty":       {"", "", "echo {workspace_root}", "which is not known: `actions.workspace_root` is empty; set it"},
		"not used":    {"", "no home", "echo fine", "fine"},
		"hole of the": {"", "no home", "echo {{workspace_root}}", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logged := &journal{}
			x := open(t, logged.keep, func(o *shell.Options) { o.WorkspaceRoot, o.WorkspaceRootReason = c.root, c.reason })
			e := run(c.body)
			if strings.Contains(c.body, "{{") {
				e = with(e, `{"workspace_root":"v"}`, scalar("workspace_root"))
			}
			if got := execute(t, x, e); !strings.Contains(got, c.want) {
				t.Errorf("got %s", got)
			}
			line := logged.line(t, e.Dispatch.Key, "workspace root expanded")
			if expands := name == "made" || name == "dollar"; expands && (line["level"] != "INFO" || line["root"] != c.root || line["action"] != "go") ||
				!expands && line != nil {
				t.Errorf("logged %v", line)
			}
			if name == "made" {
				if info, err := os.Stat(c.root); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%v, %v", info, err)
				}
			}
		})
	}
}

// actions 14, 17
func TestTheFirstDefectOfADispatchIsReported(t *testing.T) {
	t.Parallel()
	var booted atomic.Bool
	settings := func(o *shell.Options) { o.WorkspaceRoot, o.AllowedPrograms = "", []string{"true"} }
	sound := open(t, settings)
	// What keeps a command from being started is the last of all defects.
	ungranted := open(t, settings, func(o *shell.Options) {
		o.Env = []shell.Grant{{Name: "TOKEN", FromEnv: "TOKEN", Queues: []string{"tools"}}}
		o.LookupEnv = func(string) (string, bool) { return "", !booted.Load() }
	})
	booted.Store(true)
	if got := execute(t, ungranted, run("true")); !strings.HasPrefix(got, "spawn_failed retryable:the variable `TOKEN`") {
		t.Errorf("without a defect: %s", got)
	}
	for name, c := range map[string]struct{ body, input, want string }{
		"not json":   {"echo '{workspace_root}", `{`, action.CodeInputNotJSON},
		"not object": {"echo '{workspace_root}", `[1]`, action.CodeInputNotObject},
		"root":       {"echo '{workspace_root}", `{"x":1}`, action.CodeRootUnresolved},
		"unparsable": {"echo 'x", `{"x":1}`, action.CodeBodyUnparsable},
		"program":    {"echo x", `{"x":1}`, action.CodeProgramNotAllowed},
		"values":     {"true", `{"x":1}`, action.CodeArgumentUndeclared},
	} {
		for _, x := range []*shell.Executor{sound, ungranted} {
			if got := execute(t, x, with(run(c.body), c.input)); !strings.HasPrefix(got, c.want+" ") {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
}

// actions 23
func TestLinesOfACommandRunInSequenceUntilOneFails(t *testing.T) {
	t.Parallel()
	x, rec := open(t), &recorder{}
	e := recipe(t, action.CaptureText, "echo one", "sh -c 'echo bad >&2; exit 2'", "echo never")
	if got := text(x.Execute(t.Context(), e, rec)); got !=
		"exit_nonzero retryable:command `build` line 2 of 3 (`sh`) exited with code 2: bad" {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff([]string{"one"}, rec.texts("command stdout (line 1 of 3)")); diff != "" {
		t.Error(diff)
	}
	e = recipe(t, action.CaptureLines, "echo one", "printf two", "echo three")
	if got := execute(t, x, e); got != `completed:["one","twothree"]` {
		t.Errorf("got %s", got)
	}
}

// actions 26
func TestTheEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Parallel()
	x := open(t)
	e := recipe(t, action.CaptureLines, "env")
	e.Body.Command.Command.Env = []action.EnvVar{{Name: "GREETING", Value: "{{x}} in {workspace_root}"}}
	path := os.Getenv("PATH")
	want, _ := json.Marshal([]string{"PATH=" + path, "AION_ACTIVITY_KEY=" + e.Dispatch.Key.ActivityKey()}) // strings only
	got := execute(t, x, e)
	if !strings.HasPrefix(got, "completed:"+strings.TrimSuffix(string(want), "]")) || !strings.Contains(got, `,"GREETING={{x}} in /`) ||
		strings.Count(got, "=") != 3 {
		t.Errorf("got %s", got)
	}
}

// actions 27
func TestNothingWaitsForInput(t *testing.T) {
	t.Parallel()
	x := open(t)
	if got := execute(t, x, run("cat", action.CaptureText)); got != `completed:""` {
		t.Errorf("cat: %s", got)
	}
	if got := execute(t, x, run(`sh -c 'echo x > /dev/tty'`)); !strings.HasPrefix(got, "exit_nonzero") {
		t.Errorf("tty: %s", got)
	}
}

// actions 28, 30
func TestACommandGetsThreeDescriptorsAndNoIgnoredSignal(t *testing.T) {
	t.Parallel()
	x := open(t)
	// ls itself opens the directory as 3.
	if got := execute(t, x, run("ls /proc/self/fd", action.CaptureLines)); got != `completed:["0","1","2","3"]` {
		t.Errorf("descriptors: %s", got)
	}
	got := execute(t, x, run("grep -E ^Sig(Ign|Blk) /proc/self/status", action.CaptureLines))
	if got != `completed:["SigBlk:\t0000000000000000","SigIgn:\t0000000000000000"]` {
		t.Errorf("signals: %s", got)
	}
	got = execute(t, x, run(`sh -c 'umask; ulimit -c; ulimit -n; ls -A; stat -c %a .'`, action.CaptureLines))
	if got != `completed:["0022","0","512","700"]` {
		t.Errorf("limits: %s", got)
	}
	// A supervisor's own threads may sleep late, its commands sleep as they would anywhere.
	if got := execute(t, x, run("cat /proc/self/timerslack_ns", action.CaptureText)); got != `completed:"50000"` {
		t.Errorf("timer slack: %s", got)
	}
}

// actions 3.1, 34: the directory of an attempt is removed after its verdict, also while its supervisor waits for the next one.
func TestTheDirectoryOfAnAttemptGoes(t *testing.T) {
	t.Parallel()
	var home string
	x := open(t, func(o *shell.Options) { home = o.Home })
	for _, command := range []string{"true", "touch f", "false"} {
		execute(t, x, run(command))
		eventually(t, "no directory is left", func() bool {
			left, err := os.ReadDir(filepath.Join(home, "scratch"))
			return err == nil && len(left) == 0
		})
	}
}

// actions 29, 57
func TestProgramsAreFoundOnThePathOfTheCommand(t *testing.T) {
	t.Parallel()
	x, dir := open(t), t.TempDir()
	write(t, filepath.Join(dir, "only-here"), "#!/bin/sh\necho found\n", 0o700)
	write(t, filepath.Join(dir, "no-interpreter"), "#!/no/such/sh\n", 0o700)
	write(t, filepath.Join(dir, "not-executable"), "#!/bin/sh\n", 0o600)
	write(t, filepath.Join(dir, "no-format"), "hello\n", 0o700)
	e := recipe(t, action.CaptureText, "only-here")
	e.Body.Command.Command.Env = []action.EnvVar{{Name: "PATH", Value: dir + ":/usr/bin:/bin"}}
	if got := execute(t, x, e); got != `completed:"found"` {
		t.Errorf("got %s", got)
	}
	for program, want := range map[string]string{
		"only-here":             "spawn_failed terminal:`only-here` could not be started: ENOENT",
		dir + "/no-interpreter": "ENOENT",
		dir + "/no-format":      "ENOEXEC",
		"./only-here":           "must be an absolute path",
		"/":                     "EACCES",
		"/etc/passwd/x":         "ENOTDIR",
	} {
		got := execute(t, x, run(program))
		if !strings.HasPrefix(got, "spawn_failed terminal:") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", program, got)
		}
	}
}

// actions 29: the first regular executable file wins; what is relative would mean another directory each time.
func TestTheFirstExecutableOnThePathWins(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"directory", "plain", "first", "second"} {
		mkdir(t, dir(name))
	}
	mkdir(t, filepath.Join(dir("directory"), "tool"))
	write(t, filepath.Join(dir("plain"), "tool"), "#!/bin/sh\n", 0o600)
	write(t, filepath.Join(dir("first"), "tool"), "#!/bin/sh\necho first\n", 0o700)
	write(t, filepath.Join(dir("second"), "tool"), "#!/bin/sh\necho second\n", 0o700)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, dir("first"))
	if err != nil {
		t.Fatal(err)
	}
	x := open(t)
	for path, want := range map[string]string{
		dir("missing") + ":" + dir("directory") + "::" + dir("plain") + ":" + dir("first") + ":" + dir("second"): `completed:"first"`,
		relative + ":" + dir("second"):      `completed:"second"`,
		relative:                            "spawn_failed terminal:command `build` line 1 of 1: `tool` could not be started: ENOENT",
		dir("plain"):                        "spawn_failed terminal:command `build` line 1 of 1: `tool` could not be started: EACCES",
		dir("directory"):                    "spawn_failed terminal:command `build` line 1 of 1: `tool` could not be started: EACCES",
		dir("plain") + ":" + dir("missing"): "spawn_failed terminal:command `build` line 1 of 1: `tool` could not be started: EACCES",
		"":                                  "spawn_failed terminal:command `build` line 1 of 1: `tool` could not be started: ENOENT",
	} {
		e := recipe(t, action.CaptureText, "tool")
		e.Body.Command.Command.Env = []action.EnvVar{{Name: "PATH", Value: path}}
		if got := execute(t, x, e); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	none := open(t, func(o *shell.Options) { o.Path = "" })
	if got := execute(t, none, run("env", action.CaptureText)); !strings.HasPrefix(got, `completed:"PATH=/usr/local/bin:/usr/bin:/bin\nAION_ACTIVITY_KEY=`) {
		t.Errorf("a server without a PATH: %s", got)
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// report 77
func TestMetacharactersArriveAsOneArgumentEach(t *testing.T) {
	t.Parallel()
	x := open(t)
	special := []string{"$", "`", ";", "|", "&", ">", "<", "*", "?", "~", "'", "\"", "\\", "\n", "\t", " ", "(", ")", "{{y}}", "{workspace_root}", "[", "!", "#", "%", "=", "-", "\r", "\x01", "é", "$(id)", "../"}
	var values []string
	for i := range 500 { // each begins with another one, and mixes them in another order
		var b strings.Builder
		for j := range 1 + i/len(special) {
			b.WriteString(special[(i+j*(i/len(special)+1))%len(special)])
		}
		values = append(values, b.String())
	}
	raw, err := json.Marshal(map[string]any{"words": values})
	if err != nil {
		t.Fatal(err)
	}
	e := with(run(`printf %s\0 {{words}}`, action.CaptureText), string(raw), action.Param{Name: "words", Kind: action.KindList})
	v, ok := x.Execute(t.Context(), e, nil).(action.Completed)
	var got string
	if !ok || json.Unmarshal(v.Result, &got) != nil {
		t.Fatalf("got %s", text(v))
	}
	if diff := cmp.Diff(strings.Join(values, "\uFFFD")+"\uFFFD", got); diff != "" {
		t.Error(diff)
	}
}

// actions 78
func TestTheAllowListDecidesByNameAndByRealPath(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "inner"), "#!/bin/sh\necho inner\n", 0o700)
	write(t, filepath.Join(outside, "outer"), "#!/bin/sh\necho outer\n", 0o700)
	if err := os.Symlink(filepath.Join(outside, "outer"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	x := open(t, func(o *shell.Options) {
		o.Path, o.AllowedPrograms = dir+":/usr/bin:/bin", []string{"inner", "link", filepath.Join(outside, "outer"), "absent"}
		o.ProgramDirs = []string{dir}
	})
	for program, want := range map[string]string{
		"inner":                         `completed:"inner"`,
		filepath.Join(outside, "outer"): `completed:"outer"`,
		filepath.Join(dir, "inner"):     "program_not_allowed policy_refused:",
		"sh":                            "program_not_allowed policy_refused:program `sh` is not admitted by `actions.allowed_programs`",
		"absent":                        "spawn_failed terminal:",
	} {
		if got := execute(t, x, run(program, action.CaptureText)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", program, got)
		}
	}
	// By name a link that leads outside is refused, were its target not listed by path.
	x = open(t, func(o *shell.Options) {
		o.Path, o.AllowedPrograms, o.ProgramDirs = dir, []string{"link"}, []string{dir}
	})
	if got := execute(t, x, run("link")); !strings.HasPrefix(got, "program_not_allowed") {
		t.Errorf("link: %s", got)
	}
}

// actions 78: a line may change what the name of the next one means; what is judged is what is then executed. A listed program that
// is refused is told the name that would do.
func TestAListedNameIsJudgedWhenItsLineStarts(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "program", "link"} {
		dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outer")
		write(t, outside, "#!/bin/sh\necho outer\n", 0o700)
		inner := filepath.Join(dir, "inner")
		switch before {
		case "program":
			write(t, inner, "#!/bin/sh\necho inner\n", 0o700)
		case "link":
			if err := os.Symlink(outside, inner); err != nil {
				t.Fatal(err)
			}
		}
		x := open(t, func(o *shell.Options) {
			o.Path, o.AllowedPrograms, o.ProgramDirs = dir+":/usr/bin:/bin", []string{"inner", "ln", "echo"}, []string{dir, "/usr/bin"}
		})
		rec := &recorder{}
		e := recipe(t, action.CaptureText, "echo first", "ln -sf "+outside+" "+inner, "inner", "echo last")
		got := text(x.Execute(t.Context(), e, rec))
		if !strings.HasPrefix(got, "program_not_allowed policy_refused:") || !strings.Contains(got, "add its real path `"+outside+"` there") {
			t.Errorf("%q before: %s", before, got)
		}
		shown := strings.Join(append(rec.texts("command stdout (line 1 of 4)"), rec.texts("command stdout (line 3 of 4)")...), " ")
		if want := map[bool]string{true: "", false: "first"}[before == "link"]; shown != want {
			t.Errorf("%q before: shown %q", before, shown)
		}
	}
}

// actions 22
func TestTheLargestArgumentsArrive(t *testing.T) {
	t.Parallel()
	x := open(t)
	list := func(size, count int) string {
		raw, err := json.Marshal(map[string]any{"words": slices.Repeat([]string{strings.Repeat("x", size)}, count)})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, c := range []struct {
		size, count int
		want        string
	}{
		{131071, 1, "completed:\"131071\""},
		{131072, 1, "argument_too_large terminal:word 5"},
		{100000, 10, "completed:\"1000000\""},
		{1, 90000, "completed:\"90000\""},
		{131071, 8, "arguments_too_large terminal:"},
	} {
		e := with(run(`sh -c 'IFS=; printf %s "$*" | wc -c' sh {{words}}`, action.CaptureText), list(c.size, c.count),
			action.Param{Name: "words", Kind: action.KindList})
		if got := execute(t, x, e); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d times %d: got %.80s", c.count, c.size, got)
		}
	}
}

// actions 11: the time of a start is that of the start, also when the news of it waits for that of the end.
func TestTheTimeOfAStartIsNotThatOfTheCommand(t *testing.T) {
	t.Parallel()
	took := make(chan time.Duration, 2)
	x := open(t, func(o *shell.Options) { o.Spawned = func(d time.Duration) { took <- d } })
	// Half of what it runs: where the machine is busy, the news of a start may come later than that of the end.
	for command, runs := range map[string]time.Duration{"true": 0, "sleep 1": time.Second / 2} {
		began := time.Now()
		if got := execute(t, x, run(command)); !strings.HasPrefix(got, "completed:") {
			t.Error(got)
		}
		whole := time.Since(began)
		select {
		case d := <-took:
			if d <= 0 || d > whole-runs {
				t.Errorf("%s took %s and is said to have started after %s", command, whole, d)
			}
		default:
			t.Errorf("the start of %s was not told", command)
		}
	}
}
