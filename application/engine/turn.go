package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
)

// The bounds of what one turn puts into one commit. A single change may pass them: it is never split.
const (
	turnEvents = 256
	turnBytes  = 256 << 10
)

// turn is the service of one box: items at its head, decided in order on one folded state, recorded in one commit.
type turn struct {
	box     *box
	entry   *entry
	items   []item // those in the commit or answered after it, in order
	answers []answer
	spans   [][2]int // events of each answer in the commit
	commit  history.Commit
	acts    run.Acts
	row     history.RunRow // before the commit
	bytes   int
	granted []domain.AttemptKey
	begins  int // index of the item whose change has the key of the commit
	left    int // items that may still be taken
	began   time.Time
}

// spoilt says that the state of a turn cannot be trusted any more: it is folded again and its items are served one by
// one. panicked holds the value and stack of a panic.
type spoilt struct {
	err      error
	panicked string
}

func (s *spoilt) Error() string { return "state spoilt: " + s.err.Error() }
func (s *spoilt) Unwrap() error { return s.err }

func (e *Engine) serve(ctx context.Context) {
	for {
		b, ok := e.boxes.next()
		if !ok {
			return
		}
		e.serveBox(ctx, b)
	}
}

// serveBox serves the items at the head of a box. Looks are answered at once; changes are gathered into one commit, and
// the box is served again when that is durable.
func (e *Engine) serveBox(ctx context.Context, b *box) {
	head, waiting := e.boxes.first(b)
	if waiting == 0 {
		e.boxes.served(b)
		return
	}
	began := e.deps.Clock.Now()
	ent, err := e.load(ctx, b.id, head)
	if err != nil {
		e.failBox(b, err)
		if domain.CodeOf(err) == domain.CodeUnavailable && e.deps.Clock.Now().Sub(began) >= waitedForRead {
			e.boxes.fail(err)
		}
		return
	}
	t := &turn{box: b, entry: ent, left: waiting, began: e.deps.Clock.Now()}
	if ent.run != nil {
		t.row = ent.run.Row()
	}
	if err := e.fill(t); err != nil {
		e.spoil(ctx, t, err)
		return
	}
	if len(t.commit.Events) == 0 {
		e.finish(t, nil)
		return
	}
	e.seal(t)
	e.committer.submit(t)
}

// waitedForRead is how long a read must have waited in vain for those whose turn has not come to be answered with it: a store
// that is away is not waited for once per workflow.
const waitedForRead = 200 * time.Millisecond

// failBox answers every item of a box whose workflow cannot be read.
func (e *Engine) failBox(b *box, err error) {
	for _, it := range e.boxes.takeAll(b) {
		it.done(Receipt{}, err)
	}
	e.boxes.served(b)
}

// fill takes items until the commit is large enough, the box is empty, or a look comes after a change. What came after a
// shared store was read waits for the next reading: it may follow something that another server has acknowledged.
func (e *Engine) fill(t *turn) error {
	if t.entry.fault != "" && t.entry.run.Status() == history.Running {
		if err := e.record(t, e.now(), history.WorkflowPaused{By: "engine", Reason: t.entry.fault}); err != nil {
			return err
		}
	}
	for !t.full() {
		it, waiting := e.boxes.first(t.box)
		if waiting == 0 || it.look != nil && len(t.commit.Events) > 0 || e.deps.Shared && t.left == 0 || it.ended && t.entry.unasked() {
			return nil
		}
		e.boxes.drop(t.box)
		t.left--
		if it.ctx.Err() != nil {
			it.done(Receipt{}, late(it.ctx))
			continue
		}
		if it.look != nil {
			it.done(Receipt{}, e.look(t, it))
			continue
		}
		t.items = append(t.items, it)
		if err := e.change(t, it); err != nil {
			return err
		}
	}
	return nil
}

// full reports that a turn takes no more: its commit is large enough or has its one key, or its items are served one by one.
func (t *turn) full() bool {
	return len(t.commit.Events) >= turnEvents || t.bytes >= turnBytes || t.commit.Started != nil || t.box.solo && len(t.items) > 0
}

// look shows the state to a reader; a reader's panic is its own.
func (e *Engine) look(t *turn, it item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.deps.Logger.Error("a look at a run panicked", "workflow_id", t.box.id, "error", p, "stack", string(debug.Stack()))
			err = &domain.Error{Code: domain.CodeBackend, Type: "Internal", Message: "the run could not be shown", Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return it.look(e.view(t))
}

func (e *Engine) view(t *turn) View {
	return View{At: e.now(), Run: t.entry.run, State: t.entry.state, Contract: t.entry.contract}
}

// now is the time as events record it.
func (e *Engine) now() time.Time { return e.deps.Clock.Now().UTC().Truncate(time.Microsecond) }

// change lets an item decide and records what it wants. A refusal is its answer; only a spoilt state is returned.
func (e *Engine) change(t *turn, it item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &spoilt{err: fmt.Errorf("panic: %v", p), panicked: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	v := e.view(t)
	change, refusal := it.decide(v)
	if refusal == nil && change.Begin != nil && e.draining.Load() {
		refusal = shuttingDown()
	}
	from := len(t.commit.Events)
	if refusal == nil {
		if err := e.apply(t, v.At, change); err != nil {
			return err
		}
		if change.Audit != nil && len(t.commit.Events) > from {
			t.commit.Audit = append(t.commit.Audit, *change.Audit)
		}
	}
	t.answers = append(t.answers, answer{err: refusal})
	t.spans = append(t.spans, [2]int{from, len(t.commit.Events)})
	return nil
}

// apply records the facts of a change, then the starts of the attempts that are granted a slot at once.
func (e *Engine) apply(t *turn, at time.Time, c Change) error {
	if len(c.Facts) == 0 {
		return nil // maybe there is no workflow at all
	}
	if c.Begin != nil {
		t.begins = len(t.items) - 1
		t.entry.run = run.New(c.Begin.Namespace, 1)
		t.entry.state, t.entry.contract = e.newState(), c.Begin.Contract
		t.commit.Started = c.Begin.Started
	}
	acts, events := len(t.acts.List), len(t.commit.Events)
	if c.Remote != "" {
		e.own(t)
	}
	for _, fact := range c.Facts {
		runID := t.entry.run.ID()
		if c.Begin != nil {
			runID = c.Begin.RunID
		}
		if err := e.fact(t, at, runID, fact); err != nil {
			return err
		}
	}
	if c.Key != nil && len(t.commit.Events) > events {
		t.begins, t.commit.Started = len(t.items)-1, c.Key
	}
	if c.Remote != "" {
		t.acts.Own(c.Remote, history.HeldByLease())
	}
	if len(t.commit.Events) > events {
		t.commit.Claims = append(t.commit.Claims, c.Claims...)
		t.acts.List = append(t.acts.List, c.Acts...)
	}
	return e.grant(t, at, acts)
}

// fact puts one fact to the machine and records it with what it derives. One that the machine ignores is not recorded.
// Without a state the fact stands alone: its run is paused or ends with it.
func (e *Engine) fact(t *turn, at time.Time, runID domain.RunID, fact history.Event) error {
	rec := history.Record(t.entry.run.Head()+1, at, t.box.id, runID, fact)
	if t.entry.state == nil {
		return t.push(rec)
	}
	result, err := machine.Advance(t.entry.contract.Plan, t.entry.state, rec)
	if err != nil {
		return &spoilt{err: err}
	}
	if result.Ignored {
		return nil
	}
	if err := t.push(rec); err != nil {
		return err
	}
	for _, derived := range result.Derived {
		if next, ok := derived.(history.WorkflowStarted); ok {
			return e.generation(t, at, next)
		}
		if err := t.push(history.Record(t.entry.run.Head()+1, at, t.box.id, t.entry.run.ID(), derived)); err != nil {
			return err
		}
	}
	return nil
}

// generation opens the next run of a chain in the commit that closed the one before it.
func (e *Engine) generation(t *turn, at time.Time, started history.WorkflowStarted) error {
	before := t.entry.run
	t.commit.Rows = append(t.commit.Rows, before.Row())
	next := domain.RunID(domain.DeriveUUID(string(before.ID()), "next"))
	t.entry.run = run.Next(before)
	t.entry.state = e.newState()
	t.row = history.RunRow{}
	return e.fact(t, at, next, started)
}

func (e *Engine) newState() *machine.State {
	return machine.NewWith(machine.Options{HistoryLimit: e.deps.HistoryLimit})
}

// record pushes a fact that no machine sees.
func (e *Engine) record(t *turn, at time.Time, fact history.Event) error {
	return t.push(history.Record(t.entry.run.Head()+1, at, t.box.id, t.entry.run.ID(), fact))
}

func (t *turn) push(rec history.Recorded) error {
	if err := t.entry.run.Apply(rec, &t.acts); err != nil {
		return &spoilt{err: err}
	}
	t.commit.Events = append(t.commit.Events, rec)
	t.bytes += len(rec.Data) + 128
	return nil
}

// grant starts the attempts of activities that this change scheduled and that may begin at once: the fast path of one
// commit per activity.
func (e *Engine) grant(t *turn, at time.Time, from int) error {
	if t.entry.run.Status() != history.Running || t.entry.state == nil || e.draining.Load() {
		return nil
	}
	for i := from; i < len(t.acts.List); i++ {
		added, ok := t.acts.List[i].(history.TaskAdded)
		if !ok || added.Task.State != history.TaskQueued || added.Task.NotBefore.After(at) {
			continue
		}
		key := added.Task.Key
		// What was scheduled may have been cancelled by a later fact of the same change.
		if _, open := t.entry.run.Activity(key.ActivityID); !open {
			continue
		}
		declared := t.entry.contract.Plan.Action(added.Task.TaskQueue, added.Task.Name)
		if declared == nil || !e.deps.Admission.Admit(added.Task, declared) {
			continue
		}
		t.granted = append(t.granted, key)
		start := history.ActivityStarted{ActivityID: key.ActivityID, Attempt: key.Attempt, Executor: "server"}
		if err := e.fact(t, at, key.RunID, start); err != nil {
			return err
		}
	}
	return nil
}

// own claims the attempts that begin in a turn for this server.
func (e *Engine) own(t *turn) { t.acts.Own(e.deps.Owner, e.now().Add(e.deps.ClaimTTL)) }

// seal completes the commit of a turn.
func (e *Engine) seal(t *turn) {
	e.own(t)
	row := t.entry.run.Row()
	t.commit.Namespace, t.commit.WorkflowID = row.Namespace, t.box.id
	t.commit.ExpectedSeq = t.commit.Events[0].Seq - 1
	t.commit.Acts, t.commit.Current = t.acts.List, t.entry.run.CurrentStep()
	if row.Status != t.row.Status || row.RunID != t.row.RunID || row.PausedReason != t.row.PausedReason || !row.EndedAt.Equal(t.row.EndedAt) {
		t.commit.Rows = append(t.commit.Rows, row)
	}
}

// spoil throws the state away and serves the items of the turn again, one by one; the one item of such a turn is answered.
func (e *Engine) spoil(ctx context.Context, t *turn, err error) {
	e.revoke(t)
	if !t.box.solo && len(t.items) > 0 {
		t.box.solo = true
		e.boxes.putBack(t.box, t.items)
		e.boxes.served(t.box)
		return
	}
	var s *spoilt
	if errors.As(err, &s) && s.panicked != "" {
		e.fault(ctx, t, s)
		return
	}
	e.deps.Logger.Error("a fact cannot be applied", "workflow_id", t.box.id, "error", err)
	internal := &domain.Error{Code: domain.CodeBackend, Type: "Internal", Message: "the call could not be applied to the run", Err: err}
	for _, it := range t.items {
		it.done(Receipt{}, internal)
	}
	if len(t.items) == 0 {
		e.failBox(t.box, internal)
		return
	}
	e.boxes.served(t.box)
}

func (e *Engine) revoke(t *turn) {
	for _, key := range t.granted {
		e.deps.Admission.Revoke(key)
	}
	t.granted = nil
}
