package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/retention"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// ended puts a workflow into a store that closed some time ago.
func ended(t *testing.T, s *memory.Store, ns string, n int, ago time.Duration) {
	t.Helper()
	id, run, at := domain.WorkflowID(fake.UUID(uint64(2*n))), domain.RunID(fake.UUID(uint64(2*n+1))), time.Now().Add(-ago)
	c := history.Commit{
		Namespace: domain.Namespace(ns), WorkflowID: id,
		Events: []history.Recorded{history.Record(1, at, id, run, history.WorkflowStarted{WorkflowType: "ship", Input: domain.Payload(`{}`), StartedBy: "ada"})},
		Rows: []history.RunRow{{
			Namespace: domain.Namespace(ns), WorkflowID: id, RunID: run, Generation: 1, WorkflowType: "ship", Status: history.Completed,
			StartedAt: at, EndedAt: at, FirstSeq: 1,
		}},
	}
	if err := s.Append(t.Context(), []history.Commit{c})[0]; err != nil {
		t.Fatal(err)
	}
}

func left(t *testing.T, s *memory.Store) map[string]int64 {
	t.Helper()
	counts := map[string]int64{"default": 0, "brief": 0, "ever": 0}
	for _, ns := range []string{"default", "brief", "ever"} {
		n, err := s.Count(t.Context(), ports.RunFilter{Namespace: domain.Namespace(ns)})
		if err != nil {
			t.Fatal(err)
		}
		for _, some := range n {
			counts[ns] += some
		}
	}
	return counts
}

// engine 7: what closed longer ago than its namespace keeps it goes, while the server runs, and on one server of several.
func TestClosedWorkflowsGoWhenTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(system.Clock{})
		for _, row := range []ports.NamespaceRow{
			{Name: "default"}, {Name: "brief", Retention: new(time.Hour)}, {Name: "ever", Retention: new(time.Duration(0))},
		} {
			if _, _, err := s.AddNamespace(t.Context(), row); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, ns := range []string{"default", "brief", "ever"} {
			for _, ago := range []time.Duration{time.Minute, 2 * time.Hour, 30 * time.Hour} {
				for range 300 {
					n++
					ended(t, s, ns, n, ago)
				}
			}
		}
		var log fake.Log
		var counted atomic.Int64
		var mine atomic.Bool
		r := retention.New(retention.Deps{
			Store: s, Clock: system.Clock{}, Logger: slog.New(slog.NewTextHandler(&log, nil)), Keep: 24 * time.Hour,
			Mine: mine.Load, Removed: func(n int) { counted.Add(int64(n)) },
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		after := func(what string, wait time.Duration, want map[string]int64) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if d := cmp.Diff(want, left(t, s)); d != "" {
				t.Errorf("%s: %s", what, d)
			}
		}
		after("on a server that is not to", 3*time.Minute, map[string]int64{"default": 900, "brief": 900, "ever": 900})
		mine.Store(true)
		after("a minute later", time.Minute, map[string]int64{"default": 600, "brief": 300, "ever": 900})
		r.Change(time.Hour)
		after("with another setting", time.Minute, map[string]int64{"default": 300, "brief": 300, "ever": 900})
		r.Change(0)
		after("for ever", 40*time.Hour, map[string]int64{"default": 300, "brief": 0, "ever": 900})
		if counted.Load() != 1500 || !strings.Contains(log.String(), "workflows=900") {
			t.Errorf("%d are counted; %s", counted.Load(), log.String())
		}
		stop()
		<-done
	})
}

func TestAStoreThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(system.Clock{})
		if _, _, err := s.AddNamespace(t.Context(), ports.NamespaceRow{Name: "default"}); err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			ended(t, s, "default", n+1, 2*time.Hour)
		}
		var log fake.Log
		away := fake.NewStore(s)
		r := retention.New(retention.Deps{Store: away, Clock: system.Clock{}, Logger: slog.New(slog.NewTextHandler(&log, nil)), Keep: time.Hour})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		away.Script(fake.Fault{Op: "RemoveClosed", Call: 3, When: fake.Before})
		time.Sleep(61 * time.Second)
		if n := left(t, s)["default"]; n != 68 || !strings.Contains(log.String(), "level=WARN") {
			t.Errorf("%d are left of a sweep that broke off; %s", n, log.String())
		}
		time.Sleep(time.Minute)
		if n := left(t, s)["default"]; n != 0 {
			t.Errorf("%d are left", n)
		}
		stop()
		if err := <-done; fmt.Sprint(err) != "context canceled" {
			t.Error(err)
		}
	})
}
