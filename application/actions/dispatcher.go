package actions

import (
	"context"
	"log/slog"
	"runtime/pprof"
	"sync"
	"time"

	"aion/application/engine"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/action"
	"aion/ports"
)

// bodies answers which body an action has for one run: a Catalogue.
type bodies interface {
	Lookup(ctx context.Context, q Question) Answer
}

// Deps is what the dispatcher needs.
type Deps struct {
	Engine     *engine.Engine
	Gate       *Gate // the one that the engine asks
	Tasks      ports.TaskStore
	Backlogs   ports.BacklogStore // nil: what waits is read task by task, whoever serves it
	Events     ports.EventStore
	Catalogue  bodies // nil: one over Plans and Index
	Plans      Versions
	Index      Records // of runs; may be nil while every task names its version
	Executor   ports.Executor
	Transcript *transcripts.Publisher
	Clock      ports.Clock
	IDs        ports.IDs
	Logger     *slog.Logger
	Meter      ports.AttemptMeter // nil: nothing is counted

	ClaimTTL     time.Duration // until a claim that is not renewed ends; 60 s when zero
	LostAttempts int           // so many lost attempts in a row end an activity; 5 when zero
	MaxResult    int           // bytes of an encoded result; 2 MiB when zero
	Poll         time.Duration // how long a lost wake-up may stay unnoticed; 1 s when zero

	// Left is told that tasks wait that the server does not take itself; it must not wait. nil: nobody else takes any.
	Left func()

	// Peers are the servers that work on the same store; nil: none.
	Peers     Peers
	KillGrace time.Duration // the executor's: how long a stopped command may take to end by itself; 2 s when zero
	KillWait  time.Duration // and how long until it is proved gone after that; 5 s when zero
}

// Peers tells what a server must know of the others before it takes their attempts over, or gives its own up.
type Peers interface {
	// Others reports whether another server worked on the store when that last answered.
	Others() bool
	// Gapless is how long the store has answered this server without a gap.
	Gapless() time.Duration
}

// Dispatcher runs attempts. It is safe for concurrent use.
type Dispatcher struct {
	Deps
	registry *registry
	delayed  delayed
	reloadAt time.Time
	unserved int  // due tasks that nobody here serves, at the last reading
	more     bool // the store holds due tasks that found no room in memory
	attempts sync.WaitGroup
	unkept   unkept
	ending   chan struct{} // closed when nothing is waited for any more
	hurries  sync.Once
	suspect  chan struct{} // written when another server may have ended what runs here
}

// New gives a dispatcher that does nothing until Run.
func New(d Deps) *Dispatcher {
	if d.LostAttempts <= 0 {
		d.LostAttempts = 5
	}
	if d.MaxResult <= 0 {
		d.MaxResult = 2 << 20
	}
	if d.Poll <= 0 {
		d.Poll = time.Second
	}
	if d.ClaimTTL <= 0 {
		d.ClaimTTL = time.Minute
	}
	if d.KillGrace <= 0 {
		d.KillGrace = 2 * time.Second
	}
	if d.KillWait <= 0 {
		d.KillWait = 5 * time.Second
	}
	if d.Meter == nil {
		d.Meter = unmetered{}
	}
	if d.Catalogue == nil {
		c := NewCatalogue(d.Logger)
		c.Install(d.Plans, d.Index)
		d.Catalogue = c
	}
	return &Dispatcher{Deps: d, registry: newRegistry(), ending: make(chan struct{}), suspect: make(chan struct{}, 1)}
}

// Run starts attempts as slots come free, until ctx ends. Attempts that run then are stopped and parked; Drain gives them
// time before that. It returns the cause of ctx when none is left.
func (d *Dispatcher) Run(ctx context.Context) error {
	// Attempts outlive ctx until they are proved gone.
	work := context.WithoutCancel(ctx)
	outbox := d.Engine.Outbox()
	d.reload(ctx)
	for {
		d.dispatch(work)
		select {
		case <-ctx.Done():
			d.end(work, outbox)
			return context.Cause(ctx)
		case <-outbox.Tasks():
			d.take(work, outbox)
		case <-d.Gate.freed:
			d.refill(ctx)
		case <-d.Clock.After(d.untilNext()):
			d.tick(ctx)
		}
	}
}

// end stops everything at once. Attempts that commits in flight still grant are parked as they come.
func (d *Dispatcher) end(work context.Context, outbox *engine.Outbox) {
	d.hurry()
	d.Engine.Drain()
	empty := d.Gate.shut()
	d.registry.drain()
	d.registry.stopAll(ports.StopDrain)
	for held := true; held; {
		select {
		case <-outbox.Tasks():
			d.take(work, outbox)
		case <-empty:
			held = false
		}
	}
	d.attempts.Wait()
}

// take handles what commits have asked for.
func (d *Dispatcher) take(work context.Context, outbox *engine.Outbox) {
	offers, missed := outbox.Take()
	for _, o := range offers {
		switch o := o.(type) {
		case engine.Granted:
			d.begin(work, o.Task)
		case engine.Queued:
			d.await(work, waiting{Queued: o})
		case engine.RunOver:
			d.registry.stopRun(o.RunID)
		case engine.ActivityOver:
			d.registry.stopActivity(o.RunID, o.ActivityID)
		}
	}
	if missed {
		d.more = true
		d.soon()
	}
	d.hear(outbox)
}

// await lets a task wait for its time, and then for a slot. What finds no room stays in the store.
func (d *Dispatcher) await(ctx context.Context, w waiting) {
	if w.NotBefore.After(d.Clock.Now()) {
		if !d.delayed.add(w) {
			d.soon()
		}
		return
	}
	if !d.served(ctx, w) {
		d.leave()
		return
	}
	if !d.Gate.enqueue(w) {
		d.more = true
		d.soon()
	}
}

// served reports whether the server takes a task itself (actions 1.2): it has a body for it, or cannot tell which of
// several and refuses the attempt. What is not served waits for the workers of its queue; a version that cannot be read
// now is asked for again with the next reading of the store.
func (d *Dispatcher) served(ctx context.Context, w waiting) bool {
	switch d.lookup(ctx, w.TaskQueue, w.Name, w.Key, w.Version).Lookup.(type) {
	case action.Declared, action.Ambiguous:
		return true
	default:
		return false
	}
}

// lookup asks the catalogue with the ids of the dispatching run. When bodies are left to workers there are none here.
func (d *Dispatcher) lookup(ctx context.Context, queue, name string, key domain.AttemptKey, version string) Answer {
	if d.Gate.bodies == BodiesDelegate {
		return Answer{Lookup: action.NoBody{}}
	}
	return d.Catalogue.Lookup(ctx, Question{TaskQueue: queue, Name: name, Key: key, Version: version})
}

// soon asks for a reading of the store at the next poll.
func (d *Dispatcher) soon() { d.within(d.Poll) }

// within asks for a reading of the store after a time at the latest.
func (d *Dispatcher) within(pause time.Duration) {
	d.reloadAt = earlier(d.reloadAt, d.Clock.Now().Add(pause))
}

// dispatch starts waiting tasks while there are slots.
func (d *Dispatcher) dispatch(work context.Context) {
	for {
		w, ok := d.Gate.next()
		if !ok {
			return
		}
		d.attempts.Go(func() {
			pprof.Do(work, pprof.Labels("component", "actions.attempt"), func(ctx context.Context) { d.claim(ctx, w) })
		})
	}
}

// untilNext is how long the loop may wait: for the next delayed task or the next reading.
func (d *Dispatcher) untilNext() time.Duration {
	next := d.reloadAt
	if at, ok := d.delayed.next(); ok && at.Before(next) {
		next = at
	}
	// The wall clock may be set while the monotonic one runs, so no wait is longer than a few polls.
	return min(max(next.Sub(d.Clock.Now()), 0), 5*d.Poll)
}

func (d *Dispatcher) tick(ctx context.Context) {
	now := d.Clock.Now()
	for _, w := range d.delayed.due(now) {
		d.await(ctx, w)
	}
	if !d.reloadAt.After(now) {
		d.reload(ctx)
	}
}
