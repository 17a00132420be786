package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
)

// foldPage is how many events are read at a time when a history is folded: what is held in memory is bounded also for large
// events and many readers.
const foldPage = 128

// load gives the folded state of a workflow, from memory or from its history. One that does not exist gives an entry
// without a run. What other servers may have overtaken is held against the store first. The first item that it is for says
// what is needed.
func (e *Engine) load(ctx context.Context, id domain.WorkflowID, first item) (*entry, error) {
	if ent := e.cache.take(id); ent != nil {
		if !e.deps.Shared {
			return ent, nil
		}
		e.giveWay(ent)
		head, err := e.deps.Events.Head(ctx, id)
		if err != nil || head == ent.run.Head() {
			return ent, err
		}
	}
	if first.fresh {
		return &entry{}, nil
	}
	for {
		rows, err := e.deps.Index.Runs(ctx, id)
		if err != nil || len(rows) == 0 {
			return &entry{}, err
		}
		ent, err := e.read(ctx, id, rows[len(rows)-1], first.ended)
		if !errors.Is(err, errNextRun) {
			return ent, err
		}
	}
}

// errNextRun says that another server opened the next generation, or the run again, while the history was read.
var errNextRun = errors.New("the next run has begun")

// read folds the latest run.
func (e *Engine) read(ctx context.Context, id domain.WorkflowID, latest history.RunRow, ended bool) (ent *entry, err error) {
	ent = &entry{run: run.New(latest.Namespace, latest.Generation)}
	if latest.Status.Terminal() && !ended { // little follows, so the machine is not asked
		if err = e.fold(ctx, id, ent, latest.FirstSeq); err == nil && !ent.run.Ended() {
			err = errNextRun
		}
		return ent, err
	}
	ent.asked = true
	ent.contract, err = e.deps.Plans.Contract(ctx, latest.PackageVersion)
	if domain.CodeOf(err) == domain.CodeUnavailable {
		return nil, err
	}
	if err != nil && !latest.Status.Terminal() {
		e.deps.Logger.Error("the plan of a run cannot be loaded", "workflow_id", id, "run_id", latest.RunID, "error", err)
	}
	if err != nil {
		ent.contract = nil
	}
	return ent, e.fold(ctx, id, ent, latest.FirstSeq)
}

// fold reads the history of the latest run into the projection and, with the replay check, into the machine. A history
// that does not fold under its plan leaves the state empty and names the fault.
func (e *Engine) fold(ctx context.Context, id domain.WorkflowID, ent *entry, from history.Seq) error {
	var replay *replayer
	if ent.contract != nil {
		replay = newReplayer(ent.contract, e.deps.HistoryLimit)
	}
	for {
		page, err := e.deps.Events.History(ctx, id, from, foldPage)
		if err != nil {
			return err
		}
		for _, rec := range page {
			if ent.run.ID() != "" && rec.RunID != ent.run.ID() {
				return errNextRun
			}
			if err := ent.run.Apply(rec, nil); err != nil {
				return err
			}
			replay.feed(rec)
		}
		if len(page) < foldPage {
			break
		}
		from = page[len(page)-1].Seq + 1
	}
	if replay == nil {
		return nil
	}
	ent.state, ent.fault = replay.done()
	if ent.fault != "" {
		e.deps.Logger.Error("a history does not fold under its plan", "workflow_id", id, "run_id", ent.run.ID(), "error", ent.fault,
			"stack", replay.stack)
	}
	return nil
}

// replayer is the machine's replay check with its panics caught: one bad run never stops another.
type replayer struct {
	inner *machine.Replayer
	fault string
	stack string
}

func newReplayer(c *deployment.Contract, limit int) *replayer {
	return &replayer{inner: machine.NewReplayerWith(c.Plan, machine.Options{HistoryLimit: limit})}
}

func (r *replayer) feed(rec history.Recorded) {
	if r == nil || r.fault != "" {
		return
	}
	defer r.caught()
	r.blame(r.inner.Feed(rec))
}

func (r *replayer) done() (state *machine.State, fault string) {
	if r.fault != "" {
		return nil, r.fault
	}
	defer r.caught()
	state, err := r.inner.Done()
	r.blame(err)
	if r.fault != "" {
		return nil, r.fault
	}
	return state, ""
}

func (r *replayer) blame(err error) {
	var differs *machine.Nondeterminism
	switch {
	case err == nil:
	case errors.As(err, &differs):
		r.fault = fmt.Sprintf("nondeterminism: event %d differs from what the plan derives", differs.Seq)
	default:
		r.fault = domain.Quote("engine_fault: "+err.Error(), 500)
	}
}

func (r *replayer) caught() {
	if p := recover(); p != nil {
		r.fault, r.stack = domain.Quote(fmt.Sprintf("engine_fault: %v", p), 500), string(debug.Stack())
	}
}
