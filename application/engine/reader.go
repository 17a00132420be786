package engine

import (
	"context"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/run"
	"aion/ports"
)

// Reader shows runs: the latest one of a workflow that goes on from the engine's state, any other one folded from its
// history without a plan. It is safe for concurrent use.
type Reader struct {
	engine *Engine
	events ports.EventStore
}

// NewReader gives a reader of an engine and its store.
func NewReader(e *Engine, events ports.EventStore) *Reader { return &Reader{engine: e, events: events} }

// Run shows one run, named by its row; look must neither change nor keep what it is shown. View.State is nil for a run
// that has ended and for one whose plan is not loaded.
func (r *Reader) Run(ctx context.Context, row history.RunRow, look func(View) error) error {
	if !row.Status.Terminal() {
		other := false
		err := r.engine.Look(ctx, row.WorkflowID, func(v View) error {
			if other = v.Run == nil || v.Run.ID() != row.RunID; other {
				return nil // it ended since its row was read
			}
			return look(v)
		})
		if err != nil || !other {
			return err
		}
	}
	p, err := r.fold(ctx, row)
	if err != nil {
		return err
	}
	if !p.Ended() { // it was reopened since its row was read
		row.Status = p.Status()
		return r.Run(ctx, row, look)
	}
	return look(View{At: r.engine.now(), Run: p})
}

// Attempt tells what a run knows of an attempt.
func (r *Reader) Attempt(ctx context.Context, key domain.AttemptKey, row history.RunRow) (a run.Attempt, err error) {
	err = r.Run(ctx, row, func(v View) error {
		a = v.Run.Attempt(key.ActivityID, key.Attempt)
		return nil
	})
	return a, err
}

// fold reads the events of one run, and of no later one.
func (r *Reader) fold(ctx context.Context, row history.RunRow) (*run.Run, error) {
	p := run.New(row.Namespace, row.Generation)
	from := row.FirstSeq
	for {
		page, err := r.events.History(ctx, row.WorkflowID, from, foldPage)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 && p.ID() == "" { // removed since its row was read
			return nil, run.WorkflowNotFound(row.WorkflowID, row.Namespace)
		}
		for _, rec := range page {
			if rec.RunID != row.RunID {
				return p, nil
			}
			if err := p.Apply(rec, nil); err != nil {
				return nil, err
			}
		}
		if len(page) < foldPage {
			return p, nil
		}
		from = page[len(page)-1].Seq + 1
	}
}
