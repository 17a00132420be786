package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aion/adapters/shell"
	"aion/domain/action"

	"github.com/google/go-cmp/cmp"
)

func lookupIn(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, there := values[name]
		return v, there
	}
}

// actions 26
func TestAGrantReachesTheCommandsOfItsQueuesAndIsReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write(t, file, "first\n", 0o600)
	x := open(t, func(o *shell.Options) {
		o.Env = []shell.Grant{
			{Name: "TOKEN", FromFile: file, Queues: []string{"other", "tools"}},
			{Name: "HOST", FromEnv: "H", Queues: []string{"tools"}},
			{Name: "ALIEN", FromEnv: "H", Queues: []string{"other"}},
		}
		o.LookupEnv = lookupIn(map[string]string{"H": "here"})
	})
	e := run(`sh -c 'echo $TOKEN $HOST $ALIEN'`, action.CaptureText)
	if got := execute(t, x, e); got != `completed:"first here"` {
		t.Errorf("got %s", got)
	}
	write(t, file, "second\n", 0o600)
	if got := execute(t, x, e); got != `completed:"second here"` {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	got := execute(t, x, e)
	if !strings.HasPrefix(got, "spawn_failed retryable:the variable `TOKEN`") || strings.Contains(got, file) {
		t.Errorf("got %s", got)
	}
}

func TestAGrantThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]shell.Grant{
		"no source": {Name: "A", Queues: []string{"q"}}, "two sources": {Name: "A", FromEnv: "A", FromFile: "f", Queues: []string{"q"}},
		"no queue": {Name: "A", FromEnv: "A"}, "PATH": {Name: "PATH", FromEnv: "A", Queues: []string{"q"}},
		"absent": {Name: "A", FromEnv: "ABSENT", Queues: []string{"q"}}, "no file": {Name: "A", FromFile: "/no/such", Queues: []string{"q"}},
		"too large": {Name: "A", FromEnv: "LARGE", Queues: []string{"q"}},
		"own":       {Name: "AION_X", FromEnv: "A", Queues: []string{"q"}}, "no name": {Name: "A=B", FromEnv: "A", Queues: []string{"q"}},
	} {
		o := options(t.TempDir())
		o.LookupEnv, o.Env = lookupIn(map[string]string{"A": "a", "LARGE": strings.Repeat("x", 131070)}), []shell.Grant{g}
		if _, err := shell.New(o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// actions 63
func TestASecretIsMaskedEverywhereAlsoAcrossWrites(t *testing.T) {
	t.Parallel()
	const secret, key = "hunter2-hunter2", "-----BEGIN-----\nMIIBabcdefgh\nshort\n-----END-----"
	x := open(t, func(o *shell.Options) {
		o.Env = []shell.Grant{
			{Name: "S", FromEnv: "S", Queues: []string{"tools"}, Secret: true},
			{Name: "K", FromEnv: "K", Queues: []string{"tools"}, Secret: true},
			{Name: "P", FromEnv: "P", Queues: []string{"tools"}, Secret: true},
			{Name: "W", FromEnv: "W", Queues: []string{"tools"}, Secret: true},
		}
		o.LookupEnv = lookupIn(map[string]string{"S": secret, "K": key, "P": "hunter2", "W": "line one\r\nline two\r\n"})
	})
	for command, want := range map[string]string{
		`sh -c 'echo "a $S b"; echo "$K"; echo "$P"'`:                                   `completed:"a *** b\n***\nhunter2"`,
		`sh -c 'printf "x hunter2-"; sleep 0.1; printf "hunter2"; sleep 0.1; printf y'`: `completed:"x ***y"`,
		`sh -c 'printf hunter2-h; sleep 0.1; echo other; printf hunter2-hunter'`:        `completed:"hunter2-hother\nhunter2-hunter"`,
		`sh -c 'echo "$K" | tail -n 3'`:                                                 `completed:"***\nshort\n***"`,
		`sh -c 'echo "$W" | tr -d "\\r"'`:                                               `completed:"***\n***"`,
		`sh -c 'printf "%s" "$W"'`:                                                      `completed:"***"`,
		`sh -c 'echo "no $S" >&2; exit 4'`:                                              "exit_nonzero retryable:exited with code 4: no ***",
		"/no/hunter2-hunter2":                                                           "spawn_failed terminal:`/no/***` could not be started",
	} {
		rec := &recorder{}
		v := x.Execute(t.Context(), run(command, action.CaptureText), rec)
		if got := text(v); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", command, got)
		}
		f, _ := v.(action.Failed)
		if all := strings.Join(append(rec.texts("command stdout"), rec.texts("command stderr")...), "\n") + string(f.Details); strings.Contains(all, secret) ||
			strings.Contains(all, "MIIB") {
			t.Errorf("%s: shown %s", command, all)
		}
	}
	rec := &recorder{}
	x.Execute(t.Context(), run(`sh -c 'printf "x hunter2-"; sleep 0.1; echo "hunter2"'`), rec)
	if diff := cmp.Diff([]string{"x ***"}, rec.texts("command stdout")); diff != "" {
		t.Error(diff)
	}
}

// actions 63: what lines print one after the other is one text in a result and in a failure.
func TestASecretThatSeveralLinesPrintIsMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	x := open(t, func(o *shell.Options) {
		o.Env = []shell.Grant{{Name: "S", FromEnv: "S", Queues: []string{"tools"}, Secret: true}}
		o.LookupEnv = lookupIn(map[string]string{"S": secret})
	})
	for want, lines := range map[string][]string{
		`completed:"a***b***"`:                      {"printf ahunter2-", "printf hunter2b", "sh -c 'printf $S'"},
		`completed:"***"`:                           {"printf h", "printf unter2", "true", "printf -- -hunter", "printf 2"},
		`completed:"hunter2-hunter"`:                {"printf hunter2", "printf -- -hunter"},
		"exit_nonzero retryable:command `build`":    {"sh -c 'printf hunter2- >&2'", "sh -c 'printf hunter2 >&2; exit 4'"},
		"exit_nonzero retryable:command `build` li": {"sh -c 'printf hunter2- >&2'", "sh -c 'printf \"hunter2 $S\" >&2; exit 4'", "true"},
	} {
		got := execute(t, x, recipe(t, action.CaptureText, lines...))
		if !strings.HasPrefix(got, want) || strings.Contains(got, secret) {
			t.Errorf("%v: got %s", lines, got)
		}
	}
}

// actions 63, 79: a secret may be like anything that a failure says, and what is recorded stays readable.
func TestASecretIsNoPartOfTheFormOfAFailure(t *testing.T) {
	t.Parallel()
	long := "/no/" + strings.Repeat("0123456789", 10)
	values := map[string]string{"A": "12345678", "B": "stdout_bytes", "C": `"program":"`, "D": "exit_code", "E": `{"exit_co`, "F": long}
	x := open(t, func(o *shell.Options) {
		for name := range values {
			o.Env = append(o.Env, shell.Grant{Name: name, FromEnv: name, Queues: []string{"tools"}, Secret: true})
		}
		o.LookupEnv = lookupIn(values)
	})
	for command, want := range map[string]string{
		`sh -c 'head -c 12345678 /dev/zero; echo 12345678 >&2; exit 7'`: "exited with code 7: ***" +
			` {"exit_code":7,"program":"sh","stderr_bytes":4,"stdout_bytes":12345678,"cut":true}`,
		long: "`***` could not be started: ENOENT: no such file or directory; the program, or the interpreter that its first line names, " +
			`is not there: install it, or correct the command {"program":"***","errno":"ENOENT","stderr_bytes":0,"stdout_bytes":0}`,
	} {
		f, _ := x.Execute(t.Context(), run(command), nil).(action.Failed)
		if diff := cmp.Diff(want, f.Message+" "+string(f.Details)); diff != "" {
			t.Error(diff)
		}
	}
}
