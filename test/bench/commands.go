package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aion/adapters/shell"
	"aion/application/runs"
	"aion/bootstrap"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/transcript"
	"aion/ports"
)

// spawn alternates one command through the executor and one through os/exec. A process has one executor at a time, so the
// measures of commands each make their own.
func (b *bench) spawn(ctx context.Context) error {
	c, err := bootstrap.Defaults(b.place("home"))
	if err != nil {
		return err
	}
	x, err := shell.New(shell.Options{
		Home: c.Home, Instance: "bench", Path: os.Getenv("PATH"), KillGrace: c.ActionsKillGrace, KillWait: c.ActionsKillWait,
		MaxStdout: int(c.ActionsMaxStdout), MaxStderr: int(c.ActionsMaxStderr), IdleSupervisors: c.ActionsIdleSupervisors,
		OpenFiles: c.ActionsOpenFiles, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	e := ports.Execution{Body: action.Body{Run: &action.RunBody{Command: "/bin/true", Capture: action.CaptureText}}, MaxResult: 1 << 20}
	e.Dispatch = action.Dispatch{Namespace: "default", Name: "true", Input: []byte(`{}`)}
	var plain, through []float64
	n := b.pick(1000, 50)
	for i := range n + n/10 {
		began := time.Now()
		if err := exec.CommandContext(ctx, "/bin/true").Run(); err != nil {
			return err
		}
		middle := time.Now()
		e.Dispatch.Key = domain.AttemptKey{WorkflowID: "w", RunID: "r", ActivityID: int64(i), Attempt: 1}
		if verdict, ok := x.Execute(ctx, e, silent{}).(action.Completed); !ok {
			return fmt.Errorf("/bin/true through the executor: %v", verdict)
		}
		if i >= n/10 {
			plain, through = append(plain, micros(middle.Sub(began))), append(through, micros(time.Since(middle)))
		}
	}
	b.out.figure("/bin/true by os/exec, alternating", "p50 %.0f us, p99 %.0f us", quantile(plain, 0.5), quantile(plain, 0.99))
	b.out.figure("/bin/true through the executor", "p50 %.0f us, p99 %.0f us", quantile(through, 0.5), quantile(through, 0.99))
	b.out.atMost("p50 of a command / p50 of os/exec", quantile(through, 0.5)/quantile(plain, 0.5), 1.3, "x")
	return nil
}

type silent struct{}

func (silent) Write(transcript.Record) {}

// commands runs 8 workflows of many commands each, beside 8 loops over os/exec.
func (b *bench) commands(ctx context.Context) error {
	const parallel = 8
	w, err := b.open(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer w.close()
	length := b.pick(400, 10) // long enough that the starts and the stragglers weigh little
	if err := w.deploySource(ctx, "chain", chain(length)); err != nil {
		return err
	}
	n := parallel * length
	var plain, through, ratios, server, supervisors []float64
	for range b.pick(7, 1) {
		p, err := spawns(ctx, parallel, n)
		if err != nil {
			return err
		}
		theirs, ours := onProcessor(descendants("aion-supervisor")), onProcessor([]int{os.Getpid()})
		began := time.Now()
		for i := range parallel {
			if _, err := w.start(ctx, "chain", i); err != nil {
				return err
			}
		}
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / p * float64(time.Second))))) // to ask costs processor time, too
		if err := w.idle(ctx); err != nil {
			return err
		}
		t := float64(n) / time.Since(began).Seconds()
		plain, through, ratios = append(plain, p), append(through, t), append(ratios, t/p)
		server = append(server, micros(onProcessor([]int{os.Getpid()})-ours)/float64(n))
		supervisors = append(supervisors, micros(onProcessor(descendants("aion-supervisor"))-theirs)/float64(n))
	}
	b.out.figure("/bin/true by os/exec, 8 in parallel, interleaved", "%.0f/s %s", median(plain), spread(plain))
	b.out.figure("/bin/true as an activity, 8 in parallel", "%.0f/s %s", median(through), spread(through))
	b.out.figure("processor of each besides its own", "%.0f us in the server, %.0f us in supervisors", median(server), median(supervisors))
	b.out.atLeast("commands as activities / by os/exec", median(ratios), 0.7, "x")
	return nil
}

// chain is a document of so many steps, each one command.
func chain(steps int) []byte {
	var t strings.Builder
	t.WriteString("//! Many commands in a row.\nworkflow chain\n  timeout 1h\n  input n: Int\n  outcome done: type Done, route success\n\n" +
		"type Done { text: String }\n\nworker bench\n  action command(n: Int) -> String\n    run \"/bin/true\" capture text\n")
	for i := range steps {
		fmt.Fprintf(&t, "\nstep step_%d\n  command(n: n) -> text_%d\n", i, i)
	}
	fmt.Fprintf(&t, "  route done(text: text_%d)\n", steps-1)
	return []byte(t.String())
}

// attempts weighs the processes around commands that run, and around none.
func (b *bench) attempts(ctx context.Context) error {
	w, err := b.open(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.deploy(ctx, "in_flight"); err != nil {
		return err
	}
	before, err := weigh()
	if err != nil {
		return err
	}
	n := b.pick(100, 10)
	var ids []domain.WorkflowID
	for i := range n {
		id, err := w.start(ctx, "in_flight", i)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := until(ctx, func() bool { return len(descendants("sleep")) >= n }); err != nil {
		return fmt.Errorf("%d commands do not run: %w", n, err)
	}
	during, err := weigh()
	if err != nil {
		return err
	}
	supervisors := descendants("aion-supervisor")
	b.out.figure("server memory per running attempt", "%.1f KiB heap, %.1f KiB resident", (during.heap-before.heap)/float64(n)/1024,
		(during.resident-before.resident)/float64(n)/1024)
	b.out.figure("supervisor of a running attempt", "%.0f KiB proportional set (%d of them)", proportional(supervisors)/1024, len(supervisors))
	for _, id := range ids {
		if _, err := w.app.Runs.Cancel(ctx, w.who, runs.CancelRequest{Ref: runs.Ref{Namespace: "default", WorkflowID: string(id)}, Reason: "measured"}); err != nil {
			return err
		}
	}
	if err := until(ctx, func() bool { return len(descendants("sleep")) == 0 }); err != nil {
		return fmt.Errorf("commands live on: %w", err)
	}
	idle := descendants("aion-supervisor")
	b.out.figure("idle supervisor", "%.0f KiB proportional set (%d of them)", proportional(idle)/1024, len(idle))
	return nil
}

func until(ctx context.Context, holds func() bool) error {
	for limit := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(limit) {
			return fmt.Errorf("waited for a minute: %w", context.Cause(ctx))
		}
	}
	return nil
}

// descendants lists the processes below this one whose first argument has the name.
func descendants(name string) []int {
	parents, found := map[int]int{}, []int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		rest := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(rest) > 1 {
			parents[pid], _ = strconv.Atoi(rest[1])
		}
	}
	for pid := range parents {
		above := pid
		for above > 1 && above != os.Getpid() {
			above = parents[above]
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		first, _, _ := strings.Cut(string(line), "\x00")
		if err == nil && above == os.Getpid() && filepath.Base(first) == name {
			found = append(found, pid)
		}
	}
	return found
}

// onProcessor is the time that the threads of some processes have run, without their children.
func onProcessor(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, thread := range threads {
			var ran time.Duration
			if text, err := os.ReadFile(thread); err == nil {
				_, _ = fmt.Sscan(string(text), &ran) // one that has just ended counts nothing
			}
			sum += ran
		}
	}
	return sum
}

// proportional is the mean share of memory of some processes: pages that several use are divided among them.
func proportional(pids []int) float64 {
	var sum float64
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			var kib float64
			if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kib); n == 1 {
				sum += kib * 1024
			}
		}
	}
	return sum / float64(max(len(pids), 1))
}
