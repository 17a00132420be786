package shell

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain/action"
	"aion/ports"
)

// Executor is ports.Executor on this host. It is safe for concurrent use. Make it with New, run it with Run, end it with
// Close; before the first attempt, CleanUp ends what an earlier server left behind.
type Executor struct {
	o        Options
	registry *registry
	pool     *pool
	self     supervise.Process
	boot     string
	killed   atomic.Bool
	counts   counters

	noCgroups string   // why there are none
	died      []string // instances, see Died

	mu    sync.Mutex
	stuck map[*supervisor]string // trees that were given up, with their processes
}

// New prepares this process to start commands: it becomes the heir of orphans below it and marks its descriptors
// close-on-exec. It refuses settings that cannot work, and a home that it cannot write. A process has one Executor and
// starts no process past it: when a supervisor dies, every child that the Executor does not know is killed.
func New(o Options) (*Executor, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := supervise.CloseOnExec(); err != nil {
		return nil, refuse("ProcessUnusable", err, "descriptors cannot be marked close-on-exec; mount /proc")
	}
	if err := supervise.RestoreInternalSignals(); err != nil {
		return nil, refuse("ProcessUnusable", err, "the signals of this process cannot be set for commands; allow rt_sigaction")
	}
	if !supervise.Supported() {
		o.Containment = ContainGroup
	}
	if err := o.adopt(); err != nil {
		return nil, refuse("ProcessUnusable", err, "this system cannot make the server a subreaper; Linux 3.4 or newer is needed")
	}
	self, ok := supervise.Find(os.Getpid())
	if ok && !ownProc() {
		return nil, refuse("ProcessUnusable", nil, "/proc does not show this process: it belongs to another PID namespace; mount /proc of this "+
			"one, for example with `unshare --mount-proc`")
	}
	if !ok {
		return nil, refuse("ProcessUnusable", nil, "the process table cannot be read; mount /proc")
	}
	boot, err := bootID()
	if err != nil {
		return nil, refuse("ProcessUnusable", err, "the boot id of this machine cannot be read; mount /proc")
	}
	x := &Executor{o: o, self: self, boot: boot, stuck: map[*supervisor]string{}}
	x.registry = &registry{pids: map[int]*supervisor{}}
	x.pool = &pool{
		o: o, registry: x.registry,
		prefix: fmt.Sprintf("%s-%d-%d-%s", pidNamespace(), self.Pid, self.Start, hashText(o.Home)[:12]),
		server: entry{Server: o.Instance, ServerProc: processID{self.Pid, self.Start}, BootID: boot},
	}
	if err := x.checkSources(); err != nil {
		return nil, err
	}
	x.contain()
	return x, nil
}

// Run ends supervisors that have been idle for long and, in a process that is PID 1, reaps what is handed to it. It
// returns the cause of ctx.
func (x *Executor) Run(ctx context.Context) error {
	sweep := time.NewTicker(idleAfter / 6)
	defer sweep.Stop()
	var orphans <-chan os.Signal
	if x.self.Pid == 1 {
		signals, stop := childSignals()
		defer stop()
		orphans = signals
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sweep.C:
			x.pool.shrink(x.o.IdleSupervisors, time.Now().Add(-idleAfter))
			_ = x.pool.aside(ctx, within(x.o.KillWait), x.pool.removeRest) // what it could not remove now is tried again
		case <-orphans:
			x.registry.sweep()
		}
	}
}

// Kill ends all trees at once: the second signal of a shutdown. Their attempts are parked.
func (x *Executor) Kill() {
	x.killed.Store(true)
	x.registry.killAll()
}

// Close ends the idle supervisors and waits for them. No attempt may be running.
func (x *Executor) Close() error {
	err := x.pool.close()
	if x.o.user != nil {
		_ = os.Remove(x.o.scratches()) // another server of this home may use it
	}
	return err
}

// Execute implements ports.Executor.
func (x *Executor) Execute(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	if ctx.Err() != nil {
		return stoppedBefore(causeOf(ctx))
	}
	if x.killed.Load() {
		return action.Parked{}
	}
	var env, values []string
	var ungranted *action.Failed
	if len(x.o.Env) > 0 {
		if err := x.look(ctx, e, func() { env, values, ungranted = x.granted(e.Dispatch.TaskQueue) }); err != nil {
			return unprepared(e.Bound, err)
		}
	}
	hidden := newSecrets(values)
	command, failure, err := x.prepare(ctx, e, env)
	if err != nil {
		return unprepared(e.Bound, err)
	}
	failure = cmp.Or(failure, ungranted) // what is missing here is found last
	if failure != nil {
		return hidden.verdict(*failure)
	}
	a := &attempt{
		x: x, e: e, command: command, began: time.Now().UTC(),
		sink:   &sink{out: out},
		hidden: hidden,
		stdout: action.NewOutput(x.o.MaxStdout), stderr: action.NewOutput(x.o.MaxStderr),
	}
	if hidden != nil && len(command.Lines) > 1 {
		a.joint = [2]*masker{{secrets: hidden}, {secrets: hidden}}
	}
	return hidden.verdict(a.run(ctx))
}

// look has files looked at before there is an attempt: each look has the bound from its own beginning.
func (x *Executor) look(ctx context.Context, e ports.Execution, at func()) error {
	return x.pool.aside(ctx, within(e.Bound), at)
}

// prepare goes through the checks of actions 1.2 (3) that need no process, in their order. The error says that files were looked at
// for too long.
func (x *Executor) prepare(ctx context.Context, e ports.Execution, granted []string) (action.Command, *action.Failed, error) {
	d, none := e.Dispatch, action.Command{}
	if f := d.Config.ConfigFailure(); f != nil {
		return none, f, nil
	}
	in, f := action.ParseInput(d.Input)
	if f != nil {
		return none, f, nil
	}
	body, defect := action.Prepare(e.Body, e.Params)
	var found *action.Failed // written by a look: nothing is read of one that was given up
	if anywhere, inWords := body.UsesRoot(); anywhere {
		if err := x.look(ctx, e, func() { found = x.root(e, inWords) }); err != nil {
			return none, nil, err
		}
	}
	if f := cmp.Or(found, defect); f != nil {
		return none, f, nil
	}
	if len(x.o.AllowedPrograms) > 0 {
		if err := x.look(ctx, e, func() { found = x.refused(body) }); err != nil {
			return none, nil, err
		}
		if found != nil {
			return none, found, nil
		}
	}
	env := append([]string{"PATH=" + x.o.Path, "AION_ACTIVITY_KEY=" + d.Key.ActivityKey()}, granted...)
	command, f := body.Render(in, action.World{Root: x.o.WorkspaceRoot, Env: env})
	return command, f, nil
}

// refused is the refusal of the first program of a body that is not admitted; nil: all are. Each is judged again right before it
// starts.
func (x *Executor) refused(body *action.Prepared) *action.Failed {
	path, exported := body.Path(x.o.WorkspaceRoot)
	if !exported {
		path = x.o.Path
	}
	for _, program := range body.Programs(x.o.WorkspaceRoot) {
		if refused := x.find(program, path).refused; refused != nil {
			return refused
		}
	}
	return nil
}

// root makes the workspace root usable for one body.
func (x *Executor) root(e ports.Execution, inWords bool) *action.Failed {
	name, root := e.Dispatch.Name, x.o.WorkspaceRoot
	if root == "" {
		f := action.RootUnresolved(name, x.o.WorkspaceRootReason)
		return &f
	}
	if f := action.RootFailure(name, root, inWords); f != nil {
		return f
	}
	if err := x.makeRoot(root); err != nil {
		f := action.RootCreation(name, root, err)
		return &f
	}
	x.log(e.Dispatch.Key).Info("workspace root expanded", "action", name, "root", root)
	return nil
}

// makeRoot makes a missing workspace root with its parents; it belongs to the user that commands run as.
func (x *Executor) makeRoot(root string) error {
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	return x.o.user.own(root)
}
