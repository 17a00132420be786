package engine

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
)

// plans gives the loaded version with a content hash, or refuses it (VersionNotFound, StoreFault).
type plans interface {
	Contract(ctx context.Context, contentHash string) (*deployment.Contract, error)
}

// admission decides whether an attempt begins in the very commit that schedules it.
type admission interface {
	// Admit reserves a slot when the server runs the action itself and one is free at once. It must not wait.
	Admit(t history.Task, declared *plan.Action) bool
	// Revoke gives the slot back: the commit did not happen.
	Revoke(key domain.AttemptKey)
}

// Deps is what the engine needs. Owner names this server instance in task rows; Workers (2 × GOMAXPROCS when zero) handle
// facts; CacheRuns (10,000 when zero) bounds the folded states that are kept.
type Deps struct {
	Events    ports.EventStore
	Index     ports.RunIndex
	Plans     plans
	Admission admission
	Watch     ports.Watch
	Clock     ports.Clock
	Logger    *slog.Logger
	Owner     string
	ClaimTTL  time.Duration // of the claims of attempts that begin, before they are renewed; 60 s when zero
	Workers   int
	CacheRuns int
	// HistoryLimit is how many events a run records before it goes on as a new generation at the next quiet point (10,000
	// when zero).
	HistoryLimit int
	// Shared says that other servers work on the same store: what is kept here of a workflow may be overtaken there.
	Shared bool
	// Shards are those whose timers and messages this server looks after; nil: all. It must not wait.
	Shards func() ports.Shards
	// Meter is told how late timers fire; nil: nobody is.
	Meter ports.WorkMeter
}

// Engine handles facts. It is safe for concurrent use; calls are answered while Run runs.
type Engine struct {
	deps      Deps
	boxes     *mailboxes
	cache     *cache
	committer *committer
	outbox    *Outbox
	draining  atomic.Bool
}

// New gives an engine that does nothing until Run.
func New(d Deps) *Engine {
	if d.Workers <= 0 {
		d.Workers = 2 * runtime.GOMAXPROCS(0)
	}
	if d.CacheRuns <= 0 {
		d.CacheRuns = 10_000
	}
	if d.ClaimTTL <= 0 {
		d.ClaimTTL = time.Minute
	}
	if d.HistoryLimit <= 0 {
		d.HistoryLimit = 10_000
	}
	return &Engine{deps: d, boxes: newMailboxes(), cache: newCache(d.CacheRuns), committer: newCommitter(d.Events, d.Clock), outbox: newOutbox()}
}

// Owner names this server instance in task rows.
func (e *Engine) Owner() string { return e.deps.Owner }

// Shared reports whether other servers work on the same store.
func (e *Engine) Shared() bool { return e.deps.Shared }

// Shards are those whose timers and messages this server looks after now; nil: all.
func (e *Engine) Shards() ports.Shards {
	if e.deps.Shards == nil {
		return nil
	}
	return e.deps.Shards()
}

// Rest is how long what other servers may have written is left unread when nothing says that there is something, for a
// reader that polls. Alone it rests for many polls, because its own commits wake it; shared for one.
func (e *Engine) Rest(poll time.Duration) time.Duration {
	const polls = 30
	if e.deps.Shared {
		return poll
	}
	return polls * poll
}

// Outbox is what committed events ask of the outside world.
func (e *Engine) Outbox() *Outbox { return e.outbox }

// Run handles facts until ctx ends. Commits that were handed to the store are finished; whoever waits in a mailbox is
// refused (ShuttingDown). It returns the cause of ctx.
func (e *Engine) Run(ctx context.Context) error {
	// A commit in flight must not be torn by the end of the server: the store ends it.
	work := context.WithoutCancel(ctx)
	var workers, writer sync.WaitGroup
	for range e.deps.Workers {
		workers.Go(func() {
			pprof.Do(work, pprof.Labels("component", "engine.worker"), e.serve)
		})
	}
	writer.Go(func() {
		pprof.Do(work, pprof.Labels("component", "engine.committer"), func(ctx context.Context) { e.committer.run(ctx, e.settled) })
	})
	<-ctx.Done()
	e.boxes.close()
	workers.Wait()
	e.committer.close()
	writer.Wait()
	return context.Cause(ctx)
}

// Drain closes the door for new workflows and for attempts that would begin in a commit. Everything else goes on.
func (e *Engine) Drain() { e.draining.Store(true) }

// Stopped reports whether Run has ended or is ending: nothing is handled any more.
func (e *Engine) Stopped() bool { return e.boxes.stopped() }

// Do puts a decision to a workflow in its turn and waits until what it records is durable. The refusal of the decision
// is returned as it is. When ctx ends first the answer is CodeUnavailable: a decision that has not begun its commit then
// does nothing, one that has completes.
func (e *Engine) Do(ctx context.Context, id domain.WorkflowID, decide Decision) (Receipt, error) {
	return e.wait(ctx, id, item{decide: decide})
}

// DoEnded is Do for a decision that needs the state of a run that has ended, too: to go on with it.
func (e *Engine) DoEnded(ctx context.Context, id domain.WorkflowID, decide Decision) (Receipt, error) {
	return e.wait(ctx, id, item{decide: decide, ended: true})
}

// Begin is Do for a workflow id that has just been minted: nobody can have used it, so the store is not asked.
func (e *Engine) Begin(ctx context.Context, id domain.WorkflowID, decide Decision) (Receipt, error) {
	return e.wait(ctx, id, item{decide: decide, fresh: true})
}

// Post is Do without waiting: done is called once, maybe before Post returns, and must not wait for anything.
func (e *Engine) Post(ctx context.Context, id domain.WorkflowID, decide Decision, done func(Receipt, error)) {
	e.boxes.put(id, item{ctx: ctx, decide: decide, done: done})
}

// Refused reports whether the store could write nothing of what was last put to it.
func (e *Engine) Refused() bool { return e.committer.refused.Load() }

// Look shows a workflow in its turn: everything that was acknowledged before the call is visible, and nothing that is not
// durable.
func (e *Engine) Look(ctx context.Context, id domain.WorkflowID, look func(v View) error) error {
	_, err := e.wait(ctx, id, item{look: look})
	return err
}

// LookEnded is Look with the state of a run that has ended, too.
func (e *Engine) LookEnded(ctx context.Context, id domain.WorkflowID, look func(v View) error) error {
	_, err := e.wait(ctx, id, item{look: look, ended: true})
	return err
}

type answer struct {
	receipt Receipt
	err     error
}

func (e *Engine) wait(ctx context.Context, id domain.WorkflowID, it item) (Receipt, error) {
	answered := make(chan answer, 1)
	it.ctx = ctx
	it.done = func(r Receipt, err error) { answered <- answer{r, err} }
	e.boxes.put(id, it)
	select {
	case a := <-answered:
		return a.receipt, a.err
	case <-ctx.Done():
		return Receipt{}, late(ctx)
	}
}

func late(ctx context.Context) error {
	return domain.Unavailable("DeadlineExceeded",
		"the call ended before its answer was there; it may have been recorded, so repeat it with the same key", context.Cause(ctx))
}

func shuttingDown() error {
	return domain.Unavailable("ShuttingDown", "the server is shutting down; repeat the call later", nil)
}

// TimerFired tells how long after its time a timer fired.
func (e *Engine) TimerFired(lag time.Duration) {
	if e.deps.Meter != nil {
		e.deps.Meter.TimerFired(lag)
	}
}
