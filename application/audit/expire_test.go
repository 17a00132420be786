package audit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/audit"
	"aion/domain"
	"aion/test/fake"
)

// lived adds the chain of a process to a log.
func lived(t *testing.T, log *memory.Store, chain string, records int) *audit.Trail {
	t.Helper()
	trail := audit.New(audit.Deps{
		Log: log, Chain: chain, Clock: system.Clock{}, Logger: slog.New(slog.DiscardHandler), Expiry: audit.Expiry{Store: log, Keep: 24 * time.Hour},
	})
	if err := trail.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range records {
		if err := trail.Record(t.Context(), domain.AuditRecord{Action: "run.start", Target: fmt.Sprint(n), Outcome: domain.AuditOK}); err != nil {
			t.Fatal(err)
		}
	}
	return trail
}

// holds verifies a log and gives the number of its records.
func holds(t *testing.T, log *memory.Store, what string) int64 {
	t.Helper()
	trail, err := audit.Verify(t.Context(), log)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return trail.Count()
}

// server 5.9: chains whose time is over go whole and leave their heads; what is left verifies at every moment, also when a
// removal breaks off, and when what was left of an earlier one goes in turn.
func TestOldChainsGoWholeAndLeaveTheirHeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memory.New(system.Clock{})
		lived(t, log, "one", 5)
		lived(t, log, "two", 3)
		time.Sleep(30 * time.Hour)
		cutter := lived(t, log, "three", 2) // names the head of two
		if n, err := cutter.Expire(t.Context(), time.Now().Add(-24*time.Hour)); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		if n := holds(t, log, "after the first"); n != 4 {
			t.Errorf("%d records", n)
		}
		if n, err := cutter.Expire(t.Context(), time.Now().Add(-24*time.Hour)); n != 0 || err != nil {
			t.Error(n, err)
		}
		time.Sleep(30 * time.Hour)
		if n, err := cutter.Expire(t.Context(), time.Now().Add(-24*time.Hour)); n != 0 || err != nil {
			t.Error("the own chain goes", n, err)
		}
		last := lived(t, log, "four", 1)
		away := fake.NewStore(log)
		last.Expiry.Store = away
		away.Script(fake.Fault{Op: "DropAudit", Call: 1, When: fake.Before})
		if _, err := last.Expire(t.Context(), time.Now().Add(-24*time.Hour)); err == nil {
			t.Error("a failed removal is silent")
		}
		holds(t, log, "broken off")
		if n, err := last.Expire(t.Context(), time.Now().Add(-24*time.Hour)); n != 0 || err != nil {
			t.Error(n, err)
		}
		if n := holds(t, log, "gone on"); n != 3 {
			t.Errorf("%d records", n)
		}
		records, err := log.AuditRecords(t.Context(), 0, 10)
		if err != nil || records[2].Action != domain.AuditCut || records[0].Chain != "four" {
			t.Errorf("%+v, %v", records, err)
		}
	})
}

// The chain of a server that may live stays, also while nobody can say which live.
func TestChainsOfLivingServersStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memory.New(system.Clock{})
		lived(t, log, "dead", 1)
		lived(t, log, "alive", 1)
		time.Sleep(30 * time.Hour)
		own := lived(t, log, "own", 1)
		own.Expiry.Living = func(context.Context) ([]string, error) { return nil, errors.New("away") }
		if n, err := own.Expire(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err == nil {
			t.Error(n, err)
		}
		own.Expiry.Living = func(context.Context) ([]string, error) { return []string{"alive", "own"}, nil }
		if n, err := own.Expire(t.Context(), time.Now().Add(-time.Hour)); n != 1 || err != nil {
			t.Error(n, err)
		}
		if n := holds(t, log, "after it"); n != 2+2+1 {
			t.Errorf("%d records", n)
		}
	})
}

// A running server removes by itself, every hour, what its setting says.
func TestOldChainsGoWhileAServerRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memory.New(system.Clock{})
		lived(t, log, "old", 4)
		own := lived(t, log, "own", 0)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- own.Run(ctx) }()
		time.Sleep(23 * time.Hour)
		synctest.Wait()
		if n := holds(t, log, "early"); n != 6 {
			t.Errorf("%d records", n)
		}
		own.Keep(0)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if n := holds(t, log, "for ever"); n != 6 {
			t.Errorf("%d records", n)
		}
		own.Keep(time.Hour)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := holds(t, log, "over"); n != 2 {
			t.Errorf("%d records", n)
		}
		stop()
		<-done
	})
}
