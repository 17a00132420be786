package engine

import (
	"aion/domain"
)

// lostRaces is how often a change is decided again on a history that overtook it, before its caller is told. Whoever wins
// has recorded something, so the others of a few servers that work on one workflow get their turn after a handful of
// tries; the bound is for one that can never keep up.
const lostRaces = 100

// lostClaims is the same for a change whose claim is lost: the second time it was decided on what the store holds.
const lostClaims = 2

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
		// Only that item met the key; whatever came behind a start in the same box finds no workflow.
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

// again puts the items of a turn that lost its race back to the head of their box. A lost race is run again as it was; what
// fails for one of its items is found by serving them one by one.
func (e *Engine) again(t *turn, err error) {
	most := lostRaces
	if domain.TypeOf(err) != "SequenceConflict" {
		t.box.solo = true
	}
	if domain.TypeOf(err) == "ClaimLost" {
		most = lostClaims
	}
	kept := t.items[:0]
	for _, it := range t.items {
		it.tries++
		it.fresh = false
		if it.tries < most || most == lostClaims && len(t.items) > 1 {
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
		e.keepPace(t)
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

// Later reports whether an error says that the same may succeed later: the store is away, or others were always faster.
func Later(err error) bool {
	code := domain.CodeOf(err)
	return err != nil && (code == domain.CodeUnavailable || code == domain.CodeSequenceConflict && domain.TypeOf(err) != "ClaimLost")
}

// Conflicted reports whether an error says that another call with the same idempotency key was first.
func Conflicted(err error) bool {
	return domain.CodeOf(err) == domain.CodeIdempotencyConflict && domain.TypeOf(err) == "IdempotencyTaken"
}
