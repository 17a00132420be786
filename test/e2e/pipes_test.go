package e2e_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // damages a store
)

const ownID = "01970000-0000-7000-8000-000000000001"

// server 3.1.8, 5.7: a reader who goes away stops neither a run nor the server that owns the store, whichever stream it read.
func TestABrokenPipeStopsNoRun(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"stdout", "stderr", "both"} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			home, dir := newHome(t), t.TempDir()
			file := filepath.Join(dir, "slow.awl")
			if err := os.WriteFile(file, []byte(threeSteps), 0o600); err != nil {
				t.Fatal(err)
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary, "run", file, "-i", "dir="+dir, "--follow", "all", "--workflow-id", ownID)
			cmd.Env = environ(home)
			var other bytes.Buffer
			cmd.Stdout, cmd.Stderr = &other, &other
			if broken != "stderr" {
				cmd.Stdout = w
			}
			if broken != "stdout" {
				cmd.Stderr = w
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			eventually(t, "the second step begins", func() bool { _, err := os.Stat(filepath.Join(dir, "two.begun")); return err == nil })
			_ = r.Close()
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit %d (%s): %s", code, cmd.ProcessState, other.String())
			}
			e := aion(t, home, "resume", ownID)
			if o := e.outcome(t); e.code != 0 || o["outcome"] != "done" {
				t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
			}
			for _, step := range []string{"one", "two", "three"} {
				if n := lines(t, filepath.Join(dir, step+".ran")); n != 1 {
					t.Errorf("step %s ran %d times", step, n)
				}
			}
		})
	}
}

// server 3.1.8: the route decides, also when nobody reads the outcome.
func TestABrokenPipeLeavesTheRouteItsExitCode(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	doc := strings.Replace(fixture(t, "wait_signal.awl"), "patience = 2s", "patience = 50ms", 1)
	file := filepath.Join(t.TempDir(), "w.awl")
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	for code, args := range map[int][]string{
		0: {"run", example("hello.awl"), "-i", "name=Ada"},
		1: {"run", file, "-i", "change=PR-7"},
	} {
		cmd := exec.Command(binary, args...)
		cmd.Env, cmd.Stdout = environ(newHome(t)), w
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != code {
			t.Errorf("%v: %s, wanted exit %d", args, cmd.ProcessState, code)
		}
	}
}

func TestABrokenStderrLeavesTheServerServing(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	cmd := exec.Command(binary, "server", "--listen", "127.0.0.1:0", "--log-level", "debug")
	cmd.Env, cmd.Dir = environ(home), filepath.Dir(home)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, cmd: cmd, log: &logBuffer{}, done: make(chan struct{})}
	for records := json.NewDecoder(pipe); s.url == ""; {
		var record struct {
			URL string `json:"url"`
		}
		if err := records.Decode(&record); err != nil {
			t.Fatal(err)
		}
		s.url = record.URL
	}
	_ = pipe.Close()
	go func() { _ = cmd.Wait(); close(s.done) }()
	t.Cleanup(s.kill)
	c := connect(t, s)
	for range 3 {
		if d := c.untilEnded(c.start(c.deploy("h.awl", fixture(t, "hello.awl")), map[string]any{"name": "Ada"})); d["status"] != "Completed" {
			t.Errorf("ended %v", d)
		}
		answer, err := http.Get(s.url + "/health/ready")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// actions 3.1: what the server does about its own signals does not reach commands, nor does what it was started with.
func TestCommandsFindSignalsAtTheirDefault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.awl")
	doc := "//! Shows its signals.\nworkflow signals\n  outcome done: type Done, route success\n\ntype Done { text: String }\n\n" +
		"worker shell\n  action show() -> String\n    run \"grep SigIgn /proc/self/status\" capture text\n\nstep only\n  show() -> text\n  route done(text: text)\n"
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, containment := range []string{"auto", "supervisor", "group"} {
		cmd := exec.Command("sh", "-c", `trap '' PIPE HUP; exec "$@"`, "sh", binary, "run", file)
		cmd.Env = append(environ(newHome(t)), "AION_ACTIONS_CONTAINMENT="+containment)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), `SigIgn:\t0000000000000000`) {
			t.Errorf("%s: %v, %s%s", containment, err, out, errs.String())
		}
	}
}

// server 3.1.8: the first signal ends a command that waits for a pipe.
func TestASignalEndsTheWaitForAPipe(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "fifo"},
		{"run", example("hello.awl"), "-i", "name=@fifo"},
		{"run", example("hello.awl"), "--input", "@fifo"},
		{"run", example("hello.awl"), "-i", "name=Ada", "--config", "fifo"},
		{"awl", "check", "fifo"},
		{"awl", "fmt", "fifo"},
		{"config", "validate", "fifo"},
	} {
		for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			t.Run(fmt.Sprint(args[0], len(args), sig), func(t *testing.T) {
				t.Parallel()
				home, dir := newHome(t), t.TempDir()
				fifo := filepath.Join(dir, "fifo")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(binary, args...)
				var errs bytes.Buffer
				cmd.Env, cmd.Dir, cmd.Stderr = environ(home), dir, &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // opens when the command does
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				_ = cmd.Process.Signal(sig)
				if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != code || strings.Contains(errs.String(), "error") {
					t.Errorf("%v: %s, wanted exit %d: %s", args, cmd.ProcessState, code, errs.String())
				}
			})
		}
	}
}

// server 5.7: a stop is clean at every moment of the start.
func TestATermDuringTheStartIsAStop(t *testing.T) {
	t.Parallel()
	for i := range 24 {
		home := newHome(t)
		cmd := exec.Command(binary, "server", "--listen", "127.0.0.1:0")
		var errs bytes.Buffer
		cmd.Env, cmd.Dir, cmd.Stderr = environ(home), filepath.Dir(home), &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); ; { // no wait between: the start is short
			if _, err := os.Stat(filepath.Join(home, "aion.db.lock")); err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				t.Fatalf("the server takes no lock: %s", errs.String())
			}
		}
		<-time.After(time.Duration(i) * 2 * time.Millisecond) // a moment more each time
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || strings.Contains(errs.String(), "error[") {
			t.Errorf("after %d: %v: %s", i, err, errs.String())
		}
	}
}

// server 3.1: a run has ended even when its outcome cannot be written, and what is said leads to it.
func TestAnOutcomeThatCannotBeWrittenIsToldAndKept(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	home := newHome(t)
	cmd := exec.Command(binary, "run", example("hello.awl"), "-i", "name=Ada")
	var errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = environ(home), full, &errs
	_ = cmd.Run()
	_, rest, told := strings.Cut(errs.String(), "has ended (Completed), and its outcome could not be written to standard output; see it with: aion resume ")
	id, _, _ := strings.Cut(rest, "\n")
	if cmd.ProcessState.ExitCode() != 3 || !told || !strings.Contains(errs.String(), "error[unavailable]: run ") {
		t.Fatalf("%s: %s", cmd.ProcessState, errs.String())
	}
	if e := aion(t, home, "resume", id); e.code != 0 || e.outcome(t)["outcome"] != "greeted" {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
}

// The outcome is durable: damage to the transcripts is told at once and does not hide it.
func TestDamagedTranscriptsHideNoOutcome(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if e := aion(t, home, "run", example("hello.awl"), "-i", "name=Ada"); e.code != 0 {
		t.Fatalf("exit %d: %s", e.code, e.stderr)
	}
	damage(t, filepath.Join(home, "aion.db"), "transcript_%")
	cmd := exec.Command(binary, "run", example("hello.awl"), "-i", "name=Ada")
	cmd.Env = append(environ(home), "AION_TRANSCRIPT_FLUSH_TIMEOUT=50ms")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	e := ended{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	if o := e.outcome(t); e.code != 0 || o["outcome"] != "greeted" || !strings.Contains(e.stderr, "database disk image is malformed") {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
}

// damage overwrites the first page of every table and index of some tables.
func damage(t *testing.T, path, tables string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var size int64
	if err := db.QueryRow(`PRAGMA page_size`).Scan(&size); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT rootpage FROM sqlite_master WHERE tbl_name LIKE ?`, tables)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var pages []int64
	for rows.Next() {
		var page int64
		if err := rows.Scan(&page); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	if err := rows.Err(); err != nil || len(pages) == 0 {
		t.Fatalf("%v, pages %v", err, pages)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xff}, int(size)), (page-1)*size); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
