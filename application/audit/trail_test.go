package audit_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/audit"
	"aion/domain"
	"aion/test/fake"
)

func refusal(subject, remote string, code domain.Code) domain.AuditRecord {
	return domain.AuditRecord{Subject: subject, Remote: remote, Code: code, Surface: "mcp", Action: "auth.refused"}
}

// short are the records of a log in short, and that it holds.
func short(t *testing.T, store *memory.Store) []string {
	t.Helper()
	if _, err := audit.Verify(t.Context(), store); err != nil {
		t.Error(err)
	}
	records, err := store.AuditRecords(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		out = append(out, strings.TrimSpace(fmt.Sprint(r.Action, " ", r.Subject, r.Remote, " ", r.Code, " ", string(r.Detail))))
	}
	return out
}

// server 47, server 5.9: refusals are capped, what is over the cap is told as a count, and the heads are in the log.
func TestRefusalsAreCappedAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &fake.Log{}
		store := memory.New(system.Clock{})
		trail := audit.New(audit.Deps{Log: store, Chain: "c", Clock: system.Clock{}, Logger: slog.New(slog.NewTextHandler(log, nil))})
		if err := trail.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- trail.Run(ctx) }()
		want := []string{`server.start server  {"heads":[]}`}
		for n := range 25 {
			trail.Refused(t.Context(), refusal("", fmt.Sprintf("192.0.2.1:%d", n+1), "unauthenticated"))
			if n < 10 {
				want = append(want, fmt.Sprintf("auth.refused 192.0.2.1:%d unauthenticated", n+1))
			}
		}
		trail.Refused(t.Context(), refusal("ada", "192.0.2.1:1", "unauthenticated"))
		trail.Refused(t.Context(), refusal("", "192.0.2.1:1", "deploy_denied"))
		want = append(want, "auth.refused ada192.0.2.1:1 unauthenticated", "auth.refused 192.0.2.1:1 deploy_denied")
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		want = append(want, `auth.refused 192.0.2.1:25 unauthenticated {"count":15}`)
		trail.Refused(t.Context(), refusal("", "192.0.2.1:1", "unauthenticated"))
		want = append(want, "auth.refused 192.0.2.1:1 unauthenticated")
		if d := cmp.Diff(want, short(t, store)); d != "" {
			t.Error(d)
		}
		if strings.Contains(log.String(), "audit head") {
			t.Errorf("too early: %s", log.String())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "audit head"); n != 1 || !strings.Contains(log.String(), "chain=c n=15") {
			t.Errorf("%d heads are logged: %s", n, log.String())
		}
		stop()
		<-done
		trail.Reloaded(t.Context(), []string{"log.level"})
		trail.End(t.Context())
		want = append(want, `config.reload server  {"keys":["log.level"]}`, "server.stop server")
		if d := cmp.Diff(want, short(t, store)); d != "" {
			t.Error(d)
		}
		if !strings.Contains(log.String(), "chain=c n=17") {
			t.Errorf("the end is not logged: %s", log.String())
		}
	})
}

// A flood from everywhere fills neither memory nor the store without bound.
func TestRefusalsFromEverywhereAreBounded(t *testing.T) {
	t.Parallel()
	store := memory.New(system.Clock{})
	trail := audit.New(audit.Deps{Log: store, Chain: "c", Clock: system.Clock{}, Logger: slog.New(slog.DiscardHandler)})
	if err := trail.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 12_000 {
		trail.Refused(t.Context(), refusal("", fmt.Sprintf("10.%d.%d.1:1", n/250, n%250), "unauthenticated"))
	}
	trail.End(t.Context())
	got := short(t, store)
	if len(got) != 1+10_000+1+1 || got[10_001] != `auth.refused  unauthenticated {"count":2000}` {
		t.Errorf("%d records, %q", len(got), got[len(got)-2:])
	}
}
