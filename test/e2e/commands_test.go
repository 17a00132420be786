package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keeping gives its input back.
const keeping = `//! Gives a number back.
workflow keeping
  input n: Int
  outcome done: type Done, route success

type Done { n: Int }

step only
  route done(n: n)
`

// shown is the object that a command prints.
func shown(t *testing.T, e ended) map[string]any {
	t.Helper()
	var o map[string]any
	dec := json.NewDecoder(strings.NewReader(e.stdout))
	dec.UseNumber()
	if err := dec.Decode(&o); err != nil || e.code != 0 {
		t.Fatalf("%v: %+v", err, e)
	}
	return o
}

// server 15, 4: the way of a version and its runs over the commands of a server that was found by the lock of its store.
func TestAVersionFromDeployToUnload(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	serve(t, home)
	do := func(args ...string) string {
		t.Helper()
		e := aion(t, home, args...)
		if e.code != 0 {
			t.Fatalf("%v: %+v", args, e)
		}
		return e.stdout
	}
	file := write(t, dir, "keeping.awl", keeping)
	first := strings.Fields(do("deploy", file))[1]
	if again := do("deploy", file); !strings.Contains(again, "already routed") {
		t.Errorf("%s", again)
	}
	for _, n := range []string{"9007199254740993", "9223372036854775807", "-9223372036854775808"} {
		e := aion(t, home, "start", "keeping", "-i", "n="+n, "--wait")
		if e.code != 0 || !strings.Contains(e.stdout, `"result":{"n":`+n+`}`) {
			t.Errorf("%+v", e)
		}
	}
	second := strings.Fields(do("deploy", write(t, dir, "other.awl", strings.Replace(keeping, "a number back", "it back", 1))))[1]
	if e := aion(t, home, "unload", "keeping", second, "--yes"); e.code != 2 || !strings.Contains(e.stderr, "RouteActive") {
		t.Errorf("the routed version: %+v", e)
	}
	if e := aion(t, home, "unload", "keeping", first); e.code != 2 || !strings.Contains(e.stderr, "--yes") {
		t.Errorf("nobody was asked: %+v", e)
	}
	if out := do("route", "keeping", first[:8]); out != "keeping: "+second+" -> "+first+" (running runs keep their version)\n" {
		t.Errorf("%s", out)
	}
	do("unload", "keeping", second[:12], "--yes")
	if out := do("versions", "keeping", "-o", "id"); out != first+"\n" {
		t.Errorf("%s", out)
	}
	if rows := strings.Count(do("list", "--type", "keeping", "--status", "Completed"), "\n"); rows != 4 {
		t.Errorf("%d lines for 3 runs and a head", rows)
	}
	for args, want := range map[string]string{
		"list --status running":         "Running",
		"describe 00000000-0000-4000-8": "no run begins with",
		"start nothing":                 "WorkflowTypeNotFound",
		"start keeping":                 "InputRejected",
		"namespaces delete default":     "invalid_input",
		"list -n Not_A_Name":            "NamespaceNotFound",
	} {
		if e := aion(t, home, strings.Fields(args)...); e.code != 2 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
}

// server 7: describe, list and history give equal values over MCP and on the command line.
func TestTheCommandLineShowsWhatMCPShows(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	c := connect(t, s)
	id := c.start(c.deploy("wait.awl", strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 10m", 1)), map[string]any{"change": "one"})
	c.until(id, "it waits", func(d map[string]any) bool { return len(d["waiting_on"].([]any)) > 0 })
	plain := func(v any) map[string]any {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	within := func(what string, small, large map[string]any) {
		t.Helper()
		for name, value := range small {
			if diff := cmp.Diff(value, large[name]); diff != "" {
				t.Errorf("%s, %s: %s", what, name, diff)
			}
		}
	}
	within("describe", plain(c.describe(id)), plain(shown(t, aion(t, home, "describe", id, "--json"))))
	row := func(o map[string]any) map[string]any { return o["runs"].([]any)[0].(map[string]any) }
	within("list", plain(row(c.must("list_runs", map[string]any{"namespace": "default"}))), plain(row(shown(t, aion(t, home, "list", "--json")))))
	events := c.history(id)
	printed := strings.Split(strings.TrimSpace(aion(t, home, "history", id, "-o", "jsonl").stdout), "\n")
	if len(events) != len(printed) {
		t.Fatalf("%d events, %d lines", len(events), len(printed))
	}
	for i := range events {
		var line map[string]any
		if err := json.Unmarshal([]byte(printed[i]), &line); err != nil {
			t.Fatal(err)
		}
		within("history", plain(events[i]), line)
	}
}

// server 14: documents go to a server and come back byte for byte, and nobody's text is lost.
func TestDocumentsOverTheCommandLine(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	serve(t, home)
	text := strings.ReplaceAll(keeping, "\n", "\r\n")
	file := write(t, dir, "keeping.awl", text)
	saved := shown(t, aion(t, home, "documents", "save", "team/keeping.awl", file, "--json"))
	if e := aion(t, home, "documents", "read", "team/keeping.awl"); e.stdout != text {
		t.Errorf("%q", e.stdout)
	}
	if e := aion(t, home, "documents", "diff", "team/keeping.awl", file); e.code != 0 || e.stdout != "" {
		t.Errorf("%+v", e)
	}
	if err := os.WriteFile(file, []byte(keeping), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := aion(t, home, "documents", "diff", "team/keeping.awl", file); e.code != 1 || !strings.Contains(e.stdout, "+++ ") {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "documents", "save", "team/keeping.awl", file, "--create"); e.code != 2 || !strings.Contains(e.stderr, "RevisionMismatch") {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "documents", "save", "team/keeping.awl", file); e.code != 0 || !strings.HasPrefix(e.stdout, "saved\t") {
		t.Errorf("%+v", e)
	}
	old, _ := saved["content_hash"].(string)
	if e := aion(t, home, "documents", "save", "team/keeping.awl", file, "--if-match", old); e.code != 2 || !strings.Contains(e.stderr, "expected  "+old) {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "deploy", "team/keeping.awl", "--document"); e.code != 0 || !strings.Contains(e.stdout, "now routed") {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "deploy", "team/keeping.awl", "--document", "--content-hash", old); e.code != 2 || !strings.Contains(e.stderr, "RevisionMismatch") {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "documents", "history", "team/keeping.awl", "-o", "id"); strings.Count(e.stdout, "\n") != 2 {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "documents", "delete", "team/keeping.awl", "--yes"); e.code != 0 {
		t.Errorf("%+v", e)
	}
	if e := aion(t, home, "documents", "read", "team/keeping.awl"); e.code != 2 || !strings.Contains(e.stderr, "DocumentNotFound") {
		t.Errorf("%+v", e)
	}
}

// server 24, 31: a saved context reaches a server that knows callers by token; a wrong one is refused with 2.
func TestAContextReachesAServerWithAToken(t *testing.T) {
	t.Parallel()
	home, other := newHome(t), newHome(t)
	secret := write(t, t.TempDir(), "secret", sharedSecret)
	s := serve(t, home, "--auth.mode", "token", "--auth.token_file", secret)
	if e := aion(t, other, "context", "save", "prod", "--server", s.url, "--token", "@"+secret); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	if e := aion(t, other, "context", "use", "prod"); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	run := aion(t, other, "run", example("hello.awl"), "-i", "name=Ada", "--verbose")
	if run.code != 0 || run.outcome(t)["outcome"] != "greeted" || strings.Contains(run.stderr, sharedSecret) {
		t.Errorf("%+v", run)
	}
	if _, err := os.Stat(filepath.Join(other, "aion.db")); err == nil {
		t.Error("a store was made")
	}
	wrong := write(t, t.TempDir(), "wrong", "another-token-of-a-good-length")
	if e := aion(t, other, "list", "--token", "@"+wrong); e.code != 2 || !strings.Contains(e.stderr, "InvalidCredential") {
		t.Errorf("%+v", e)
	}
}

// server 7: the outcome of a run is the same from the process that ran it, from one that resumes it, and from a server.
func TestAnOutcomeIsTheSameFromEverybody(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	failing := write(t, dir, "failing.awl", "//! Fails.\nworkflow failing\n  outcome done: type Done, route success\n\ntype Done { value: String }\n\n"+
		"worker shell\n  action act() -> String\n    run \"sh -c 'exit 3'\" capture text\n\nstep only\n  act() -> value\n  route done(value: value)\n")
	var first []map[string]any
	for _, args := range [][]string{{"run", example("hello.awl"), "-i", "name=Ada"}, {"run", failing}} {
		first = append(first, aion(t, home, args...).outcome(t))
	}
	compare := func(from string, args func(id string) []string) {
		t.Helper()
		for i, want := range first {
			e := aion(t, home, args(want["workflow_id"].(string))...)
			if diff := cmp.Diff(want, e.outcome(t)); diff != "" || e.code != i {
				t.Errorf("%s: exit %d, %s", from, e.code, diff)
			}
		}
	}
	compare("resume", func(id string) []string { return []string{"resume", id} })
	serve(t, home)
	compare("a server", func(id string) []string { return []string{"outcome", id} })
	compare("resume at a server", func(id string) []string { return []string{"resume", id} })
}
