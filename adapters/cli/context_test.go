package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (d *desk) must(args ...string) string {
	d.t.Helper()
	out, errs, code := d.run(args...)
	if code != 0 {
		d.t.Fatalf("%v: exit %d, %s%s", args, code, out, errs)
	}
	return out
}

func emptyList() map[string]string {
	return map[string]string{"GET /tasks?limit=50": `{"tasks":[]}`, "GET /namespaces/default/runs?limit=50": `{"runs":[]}`, "GET /namespaces/team/runs?limit=50": `{"runs":[]}`}
}

// server 3.2: a flag wins over the environment, that over the context, that over what is found, and that over the default.
func TestWhichServerIsAsked(t *testing.T) {
	t.Parallel()
	byFlag, byEnv, byContext, found := newFakeServer(t, emptyList()), newFakeServer(t, emptyList()), newFakeServer(t, emptyList()), newFakeServer(t, emptyList())
	d := newDesk(t)
	d.must("context", "save", "c", "--server", byContext.url, "-n", "team", "--subject", "eve")
	d.owner = found.url
	steps := []struct {
		f     *fakeServer
		begin func()
		args  []string
	}{
		{found, func() {}, nil},
		{byContext, func() { d.must("context", "use", "c") }, nil},
		{byEnv, func() { d.env["AION_SERVER"] = byEnv.url }, nil},
		{byFlag, func() {}, []string{"--server", byFlag.url}},
	}
	for i, s := range steps {
		s.begin()
		d.must(append([]string{"tasks", "list"}, s.args...)...)
		if len(s.f.asked) != 1 {
			t.Errorf("step %d: %v %v %v %v", i, byFlag.asked, byEnv.asked, byContext.asked, found.asked)
		}
	}
	if subject := byContext.headers[0].Get("X-Aion-Subject"); subject != "eve" {
		t.Errorf("asked as %q", subject)
	}
	if subject := byEnv.headers[0].Get("X-Aion-Subject"); subject != "ada" { // the context is not for this server
		t.Errorf("asked as %q", subject)
	}
	delete(d.env, "AION_SERVER")
	d.must("list")
	d.env["AION_NAMESPACE"] = "default"
	d.must("list")
	if got := strings.Join(byContext.asked[1:], "\n"); got != "GET /namespaces/team/runs?limit=50\nGET /namespaces/default/runs?limit=50" {
		t.Errorf("%s", got)
	}
	d.env["AION_DEPLOY"], d.env["AION_SUBJECT"] = "false", "bob"
	d.must("tasks", "list")
	h := byContext.headers[len(byContext.headers)-1]
	if h.Get("X-Aion-Deploy") != "false" || h.Get("X-Aion-Subject") != "bob" || h.Get("X-Aion-Namespaces") != "*" || h.Get("Authorization") != "" {
		t.Errorf("%v", h)
	}
	d.must("tasks", "list", "--deploy", "--subject", "zoe")
	if h := byContext.headers[len(byContext.headers)-1]; h.Get("X-Aion-Deploy") != "true" || h.Get("X-Aion-Subject") != "zoe" {
		t.Errorf("%v", h)
	}
	d.env["AION_DEPLOY"] = "perhaps"
	if _, errs, code := d.run("tasks", "list"); code != 2 || !strings.Contains(errs, "AION_DEPLOY must be true or false") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// server 31: the token of a context goes to its own server, and is shown nowhere.
func TestTheTokenOfAContextGoesToItsServerOnly(t *testing.T) {
	t.Parallel()
	mine, other := newFakeServer(t, emptyList()), newFakeServer(t, emptyList())
	d := newDesk(t)
	d.in = "secret-token\n"
	d.must("context", "save", "c", "--server", mine.url, "--token", "-")
	d.must("context", "use", "c")
	out, errs, code := d.run("tasks", "list", "--verbose")
	if code != 0 || mine.headers[0].Get("Authorization") != "Bearer secret-token" || strings.Contains(out+errs, "secret-token") || !strings.Contains(errs, "GET /api/v1/tasks?limit=50 200") {
		t.Errorf("exit %d, %v\n%s%s", code, mine.headers, out, errs)
	}
	d.must("tasks", "list", "--server", other.url)
	if h := other.headers[0].Get("Authorization"); h != "" {
		t.Errorf("another server got %q", h)
	}
	if _, errs, code := d.run("tasks", "list", "--server", other.url, "--context", "c"); code != 2 || !strings.Contains(errs, "its token goes to its own server only") || len(other.asked) != 1 {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, errs, code := d.run("context", "save", "c", "--server", other.url); code != 2 || !strings.Contains(errs, "holds the token of "+mine.url) {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, command := range [][]string{{"context", "list"}, {"context", "show"}, {"context", "list", "-o", "json"}, {"context", "show", "c", "-o", "json"}} {
		if out := d.must(command...); strings.Contains(out, "secret-token") || !strings.Contains(out, mine.url) {
			t.Errorf("%v: %s", command, out)
		}
	}
	for file, mode := range map[string]fs.FileMode{"contexts.yaml": 0o600, filepath.Join("tokens", "c"): 0o600, "tokens": 0o700 | fs.ModeDir} {
		info, err := os.Stat(filepath.Join(d.home, file))
		if err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	d.must("context", "delete", "c")
	if _, err := os.Stat(filepath.Join(d.home, "tokens", "c")); err == nil {
		t.Error("the token outlives its context")
	}
	if _, errs, code := d.run("context", "show"); code != 2 || !strings.Contains(errs, "no context is in use") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// server 31: a save that is refused changes nothing, neither the contexts nor the token that one of them has.
func TestARefusedSaveKeepsTheTokenThatWas(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.must("context", "save", "c", "--server", "https://aion.example.org", "--token", "the-old-one")
	files := func() string {
		var all strings.Builder
		for _, name := range []string{"contexts.yaml", filepath.Join("tokens", "c"), filepath.Join("tokens", "new")} {
			text, _ := os.ReadFile(filepath.Join(d.home, name))
			all.Write(text)
		}
		return all.String()
	}
	before := files()
	for _, refused := range [][]string{
		{"--server", "http://aion.example.org", "--token", "the-new-one"},
		{"--server", "no URL", "--token", "the-new-one"},
		{"--token", "the\x01new-one"},
		{"--server", "http://aion.example.org", "--token-env", "NEW"},
	} {
		for _, name := range []string{"c", "new"} {
			if out, errs, code := d.run(append([]string{"context", "save", name}, refused...)...); code != 2 || strings.Contains(out+errs, "new-one") {
				t.Errorf("%q: exit %d, %s%s", refused, code, out, errs)
			}
		}
		if files() != before {
			t.Errorf("%q changed %s", refused, files())
		}
	}
}

// server 31: a token is not shown where others could read it, wherever it is from.
func TestATokenStaysOnItsWay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" secret-token \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a flag": {"--token", "secret-token"}, "a file": {"--token", "@" + file}, "the environment": nil, "another machine": {"--token", "@" + file, "--insecure-skip-verify", "--server", "https://aion.example.org"},
	} {
		d := newDesk(t)
		d.env["AION_SERVER"] = "http://aion.example.org"
		if args == nil {
			d.env["AION_TOKEN"] = "secret-token"
		}
		if out, errs, code := d.run(append([]string{"tasks", "list", "--verbose"}, args...)...); code != 2 || !strings.Contains(errs, "TokenExposed") || strings.Contains(out+errs, "secret-token") {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errs)
		}
	}
	f, d := newFakeServer(t, emptyList()), newDesk(t)
	d.env["AION_SERVER"] = f.url
	d.must("tasks", "list", "--token", "@"+file)
	_, errs, _ := d.run("tasks", "list", "--token", "given")
	if f.headers[0].Get("Authorization") != "Bearer secret-token" || f.headers[1].Get("Authorization") != "Bearer given" || !strings.Contains(errs, "can be read by every user") {
		t.Errorf("%v, %s", f.headers, errs)
	}
}

func TestWrongContextsAreRefusedByName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.must("context", "save", "prod", "--server", "https://aion.example.org", "--token-env", "PROD_TOKEN")
	for want, args := range map[string][]string{
		"did you mean prod?":                     {"context", "use", "prd"},
		"there is no context \"x\"":              {"tasks", "list", "--context", "x"},
		"PROD_TOKEN, which is not set":           {"tasks", "list", "--context", "prod"},
		"a context needs a server":               {"context", "save", "new"},
		"a context's name has at most":           {"context", "save", "../x", "--server", "http://127.0.0.1:1"},
		"is no URL of a server":                  {"context", "save", "new", "--server", "127.0.0.1:1"},
		"without TLS everybody":                  {"context", "save", "new", "--server", "http://aion.example.org", "--token-env", "X"},
		"--token and --token-env exclude":        {"context", "save", "new", "--server", "http://127.0.0.1:1", "--token-env", "X", "--token", "y"},
		"aion context show takes at most one":    {"context", "show", "a", "b"},
		"aion context has no command \"remove\"": {"context", "remove"},
	} {
		if out, errs, code := d.run(args...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	for text, want := range map[string]string{"contexts: 7\n": "is no list of contexts", "current: x\nnope: y\n": "is no list of contexts", "current: gone\n": "there is no context \"gone\""} {
		if err := os.WriteFile(filepath.Join(d.home, "contexts.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := d.run("tasks", "list"); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s", text, code, errs)
		}
	}
}
