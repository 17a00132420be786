package shell_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/transcript"
	"aion/ports"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary is server and supervisor as well: it starts itself again like the real one does.
const (
	serverMode = "__test_server"
	maskedMode = "__test_masked" // starts a server with blocked signals; a shell would unblock them
	deepMode   = "__test_deep"   // is a command that makes a chain of directories
	contained  = "AION_TEST_CONTAINMENT"
	limited    = "AION_TEST_LIMITED" // a user, whose commands have limits
	repeat     = "AION_TEST_REPEAT"  // how often a server runs each of its commands
	leased     = "AION_TEST_LEASED"  // how long its commands may run without it
)

func TestMain(m *testing.M) {
	if supervise.Active(os.Args) {
		os.Exit(supervise.Run())
	}
	if len(os.Args) > 1 && os.Args[1] == serverMode {
		os.Exit(server(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 1 && os.Args[1] == maskedMode {
		fmt.Fprintln(os.Stderr, masked(os.Args[2:]))
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == deepMode {
		os.Exit(deepen(os.Args[2]))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// masked becomes a server in which two signals are blocked.
func masked(args []string) error {
	runtime.LockOSThread()
	mask := unix.Sigset_t{}
	mask.Val[0] = 1<<(unix.SIGINT-1) | 1<<(unix.SIGUSR2-1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &mask, nil); err != nil {
		return err
	}
	return unix.Exec(os.Args[0], append([]string{os.Args[0], serverMode}, args...), os.Environ())
}

// server is a process with an executor that runs the given commands until it is killed.
func server(home string, commands []string) int {
	o := options(home)
	o.Containment = os.Getenv(contained)
	if o.RunAs = os.Getenv(limited); o.RunAs != "" {
		o.Limits = shell.Limits{Processes: 77, MemoryBytes: 1 << 30, CPUSeconds: 55}
	}
	x, err := shell.New(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = x.Run(ctx) })
	fmt.Println("up")
	serveAll(x, commands)
	if err := x.Close(); err != nil {
		fmt.Println(err)
	}
	if os.Getpid() == 1 {
		fmt.Println("zombies", zombies())
	}
	return 0
}

func serveAll(x *shell.Executor, commands []string) {
	var all sync.WaitGroup
	times, _ := strconv.Atoi(os.Getenv(repeat))
	for i, c := range commands {
		all.Go(func() {
			for range max(times, 1) {
				e := run(c)
				e.Dispatch.Key.ActivityID = int64(i)
				if left, err := time.ParseDuration(os.Getenv(leased)); err == nil {
					e.Left = func() time.Duration { return left }
				}
				fmt.Println(text(x.Execute(context.Background(), e, nil)))
			}
		})
	}
	all.Wait()
}

// zombies counts the dead that nobody reaps.
func zombies() (n int) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		table, err := supervise.Table()
		n = 0
		for _, p := range table {
			if p.Dead() {
				n++
			}
		}
		if err == nil && n == 0 {
			return 0
		}
	}
	return n
}

func options(home string) shell.Options {
	return shell.Options{
		Home: home, Instance: "test", WorkspaceRoot: filepath.Join(home, "clones"),
		Path: os.Getenv("PATH"), KillGrace: 300 * time.Millisecond, KillWait: 20 * time.Second,
		MaxStdout: 1 << 20, MaxStderr: 256 << 10, IdleSupervisors: 2, OpenFiles: 512,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// open gives an executor whose end is checked: no ledger entry, scratch directory or process may be left.
func open(t *testing.T, change ...func(*shell.Options)) *shell.Executor {
	t.Helper()
	o := options(t.TempDir())
	for _, c := range change {
		c(&o)
	}
	x, err := shell.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{"attempts", "scratch"} {
			left, err := os.ReadDir(filepath.Join(o.Home, dir))
			if dir == "scratch" && o.RunAs != "" && os.IsNotExist(err) {
				continue // it was elsewhere
			}
			if err != nil || len(left) > 0 {
				t.Errorf("%s holds %v, %v", dir, left, err)
			}
		}
		if left := holders(t, o.Home); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
	return x
}

// run is an execution of `run "command"`; unique keys keep tests apart that share a machine.
func run(command string, capture ...action.Capture) ports.Execution {
	c := append(capture, action.CaptureOutcome)[0]
	return ports.Execution{
		Dispatch: action.Dispatch{
			Namespace: "default", TaskQueue: "tools", Name: "go", Input: json.RawMessage("{}"),
			Key: domain.AttemptKey{WorkflowID: "01900000-0000-7000-8000-000000000001", RunID: domain.RunID(unique()), Attempt: 1},
		},
		Body: action.Body{Run: &action.RunBody{Command: command, Capture: c}},
	}
}

func unique() string { return fmt.Sprintf("run-%d-%d", os.Getpid(), time.Now().UnixNano()) }

func text(v action.Verdict) string {
	switch v := v.(type) {
	case action.Completed:
		return "completed:" + string(v.Result)
	case action.Failed:
		return v.Code + " " + v.Error()
	case action.Parked:
		return "parked"
	case action.Dropped:
		return "dropped"
	}
	return "nothing"
}

func execute(t *testing.T, x *shell.Executor, e ports.Execution) string {
	t.Helper()
	return text(x.Execute(t.Context(), e, nil))
}

// holders names the living processes whose environment or command line mentions a word.
func holders(t *testing.T, word string) []int {
	t.Helper()
	table, err := supervise.Table()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range table {
		if p.Dead() || p.Pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/environ")
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
		cwd, _ := os.Readlink("/proc/" + strconv.Itoa(p.Pid) + "/cwd")
		if strings.Contains(string(env), word) || strings.Contains(string(line), word) || strings.Contains(cwd, word) {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// eventually polls a condition; the limit only bounds a failing test.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// journal keeps what is logged, one JSON object a line.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// keep has an executor log into the journal.
func (j *journal) keep(o *shell.Options) { o.Logger = slog.New(slog.NewJSONHandler(j, nil)) }

// line gives the members of the first line of an attempt with a message; nil: there is none.
func (j *journal) line(t *testing.T, key domain.AttemptKey, message string) map[string]any {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatal(err)
		}
		if members["msg"] == message && members["workflow_id"] == string(key.WorkflowID) && members["run_id"] == string(key.RunID) &&
			members["activity_id"] == float64(key.ActivityID) && members["attempt"] == float64(key.Attempt) {
			return members
		}
	}
	return nil
}

// recorder keeps what an attempt wrote.
type recorder struct {
	mu      sync.Mutex
	records []transcript.Record
}

func (r *recorder) Write(rec transcript.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, rec)
}

func (r *recorder) all() []transcript.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// texts gives the lines of one role, a `~` behind partial ones.
func (r *recorder) texts(role string) []string {
	var texts []string
	for _, rec := range r.all() {
		if rec.AgentRole != role || rec.Kind != transcript.Message {
			continue
		}
		text := rec.Text
		if rec.Partial {
			text += "~"
		}
		texts = append(texts, text)
	}
	return texts
}

// statuses gives the executor's own events.
func (r *recorder) statuses() string {
	var all []string
	for _, rec := range r.all() {
		if rec.Kind == transcript.Progress {
			all = append(all, string(rec.Detail))
		}
	}
	return strings.Join(all, " ")
}

func scan(r io.Reader, until string) bool {
	for s := bufio.NewScanner(r); s.Scan(); {
		if s.Text() == until {
			return true
		}
	}
	return false
}
