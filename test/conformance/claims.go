package conformance

import (
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// actions 5.4: also one that has ended holds, as long as nobody else took the task.
func renewedClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	held, other, queued, parked := f.task(0, history.TaskStarted), f.task(1, history.TaskStarted), f.task(2, history.TaskQueued), f.task(3, history.TaskStarted)
	held.ClaimUntil = past
	withTasks(t, s, f, held, other, queued, parked)
	if err := s.Park(t.Context(), []history.Claim{{Key: parked.Key, Token: parked.Token}}); err != nil {
		t.Fatal(err)
	}
	parked.State, parked.Owner, parked.Token, parked.ClaimUntil = history.TaskParked, "", 0, time.Time{}
	good := history.Claim{Key: held.Key, Token: held.Token}
	stale := []history.Claim{
		{Key: other.Key, Token: other.Token + 1},
		{Key: other.Key, Token: other.Token - 1},
		{Key: other.Key},
		{Key: f.key(1, 2), Token: other.Token},
		{Key: queued.Key},
		{Key: parked.Key, Token: 4},
		{Key: parked.Key},
		{Key: f.key(77, 1), Token: 4},
		{Key: newFlow(2).key(0, 1), Token: 4},
	}
	until := start.Add(time.Hour)
	lost, err := s.Renew(t.Context(), append([]history.Claim{good}, stale...), until)
	same(t, "lost", must(t, lost, err), stale)
	held.ClaimUntil = until
	same(t, "open", openTasks(t, s, f.id), []history.Task{held, other, queued, parked})
	lost, err = s.Renew(t.Context(), nil, until)
	same(t, "of none", must(t, lost, err), []history.Claim(nil))
}

// actions 5.4
func staleClaims(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	withTasks(t, s, f, f.task(0, history.TaskStarted), f.task(1, history.TaskStarted))
	withTasks(t, s, g, g.task(0, history.TaskStarted))
	before := openTasks(t, s, f.id)
	ends := func(f *flow, activity int64, claims ...history.Claim) history.Commit {
		c := f.acting(history.TaskEnded{WorkflowID: f.id, RunID: f.run, ActivityID: activity})
		c.Claims = claims
		return c
	}
	good := history.Claim{Key: f.key(0, 1), Token: 4}
	for _, stale := range []history.Claim{
		{Key: f.key(0, 1), Token: 3}, {Key: f.key(0, 1), Token: 5}, {Key: f.key(0, 1)}, {Key: f.key(0, 2), Token: 4}, {Key: f.key(9, 1), Token: 4},
	} {
		wantCode(t, appendOne(t.Context(), s, ends(f, 0, stale)), domain.CodeSequenceConflict, "ClaimLost")
		wantCode(t, appendOne(t.Context(), s, ends(f, 0, good, stale)), domain.CodeSequenceConflict, "ClaimLost")
	}
	same(t, "after the refusals", openTasks(t, s, f.id), before)
	errs := s.Append(t.Context(), []history.Commit{ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 3}), ends(g, 0, history.Claim{Key: g.key(0, 1), Token: 4})})
	wantCode(t, errs[0], domain.CodeSequenceConflict, "ClaimLost")
	if errs[1] != nil {
		t.Errorf("the neighbour failed too: %v", errs[1])
	}
	// Whoever starts the task again has another token.
	mustAppend(t, s, f.acting(history.TaskMoved{Key: f.key(0, 1), State: history.TaskStarted, Owner: "server-2", Token: 9, ClaimUntil: start}))
	wantCode(t, appendOne(t.Context(), s, ends(f, 0, good)), domain.CodeSequenceConflict, "ClaimLost")
	mustAppend(t, s, ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 9}, history.Claim{Key: f.key(1, 1), Token: 4}))
	same(t, "after the verdict", openTasks(t, s, f.id), before[1:])
	wantCode(t, appendOne(t.Context(), s, ends(f, 0, history.Claim{Key: f.key(0, 1), Token: 9})), domain.CodeSequenceConflict, "ClaimLost")
}

// actions 5.4
func lapsedClaims(t *testing.T, s Tasks) {
	f, g := newFlow(1), newFlow(2)
	first, second, third, queued := f.task(0, history.TaskStarted), g.task(0, history.TaskStarted), f.task(1, history.TaskStarted), f.task(2, history.TaskQueued)
	first.ClaimUntil, second.ClaimUntil, third.ClaimUntil = start.Add(time.Second), start.Add(2*time.Second), start.Add(3*time.Second)
	withTasks(t, s, f, third, queued, first)
	withTasks(t, s, g, second)
	for _, c := range []struct {
		at    time.Time
		limit int
		want  []history.Task
	}{
		{start, 10, nil},
		{first.ClaimUntil, 10, []history.Task{first}},
		{never, 10, []history.Task{first, second, third}},
		{never, 2, []history.Task{first, second}},
		{never, 0, nil},
	} {
		got, err := s.Lapsed(t.Context(), c.at, c.limit)
		same(t, fmt.Sprint("lapsed at ", c.at, ", limit ", c.limit), must(t, got, err), c.want)
	}
	lost, err := s.Renew(t.Context(), []history.Claim{{Key: first.Key, Token: first.Token}}, never)
	same(t, "lost", must(t, lost, err), []history.Claim(nil))
	if err := s.Park(t.Context(), []history.Claim{{Key: third.Key, Token: third.Token}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lapsed(t.Context(), start.Add(time.Hour), 10)
	same(t, "after a renewal and a drain", must(t, got, err), []history.Task{second})
}

// actions 5.4
func lostClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	held, parked, queued := f.task(0, history.TaskStarted), f.task(1, history.TaskParked), f.task(2, history.TaskQueued)
	held.ClaimUntil = past // as long as nobody else took it
	withTasks(t, s, f, held, parked, queued)
	stale := []history.Claim{
		{Key: held.Key, Token: held.Token + 1}, {Key: f.key(0, 2), Token: held.Token}, {Key: f.key(9, 1), Token: held.Token}, {Key: queued.Key, Token: 1},
	}
	lost, err := s.Lost(t.Context(), append([]history.Claim{{Key: held.Key, Token: held.Token}}, stale...))
	same(t, "lost", must(t, lost, err), stale)
	same(t, "open", openTasks(t, s, f.id), []history.Task{held, parked, queued})
	lost, err = s.Lost(t.Context(), nil)
	same(t, "of none", must(t, lost, err), []history.Claim(nil))
}

// actions 5.3: two servers that find a parked attempt do not both go on with it.
func parkedClaims(t *testing.T, s Tasks) {
	f := newFlow(1)
	parked, queued, started := f.task(0, history.TaskParked), f.task(1, history.TaskQueued), f.task(2, history.TaskStarted)
	withTasks(t, s, f, parked, queued, started)
	takes := func(key domain.AttemptKey, owner string) history.Commit {
		c := f.acting(history.TaskMoved{Key: key, State: history.TaskStarted, Owner: owner, Token: 7, ClaimUntil: never, NotBefore: start})
		c.Claims = []history.Claim{{Key: key}}
		return c
	}
	for _, key := range []domain.AttemptKey{queued.Key, started.Key, f.key(0, 2), f.key(9, 1)} {
		wantCode(t, appendOne(t.Context(), s, takes(key, "server-2")), domain.CodeSequenceConflict, "ClaimLost")
	}
	won := 0
	for _, err := range together(8, func(n int) error { return appendOne(t.Context(), s, takes(parked.Key, fmt.Sprint("server-", n))) }) {
		if err == nil {
			won++
		} else {
			wantCode(t, err, domain.CodeSequenceConflict, "ClaimLost")
		}
	}
	if won != 1 {
		t.Errorf("%d servers go on with one attempt", won)
	}
}
