package shell_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/shell"
	"aion/adapters/shell/supervise"
	"aion/ports"

	"golang.org/x/sys/unix"
)

// tree is a random script that may do anything which has ever kept a process alive.
func tree(r *rand.Rand, depth int) string {
	var b strings.Builder
	pick := func(from ...string) { b.WriteString(from[r.IntN(len(from))]) }
	pick("", `trap "" TERM; `, `trap : TERM INT HUP; `, "exec 2>&1; ", "cd /; ")
	for range r.IntN(3) {
		pick("sleep 300 & ", "(sleep 300 &); ", "setsid sleep 300 & ", "(setsid sleep 300 >/dev/null 2>&1 &); ", "yes >/dev/null & ",
			"sleep 300 & kill -STOP $!; ", "(exec sleep 0.01) & ", "env -i sleep 300 & ")
	}
	if depth > 0 {
		inner := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(tree(r, depth-1))
		pick("", "setsid ", "env -i /usr/bin/setsid ")
		b.WriteString(`sh -c "` + inner + `" & `)
	}
	pick("sleep 300", "exec sleep 300", "exit 0", "exit 3", "kill -9 $$", "kill -STOP $$", "wait", "kill -STOP $PPID; sleep 300", "yes", "sleep 0.02")
	return b.String()
}

// AION_SOAK sets the number of trees.
//
//nolint:paralleltest // it kills supervisors, see TestASupervisorThatIsKilledLosesItsAttemptAndNothingElse
func TestNoTreeSurvivesARandomEnd(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv("AION_SOAK"))
	if err != nil {
		count = 60
	}
	x := open(t, func(o *shell.Options) { o.KillGrace = 50 * time.Millisecond })
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	work := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	for range 8 {
		all.Go(func() {
			for i := range work {
				d, problem := hostileAttempt(t, x, rand.New(rand.NewPCG(seed, uint64(i))))
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
				if problem != "" {
					t.Errorf("tree %d of seed %d: %s", i, seed, problem)
				}
			}
		})
	}
	for i := range count {
		work <- i
	}
	close(work)
	all.Wait()
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	table, err := supervise.Table()
	if err != nil {
		t.Fatal(err)
	}
	// Some cleared their environment, so only the tree tells.
	if left := supervise.Below(table, os.Getpid()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	slices.Sort(took)
	t.Logf("from the stop to the proof: p50 %s, p99 %s", took[len(took)/2], took[len(took)*99/100])
}

// hostileAttempt runs one tree, ends it in a random way and tells how long the end took and what is wrong.
func hostileAttempt(t *testing.T, x *shell.Executor, r *rand.Rand) (time.Duration, string) {
	t.Helper()
	script := tree(r, r.IntN(4))
	e := with(run("sh -c {{script}}"), `{"script":`+strconv.Quote(script)+`}`, scalar("script"))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if r.IntN(4) == 0 {
		e.Bound = time.Duration(1+r.IntN(100)) * time.Millisecond
	}
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(ctx, e, nil)) }()
	time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
	victim := r.IntN(6)
	for _, pid := range holders(t, string(e.Dispatch.Key.RunID)) {
		p, ok := supervise.Find(pid)
		switch {
		case ok && victim == 0 && p.Session == p.Pid:
			if parent, ok := supervise.Find(p.Parent); ok && parent.Parent == os.Getpid() {
				_ = supervise.Send(parent, unix.SIGKILL) // the supervisor
			}
		case ok && victim == 1:
			_ = supervise.Send(p, unix.SIGKILL)
		}
	}
	stopped := time.Now()
	cancel(ports.StopCancelled)
	var verdict string
	select {
	case verdict = <-done:
	case <-time.After(60 * time.Second):
		return 0, fmt.Sprintf("stuck: %s", script)
	}
	d := time.Since(stopped)
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		return d, fmt.Sprintf("%v left after %s: %s", left, verdict, script)
	}
	if strings.HasPrefix(verdict, "containment") || verdict == "nothing" {
		return d, verdict + ": " + script
	}
	return d, ""
}
