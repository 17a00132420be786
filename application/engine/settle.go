package engine

import (
	"aion/domain"
)

// lostRaces is how often a change is decided again on the history that overtook it, before its caller is told.
const lostRaces = 5

// settled ends a turn whose commit was stored or refused. It runs on the committer and waits for nothing.
func (e *Engine) settled(t *turn, err error) {
	if err == nil {
		e.revokeOver(t)
		e.outbox.commit(t)
		e.deps.Watch.Changed(t.box.id)
		e.finish(t, nil)
		return
	}
	e.revoke(t)
	switch domain.CodeOf(err) {
	case domain.CodeSequenceConflict:
		e.again(t, err)
	case domain.CodeIdempotencyConflict:
		// Only the start met the key; whatever came behind it in the same box finds no workflow.
		t.items[t.begins].done(Receipt{}, err)
		t.items = append(t.items[:t.begins], t.items[t.begins+1:]...)
		e.again(t, err)
	default:
		e.outbox.doubt(e.now())
		e.finish(t, err)
	}
}

// revokeOver gives the slots back of attempts that were granted and cancelled in one commit: nothing of them begins.
func (e *Engine) revokeOver(t *turn) {
	kept := t.granted[:0]
	for _, key := range t.granted {
		if t.entry.run.ID() == key.RunID && t.entry.run.AttemptOpen(key.ActivityID, key.Attempt) {
			kept = append(kept, key)
			continue
		}
		e.deps.Admission.Revoke(key)
	}
	t.granted = kept
}

// again puts the items of a turn that lost its race back to the head of their box.
func (e *Engine) again(t *turn, err error) {
	t.box.solo = true
	kept := t.items[:0]
	for _, it := range t.items {
		it.tries++
		it.fresh = false
		if it.tries < lostRaces {
			kept = append(kept, it)
			continue
		}
		it.done(Receipt{}, err)
	}
	e.boxes.putBack(t.box, kept)
	e.boxes.served(t.box)
}

// finish answers the items of a turn and gives its state back. After a failed commit the state is ahead of the store and
// is thrown away.
func (e *Engine) finish(t *turn, err error) {
	if err == nil && t.entry.run != nil && !t.entry.run.Ended() && t.entry.fault == "" {
		e.cache.put(t.box.id, t.entry)
	}
	for i, it := range t.items {
		if err != nil {
			it.done(Receipt{}, err)
			continue
		}
		it.done(t.receipt(i))
	}
	e.boxes.served(t.box)
}

func (t *turn) receipt(i int) (Receipt, error) {
	if t.answers[i].err != nil || t.entry.run == nil {
		return Receipt{}, t.answers[i].err
	}
	span := t.spans[i]
	return Receipt{
		Events: t.commit.Events[span[0]:span[1]:span[1]], Row: t.entry.run.Row(), Result: t.entry.run.Result(),
		Failure: t.entry.run.Failure(),
	}, nil
}

// Conflicted reports whether an error says that another call with the same idempotency key was first.
func Conflicted(err error) bool {
	return domain.CodeOf(err) == domain.CodeIdempotencyConflict && domain.TypeOf(err) == "IdempotencyTaken"
}
