package engine

import (
	"context"

	"aion/domain"
	"aion/domain/history"
)

// fault pauses the run whose one item made the machine panic. The fact of the item is recorded behind the pause, where it
// derives nothing: what happened outside is not lost, and a mended program goes on from there. A start that panics leaves
// nothing behind.
func (e *Engine) fault(ctx context.Context, t *turn, s *spoilt) {
	e.deps.Logger.Error("a run faulted the engine", "workflow_id", t.box.id, "error", s.err, "stack", s.panicked)
	internal := &domain.Error{Code: domain.CodeBackend, Type: "Internal", Message: "the run faulted the engine and is paused", Err: s.err}
	if len(t.items) == 0 {
		e.failBox(t.box, internal)
		return
	}
	it := t.items[0]
	ent, err := e.load(ctx, t.box.id, item{fresh: it.fresh})
	if err != nil || ent.run == nil || ent.run.Ended() {
		it.done(Receipt{}, internal)
		e.boxes.served(t.box)
		return
	}
	ent.state = nil
	ent.fault = domain.Quote("engine_fault: "+s.err.Error(), 500)
	again := &turn{box: t.box, entry: ent, row: ent.run.Row()}
	again.items = append(again.items, it)
	if err := e.pauseAnd(again, it); err != nil || len(again.commit.Events) == 0 {
		it.done(Receipt{}, internal)
		e.boxes.served(t.box)
		return
	}
	e.seal(again)
	e.committer.submit(again)
}

// pauseAnd records the pause and then the facts of the item, without the machine.
func (e *Engine) pauseAnd(t *turn, it item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &domain.Error{Code: domain.CodeBackend, Type: "Internal", Message: "the decision panics"}
		}
	}()
	v := e.view(t)
	if t.entry.run.Status() == history.Running {
		if err := e.record(t, v.At, history.WorkflowPaused{By: "engine", Reason: t.entry.fault}); err != nil {
			return err
		}
	}
	from := len(t.commit.Events)
	change, refusal := it.decide(e.view(t))
	if refusal == nil && change.Begin == nil {
		for _, fact := range change.Facts {
			if err := e.record(t, v.At, fact); err != nil {
				return err
			}
		}
	}
	t.answers = append(t.answers, answer{err: refusal})
	t.spans = append(t.spans, [2]int{from, len(t.commit.Events)})
	return nil
}
