package conformance

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// EventStore runs the suite of ports.EventStore; open gives a fresh store for every case.
func EventStore(t *testing.T, open func(testing.TB) ports.EventStore) {
	run(t, open, map[string]func(*testing.T, ports.EventStore){
		"an unknown workflow has no head and no history":                       unknownWorkflow,
		"history gives events in order, from any seq, in pages":                historyPages,
		"every event comes back byte for byte":                                 everyEventReturns,
		"payload bytes come back as they were":                                 oddPayloadsReturn,
		"20 parallel appends with one expected seq: one wins":                  oneWriterWins,
		"a commit that does not follow the head fails alone":                   conflictFailsAlone,
		"commits of one workflow may follow each other in a group":             groupOfOneWorkflow,
		"a commit that cannot be stored is refused and its neighbours are not": malformedCommit,
		"a live key starts once":                                               liveKeyStartsOnce,
		"an expired key is free again":                                         expiredKeyIsFree,
		"20 parallel starts with one key: one wins":                            oneKeyWins,
		"a refused start does not take its key":                                refusedStartLeavesKey,
		"a context that ended changes nothing":                                 endedContext,
		"what was given may be changed afterwards":                             givenValuesAreCopied,
		"64 readers and writers meet no busy error":                            readersAndWriters,
	})
}

// run gives every case its own store.
func run[S any](t *testing.T, open func(testing.TB) S, cases map[string]func(*testing.T, S)) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func unknownWorkflow(t *testing.T, s ports.EventStore) {
	id := newFlow(1).id
	head, err := s.Head(t.Context(), id)
	same(t, "head", must(t, head, err), history.Seq(0))
	events, err := s.History(t.Context(), id, 1, 10)
	same(t, "history", must(t, events, err), []history.Recorded(nil))
}

func historyPages(t *testing.T, s ports.EventStore) {
	f, other := newFlow(1), newFlow(2)
	mustAppend(t, s, f.started(), other.started())
	all := f.next(step(1), step(2), step(3)).Events
	mustAppend(t, s, history.Commit{Namespace: namespace, WorkflowID: f.id, ExpectedSeq: 1, Events: all})

	head, err := s.Head(t.Context(), f.id)
	same(t, "head", must(t, head, err), history.Seq(4))
	for _, c := range []struct {
		from  history.Seq
		limit int
		want  []history.Seq
	}{
		{1, 10, []history.Seq{1, 2, 3, 4}},
		{1, 2, []history.Seq{1, 2}},
		{3, 2, []history.Seq{3, 4}},
		{4, 5, []history.Seq{4}},
		{5, 5, nil},
		{1, 0, nil},
		{-3, 1, []history.Seq{1}},
		{2, -1, nil},
		{1 << 62, 9, nil},
	} {
		events, err := s.History(t.Context(), f.id, c.from, c.limit)
		var got []history.Seq
		for _, e := range must(t, events, err) {
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("history from %d, limit %d: events %v, want %v", c.from, c.limit, got, c.want)
		}
	}
}

func everyEventReturns(t *testing.T, s ports.EventStore) { // engine 4
	f := newFlow(1)
	events := everyEvent()
	c := f.next(events...)
	mustAppend(t, s, c)
	got, err := s.History(t.Context(), f.id, 1, len(events)+1)
	same(t, "history", must(t, got, err), c.Events)
	for i, r := range got {
		back, err := r.Event()
		if err != nil {
			t.Errorf("%s: %v", r.Type, err)
			continue
		}
		same(t, r.Type, back, events[i])
	}
}

func oddPayloadsReturn(t *testing.T, s ports.EventStore) { // report 15, report 76
	f := newFlow(1)
	c := f.started()
	for _, data := range oddData() {
		f.head++
		c.Events = append(c.Events, history.Recorded{Seq: f.head, At: start, WorkflowID: f.id, RunID: f.run, Type: "FromTheFuture", Data: []byte(data)})
	}
	mustAppend(t, s, c)
	got, err := s.History(t.Context(), f.id, 2, 100)
	for i, r := range must(t, got, err) {
		if want := []byte(oddData()[i]); !bytes.Equal(r.Data, want) {
			t.Errorf("data came back as %q, was %q", r.Data, want)
		}
	}
	same(t, "events", len(got), len(oddData()))
}

func oneWriterWins(t *testing.T, s ports.EventStore) { // report 12
	f := newFlow(1)
	mustAppend(t, s, f.started())
	c := f.next(step(1))
	errs := together(20, func(int) error { return appendOne(t.Context(), s, c) })
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantCode(t, err, domain.CodeSequenceConflict, "SequenceConflict")
	}
	same(t, "writers that won", won, 1)
	head, err := s.Head(t.Context(), f.id)
	same(t, "head", must(t, head, err), history.Seq(2))
}

func conflictFailsAlone(t *testing.T, s ports.EventStore) {
	a, b, c := newFlow(1), newFlow(2), newFlow(3)
	mustAppend(t, s, b.started())
	again := newFlow(2).started() // exists
	early := newFlow(3)
	early.head = 4 // does not exist yet
	errs := s.Append(t.Context(), []history.Commit{a.started(), again, early.next(step(1)), c.started()})
	for i, want := range []bool{true, false, false, true} {
		if want && errs[i] != nil {
			t.Errorf("commit %d: %v", i, errs[i])
		}
		if !want {
			wantCode(t, errs[i], domain.CodeSequenceConflict, "SequenceConflict")
		}
	}
	for _, f := range []*flow{a, b, c} {
		head, err := s.Head(t.Context(), f.id)
		same(t, "head", must(t, head, err), history.Seq(1))
	}
}

func groupOfOneWorkflow(t *testing.T, s ports.EventStore) {
	f := newFlow(1)
	var group []history.Commit
	group = append(group, f.started())
	for n := range int64(30) {
		group = append(group, f.next(step(n), step(n)))
	}
	mustAppend(t, s, group...)
	head, err := s.Head(t.Context(), f.id)
	same(t, "head", must(t, head, err), history.Seq(61))
}

func malformedCommit(t *testing.T, s ports.EventStore) {
	good, gap, foreign, empty, row := newFlow(1), newFlow(2), newFlow(3), newFlow(4), newFlow(6)
	withGap := gap.next(startedEvent(), step(1))
	withGap.Events[1].Seq = 3
	withForeign := foreign.next(startedEvent())
	withForeign.Events[0].WorkflowID = newFlow(5).id
	withRow := row.started()
	withRow.Rows[0].WorkflowID = newFlow(5).id
	errs := s.Append(t.Context(), []history.Commit{withGap, withForeign, {Namespace: namespace, WorkflowID: empty.id}, withRow, good.started()})
	for _, err := range errs[:4] {
		wantCode(t, err, domain.CodeBackend, "StoreFault")
	}
	if errs[4] != nil {
		t.Errorf("the good neighbour failed: %v", errs[4])
	}
	for _, f := range []*flow{gap, foreign, empty, row} {
		head, err := s.Head(t.Context(), f.id)
		same(t, "head after a malformed commit", must(t, head, err), history.Seq(0))
	}
}

// startedWith builds a start with a key. A key that expires "never" outlives every clock of a test.
func (f *flow) startedWith(key string, expires time.Time) history.Commit {
	c := f.started()
	c.Started = &history.Idempotency{Scope: "default", Key: key, Request: hash(7), WorkflowID: f.id, RunID: f.run, ExpiresAt: expires}
	return c
}

var (
	never = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)
	past  = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

func liveKeyStartsOnce(t *testing.T, s ports.EventStore) {
	_, err := s.Idempotent(t.Context(), "default", "k")
	wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
	first, second, other := newFlow(1), newFlow(2), newFlow(3)
	c := first.startedWith("k", never)
	mustAppend(t, s, c)
	errs := s.Append(t.Context(), []history.Commit{second.startedWith("k", never), other.startedWith("k2", never)})
	wantCode(t, errs[0], domain.CodeIdempotencyConflict, "IdempotencyTaken")
	if errs[1] != nil {
		t.Errorf("another key: %v", errs[1])
	}
	got, err := s.Idempotent(t.Context(), "default", "k")
	same(t, "record", must(t, got, err), *c.Started)
	_, err = s.Idempotent(t.Context(), "elsewhere", "k")
	wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
	head, err := s.Head(t.Context(), second.id)
	same(t, "head of the refused start", must(t, head, err), history.Seq(0))
}

func expiredKeyIsFree(t *testing.T, s ports.EventStore) {
	mustAppend(t, s, newFlow(1).startedWith("k", past))
	_, err := s.Idempotent(t.Context(), "default", "k")
	wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
	second := newFlow(2)
	mustAppend(t, s, second.startedWith("k", never))
	got, err := s.Idempotent(t.Context(), "default", "k")
	same(t, "the key's workflow", must(t, got, err).WorkflowID, second.id)
	wantCode(t, appendOne(t.Context(), s, newFlow(3).startedWith("k", never)), domain.CodeIdempotencyConflict, "IdempotencyTaken")
}

func oneKeyWins(t *testing.T, s ports.EventStore) { // engine 7
	errs := together(20, func(n int) error { return appendOne(t.Context(), s, newFlow(n+1).startedWith("k", never)) })
	won := 0
	for n, err := range errs {
		if err != nil {
			wantCode(t, err, domain.CodeIdempotencyConflict, "IdempotencyTaken")
			continue
		}
		won++
		got, err := s.Idempotent(t.Context(), "default", "k")
		same(t, "the key's workflow", must(t, got, err).WorkflowID, newFlow(n+1).id)
	}
	same(t, "starts that won", won, 1)
}

func refusedStartLeavesKey(t *testing.T, s ports.EventStore) {
	mustAppend(t, s, newFlow(1).started())
	wantCode(t, appendOne(t.Context(), s, newFlow(1).startedWith("k", never)), domain.CodeSequenceConflict, "SequenceConflict")
	_, err := s.Idempotent(t.Context(), "default", "k")
	wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
}

func endedContext(t *testing.T, s ports.EventStore) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller has gone")
	cancel(why)
	f := newFlow(1)
	errs := s.Append(ctx, []history.Commit{f.started(), newFlow(2).started()})
	for _, err := range errs {
		if !errors.Is(err, why) {
			t.Errorf("got %v, want the cause of the context", err)
		}
	}
	head, err := s.Head(t.Context(), f.id)
	same(t, "head", must(t, head, err), history.Seq(0))
}

func givenValuesAreCopied(t *testing.T, s ports.EventStore) {
	f := newFlow(1)
	c := f.started()
	want := bytes.Clone(c.Events[0].Data)
	mustAppend(t, s, c)
	clear(c.Events[0].Data)
	got, err := s.History(t.Context(), f.id, 1, 1)
	if !bytes.Equal(must(t, got, err)[0].Data, want) {
		t.Error("the store shares memory with its caller")
	}
	clear(got[0].Data)
	got, err = s.History(t.Context(), f.id, 1, 1)
	if !bytes.Equal(must(t, got, err)[0].Data, want) {
		t.Error("the store shares memory with its reader")
	}
}

func readersAndWriters(t *testing.T, s ports.EventStore) { // report 1
	const writers, each = 32, 20
	errs := together(2*writers, func(n int) error {
		f := newFlow(n/2 + 1)
		for i := range each {
			if n%2 == 1 { // a reader of what its neighbour writes
				events, err := s.History(t.Context(), f.id, 1, 1000)
				if err != nil {
					return err
				}
				if _, err := s.Head(t.Context(), f.id); err != nil {
					return err
				}
				for j, e := range events {
					if e.Seq != history.Seq(j+1) {
						return errors.New("a reader saw a gap")
					}
				}
				continue
			}
			c := f.next(step(int64(i)), step(int64(i)))
			if err := appendOne(t.Context(), s, c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// together calls f from n goroutines that start at one moment.
func together(n int, f func(n int) error) []error {
	errs := make([]error, n)
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-gate
			errs[i] = f(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return errs
}
