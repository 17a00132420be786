package actions

import (
	"context"
	"sync"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

// recoverAtOnce bounds the lost attempts that are recorded side by side.
const recoverAtOnce = 256

// Recover records as lost every attempt that an earlier server left running, so that it is tried again. It must be called
// once, while the engine runs and before the dispatcher does. It tells how many there were.
func (d *Dispatcher) Recover(ctx context.Context) (int, error) {
	held, err := d.Tasks.Held(ctx)
	if err != nil {
		return 0, err
	}
	var dead []domain.AttemptKey
	for _, t := range held {
		if t.Owner != d.Engine.Owner() {
			dead = append(dead, t.Key)
		}
	}
	return len(dead), d.lose(ctx, dead)
}

// recoverDoubtful finds attempts of this server that were recorded as started by a commit that seemed to fail: nobody
// runs them.
func (d *Dispatcher) recoverDoubtful(ctx context.Context) {
	held, err := d.Tasks.Held(ctx, d.Engine.Owner())
	if err != nil {
		d.Gate.doubted()
		d.soon()
		return
	}
	var dead []domain.AttemptKey
	for _, t := range held {
		if !d.Gate.holds(t.Key) && !d.registry.holds(t.Key) {
			dead = append(dead, t.Key)
		}
	}
	if err := d.lose(ctx, dead); err != nil {
		d.Gate.doubted()
		d.soon()
	}
}

// lose records attempts as lost. An attempt that has ended meanwhile, or whose plan is not loaded, is left as it is.
func (d *Dispatcher) lose(ctx context.Context, keys []domain.AttemptKey) error {
	var mu sync.Mutex
	var away error
	for len(keys) > 0 {
		n := min(len(keys), recoverAtOnce)
		var wait sync.WaitGroup
		wait.Add(n)
		for _, key := range keys[:n] {
			d.Engine.Post(ctx, key.WorkflowID, d.lost(key), func(r engine.Receipt, err error) {
				defer wait.Done()
				if err == nil {
					if len(r.Events) > 0 {
						d.Meter.AttemptEnded(ports.EndClass(action.Lost), 0)
					}
					return
				}
				d.Logger.Error("a lost attempt cannot be recorded", keyed(key, "error", err)...)
				if domain.CodeOf(err) == domain.CodeUnavailable {
					mu.Lock()
					away = err
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		keys = keys[n:]
	}
	return away
}

func (d *Dispatcher) lost(key domain.AttemptKey) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		a, open, err := running(v, key)
		if err != nil || !open || d.registry.holds(key) {
			return engine.Change{}, err
		}
		return engine.Change{Facts: []history.Event{history.ActivityFailed{
			ActivityID: key.ActivityID, Attempt: key.Attempt, Class: action.Lost,
			Code: action.CodeServerDied, Message: "the server that ran this attempt died", RetryAt: d.retryAt(v.At, a, action.Lost, 0),
		}}}, nil
	}
}
