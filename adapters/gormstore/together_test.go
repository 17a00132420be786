package gormstore_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/test/conformance"
	"aion/test/fake"
)

// queued starts calls one after the other while the turn is held, so that they are written together in this order.
func queued(t *testing.T, s *gormstore.Store, calls ...func() error) []error {
	t.Helper()
	release := s.HoldWriter()
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		for s.WaitingChanges() != i+1 {
			runtime.Gosched()
		}
	}
	release()
	wg.Wait()
	return errs
}

func TestChangesWrittenTogetherFailAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	cs := chains(3)
	one := func(c history.Commit) func() error {
		return func() error { return s.Append(t.Context(), []history.Commit{c})[0] }
	}
	first := cs[0].next()
	broken := cs[1].next()
	broken.Events[1].Data = nil // no store keeps an event without data
	second := cs[0].next()
	key := domain.AttemptKey{WorkflowID: cs[0].id, RunID: cs[0].run, Attempt: 1}
	errs := queued(t, s,
		one(first),
		one(first), // has just been written
		one(broken),
		func() error { return conformance.Reroute(t.Context(), s, "ship", "unknown", fake.Epoch) },
		func() error {
			_, err := s.AppendRecords(t.Context(), key, []transcript.Record{{WorkerSeq: 1, Kind: transcript.Message, Text: "x"}})
			return err
		},
		one(second),
		one(cs[2].next()),
	)
	for i, code := range []domain.Code{"", domain.CodeSequenceConflict, domain.CodeBackend, domain.CodeNotFound, "", "", ""} {
		if (errs[i] == nil) != (code == "") || errs[i] != nil && domain.CodeOf(errs[i]) != code {
			t.Errorf("change %d: got %v, want code %q", i, errs[i], code)
		}
	}
	for i, want := range []history.Seq{cs[0].head, 0, cs[2].head} {
		if head, err := s.Head(t.Context(), cs[i].id); err != nil || head != want {
			t.Errorf("workflow %d: head %d, %v; want %d", i, head, err, want)
		}
	}
	if head, _, err := s.Tail(t.Context(), key); err != nil || head != 1 {
		t.Errorf("transcript: head %d, %v", head, err)
	}
}

func TestMoreChangesThanOneTransactionHolds(t *testing.T) {
	t.Parallel()
	s := open(t)
	cs := chains(150)
	var calls []func() error
	for _, c := range cs {
		calls = append(calls, func() error { return s.Append(t.Context(), oneCommit(c))[0] })
	}
	for i, err := range queued(t, s, calls...) {
		if err != nil {
			t.Errorf("change %d: %v", i, err)
		}
	}
	for i, c := range cs {
		if head, err := s.Head(t.Context(), c.id); err != nil || head != c.head {
			t.Errorf("workflow %d: head %d, %v; want %d", i, head, err, c.head)
		}
	}
}

func TestAChangeThatWaitsIsWithdrawnWithItsCaller(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller has gone")
	cs := chains(1)
	if err := s.Append(ctx, oneCommit(cs[0]))[0]; err != nil {
		t.Fatal(err)
	}
	release := s.HoldWriter()
	failed := make(chan error)
	go func() { failed <- s.Append(ctx, oneCommit(cs[0]))[0] }()
	for s.WaitingChanges() != 1 {
		runtime.Gosched()
	}
	cancel(why)
	if err := <-failed; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if s.WaitingChanges() != 0 {
		t.Error("the change still waits")
	}
	release()
	if head, err := s.Head(t.Context(), cs[0].id); err != nil || head != 3 {
		t.Errorf("head %d, %v; want 3", head, err)
	}
}

func TestChangesThatWaitWhenTheStoreClosesAreRefused(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	cs := chains(10)
	release := s.HoldWriter()
	var wg sync.WaitGroup
	errs := make([]error, len(cs)+1)
	wg.Go(func() { errs[len(cs)] = s.Close() })
	for i, c := range cs {
		wg.Go(func() { errs[i] = s.Append(t.Context(), oneCommit(c))[0] })
	}
	for s.WaitingChanges() != len(cs) {
		runtime.Gosched()
	}
	release()
	wg.Wait()
	if errs[len(cs)] != nil {
		t.Error(errs[len(cs)])
	}
	again := mustOpen(t, o)
	for i, c := range cs {
		head, err := again.Head(t.Context(), c.id)
		if err != nil || (head == 0) != (domain.CodeOf(errs[i]) == domain.CodeUnavailable && errs[i] != nil) || head != 0 && errs[i] != nil {
			t.Errorf("workflow %d: answer %v, head %d after the restart, %v", i, errs[i], head, err)
		}
	}
}
