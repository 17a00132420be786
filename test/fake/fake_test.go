package fake_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/domain"
	"aion/domain/history"
	"aion/test/conformance"
	"aion/test/fake"
)

func TestClockWakesInOrderAndShowsTheTimeAskedFor(t *testing.T) {
	t.Parallel()
	c := fake.NewClock(time.Time{})
	late, early, now := c.After(2*time.Second), c.After(time.Second), c.After(0)
	if at := <-now; !at.Equal(fake.Epoch) {
		t.Errorf("woken at %v", at)
	}
	if c.Waiting() != 2 {
		t.Errorf("%d waiting", c.Waiting())
	}
	c.Advance(time.Second - 1)
	select {
	case <-early:
		t.Error("woken early")
	default:
	}
	c.Advance(time.Hour)
	if at := <-early; !at.Equal(fake.Epoch.Add(time.Second)) {
		t.Errorf("woken at %v", at)
	}
	if at := <-late; !at.Equal(fake.Epoch.Add(2 * time.Second)) {
		t.Errorf("woken at %v", at)
	}
	if want := fake.Epoch.Add(time.Hour + time.Second - 1); !c.Now().Equal(want) {
		t.Errorf("the clock stands at %v, want %v", c.Now(), want)
	}
}

func TestJumpMovesTheWallClockOnly(t *testing.T) {
	t.Parallel()
	c := fake.NewClock(time.Time{})
	wake := c.After(time.Minute)
	c.Jump(fake.Epoch.Add(-24 * time.Hour))
	c.Advance(time.Minute - 1)
	select {
	case <-wake:
		t.Error("woken early")
	default:
	}
	c.Advance(1)
	<-wake
}

func TestIdentifiersSortAndParse(t *testing.T) {
	t.Parallel()
	ids := fake.NewIDs(0.1, 0.9)
	last := ""
	for range 1000 {
		id := ids.UUIDv7()
		if parsed, err := domain.ParseWorkflowID(id); err != nil || string(parsed) != id || id <= last {
			t.Fatalf("%q after %q: %v", id, last, err)
		}
		last = id
	}
	if got := [3]float64{ids.Factor(), ids.Factor(), ids.Factor()}; got != [3]float64{0.1, 0.9, 0.1} {
		t.Errorf("factors %v", got)
	}
}

func TestStoreWithoutAScriptKeepsEveryPortsPromise(t *testing.T) {
	t.Parallel()
	conformance.All(t, func(testing.TB) conformance.Store { return fake.NewStore(memory.New(fake.NewClock(time.Time{}))) })
}

func commits(n int) []history.Commit {
	var cs []history.Commit
	for i := range n {
		id, run := domain.WorkflowID(fake.UUID(uint64(2*i))), domain.RunID(fake.UUID(uint64(2*i+1)))
		cs = append(cs, history.Commit{
			Namespace: "default", WorkflowID: id,
			Events: []history.Recorded{history.Record(1, fake.Epoch, id, run, history.StepEntered{Step: "s", Visit: 1})},
		})
	}
	return cs
}

func kept(t *testing.T, s *memory.Store, cs []history.Commit) int {
	t.Helper()
	n := 0
	for _, c := range cs {
		head, err := s.Head(t.Context(), c.WorkflowID)
		if err != nil {
			t.Fatal(err)
		}
		n += int(head)
	}
	return n
}

func TestFaultsStrikeTheScriptedCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		when fake.Moment
		kept int
		dead bool
	}{{fake.Before, 0, false}, {fake.Inside, 2, true}, {fake.After, 4, true}} {
		inner := memory.New(fake.NewClock(time.Time{}))
		s := fake.NewStore(inner)
		s.Script(fake.Fault{Op: "Append", Call: 2, When: c.when})
		if err := s.Append(t.Context(), nil); len(err) != 0 {
			t.Error(err)
		}
		cs := commits(4)
		for _, err := range s.Append(t.Context(), cs) {
			if domain.CodeOf(err) != domain.CodeUnavailable {
				t.Errorf("moment %d: got %v", c.when, err)
			}
		}
		if n := kept(t, inner, cs); n != c.kept || s.Dead() != c.dead || s.Struck() != 1 {
			t.Errorf("moment %d: %d commits kept, dead %v, struck %d", c.when, n, s.Dead(), s.Struck())
		}
		_, err := s.Head(t.Context(), cs[0].WorkflowID)
		if (err != nil) != c.dead {
			t.Errorf("moment %d: a later call gives %v", c.when, err)
		}
	}
}

func TestHeldCallWaitsForReleaseOrTheCaller(t *testing.T) {
	t.Parallel()
	s := fake.NewStore(memory.New(fake.NewClock(time.Time{})))
	release := make(chan struct{})
	s.Script(fake.Fault{Op: "Head", Call: 1, Hold: release}, fake.Fault{Op: "Head", Call: 2, Hold: release})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller has gone")
	cancel(why)
	if _, err := s.Head(ctx, "x"); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	close(release)
	if _, err := s.Head(t.Context(), "x"); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestCutStoreFailsEveryCallUntilItIsHealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := fake.NewStore(memory.New(fake.NewClock(time.Time{})))
		for _, wait := range []time.Duration{0, 5 * time.Second} {
			s.Swallow(wait)
			began := time.Now()
			if _, err := s.NextDue(t.Context()); domain.CodeOf(err) != domain.CodeUnavailable || time.Since(began) != wait || s.Dead() {
				t.Errorf("%v after %s, dead: %t", err, time.Since(began), s.Dead())
			}
		}
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.NextDue(hurried); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Error(err)
		}
		s.Cut()
		if err := s.LeaveReplica(t.Context(), "a"); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Error(err)
		}
		s.Heal()
		if _, err := s.Replicas(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
