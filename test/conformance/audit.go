package conformance

import (
	"encoding/json"
	"fmt"
	"testing"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

// AuditLog runs the suite of ports.AuditLog.
func AuditLog(t *testing.T, open func(testing.TB) Store) {
	run(t, open, map[string]func(*testing.T, Store){
		"records come back whole, in the order of adding":   auditReturns,
		"chains begin with the heads of those before":       auditChains,
		"no records of nothing":                             auditIsEmpty,
		"a change and its record are written or neither is": auditWithChanges,
		"records of one chain and some places are dropped":  auditDropped,
	})
}

// audited are the actions that were recorded, each with its target.
func audited(t *testing.T, s Store) []string {
	t.Helper()
	all, err := s.AuditRecords(t.Context(), 0, 100)
	var out []string
	for _, r := range must(t, all, err) {
		out = append(out, r.Action+" "+r.Target)
	}
	return out
}

func record(action, target string) *domain.AuditRecord {
	return &domain.AuditRecord{Subject: "ada", Surface: "mcp", Action: action, Target: target, Outcome: domain.AuditOK}
}

// server 47: each kind of change with a record of its own, and its refusal with none.
func auditWithChanges(t *testing.T, s Store) {
	ctx := t.Context()
	f, other := newFlow(1), newFlow(2)
	first, second := f.started(), other.started()
	lost := first
	first.Audit = []domain.AuditRecord{*record("run.start", "1"), *record("run.signal", "1")}
	lost.Audit = []domain.AuditRecord{*record("run.start", "lost")}
	second.Audit = []domain.AuditRecord{*record("run.start", "2")}
	errs := s.Append(ctx, []history.Commit{first, lost, second})
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Fatalf("%v", errs)
	}
	k := mcpTask(1)
	k.Audit = record("task.create", "1")
	if err := s.CreateMCPTask(ctx, k, 1); err != nil {
		t.Fatal(err)
	}
	over := mcpTask(2)
	over.Audit = record("task.create", "over")
	wantCode(t, s.CreateMCPTask(ctx, over, 1), domain.CodeResourceExhausted, "TooManyTasks")
	cancel := func(refusal error) error {
		changed, err := s.ChangeMCPTask(ctx, k.ID, func(k task.Task) (task.Task, error) {
			if k.Audit != nil {
				t.Error("a stored task keeps its record")
			}
			k.Audit = record("task.cancel", "1")
			return k.Cancel(task.End{At: start}), refusal
		})
		if changed.Audit != nil {
			t.Error("the record is given back")
		}
		return err
	}
	if err := cancel(task.Ended(k.ID)); err == nil {
		t.Error("the refusal of a change is lost")
	}
	if err := cancel(nil); err != nil {
		t.Fatal(err)
	}
	v := version(1)
	v.Audit = record("deploy.load", "w")
	if stored, _, err := s.PutVersion(ctx, v); err != nil || stored.Audit != nil {
		t.Errorf("%v, %v", stored.Audit, err)
	}
	unused := version(2)
	put(t, s, unused, true)
	to := func(hash string) deployment.Route {
		return deployment.Route{WorkflowType: v.WorkflowType, ContentHash: hash, RoutedAt: start, Audit: record("deploy.route", "w")}
	}
	if _, err := s.SetRoute(ctx, to(hash(9))); err == nil {
		t.Error("a version that is not stored is routed")
	}
	if _, err := s.SetRoute(ctx, to(v.ContentHash)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.DeleteVersion(ctx, v.WorkflowType, v.ContentHash, record("deploy.unload", "w")), domain.CodeVersionPinned, "RouteActive")
	if err := s.DeleteVersion(ctx, unused.WorkflowType, unused.ContentHash, record("deploy.unload", "w")); err != nil {
		t.Fatal(err)
	}
	list, err := s.Routes(ctx)
	if must(t, list, err); len(list) != 1 || list[0].Audit != nil {
		t.Errorf("%+v", list)
	}
	row := ports.NamespaceRow{Name: "acme", CreatedAt: start, Audit: record("namespace.create", "acme")}
	for range 2 { // the second one adds nothing
		if _, _, err := s.AddNamespace(ctx, row); err != nil {
			t.Fatal(err)
		}
	}
	row.Audit = record("namespace.update", "acme")
	if _, err := s.ChangeNamespace(ctx, row); err != nil {
		t.Fatal(err)
	}
	row.Name = "absent"
	_, err = s.ChangeNamespace(ctx, row)
	wantCode(t, err, domain.CodeNotFound, "NamespaceNotFound")
	wantCode(t, s.RemoveNamespace(ctx, "absent", record("namespace.delete", "absent")), domain.CodeNotFound, "NamespaceNotFound")
	if err := s.RemoveNamespace(ctx, "acme", record("namespace.delete", "acme")); err != nil {
		t.Fatal(err)
	}
	same(t, "records", audited(t, s), []string{
		"run.start 1", "run.signal 1", "run.start 2", "task.create 1", "task.cancel 1", "deploy.load w", "deploy.route w", "deploy.unload w",
		"namespace.create acme", "namespace.update acme", "namespace.delete acme",
	})
}

func auditRecord(n int) domain.AuditRecord {
	return domain.AuditRecord{
		Subject: "ada é\x00", Mode: "token", Source: "header", Surface: "mcp", Action: "run.start", Namespace: "default", Target: fmt.Sprint("<", n, ">"),
		Outcome: domain.AuditRefused, Code: domain.CodeNotFound, RequestID: "r", Remote: "192.0.2.1:1", Detail: domain.Payload(`{"bytes":9007199254740993,"hash":"<&>"}`),
	}
}

func auditReturns(t *testing.T, s Store) {
	if err := s.BeginAudit(t.Context(), "one", domain.AuditRecord{Action: "server.start"}); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if err := s.Audit(t.Context(), auditRecord(n)); err != nil {
			t.Fatal(err)
		}
	}
	read, err := s.AuditRecords(t.Context(), 0, 10)
	all := must(t, read, err)
	if len(all) != 6 {
		t.Fatalf("%d records", len(all))
	}
	var trail domain.AuditTrail
	for n, r := range all {
		if err := trail.Add(r); err != nil {
			t.Error(err)
		}
		if n == 0 {
			continue
		}
		want := auditRecord(n - 1)
		want.Seq, want.Chain, want.N, want.At, want.Prev, want.Hash = r.Seq, "one", int64(n)+1, r.At, r.Prev, r.Hash
		same(t, fmt.Sprint("record ", n), r, want)
	}
	some, err := s.AuditRecords(t.Context(), all[2].Seq, 2)
	same(t, "a page", must(t, some, err), all[3:5])
	past, err := s.AuditRecords(t.Context(), all[5].Seq, 10)
	same(t, "past the end", must(t, past, err), []domain.AuditRecord(nil))
}

// Whoever cuts the end of a chain off is betrayed by the next one.
func auditChains(t *testing.T, s Store) {
	var want []domain.AuditHead
	for n, chain := range []string{"b", "a", "c"} {
		if err := s.BeginAudit(t.Context(), chain, domain.AuditRecord{Action: "server.start"}); err != nil {
			t.Fatal(err)
		}
		for i := range n + 1 {
			if err := s.Audit(t.Context(), auditRecord(i)); err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.AuditRecords(t.Context(), 0, 100)
		var first domain.AuditRecord
		for _, r := range must(t, all, err) {
			if r.Chain == chain && r.N == 1 {
				first = r
			}
		}
		var named struct{ Heads []domain.AuditHead }
		if err := json.Unmarshal(first.Detail, &named); err != nil {
			t.Fatal(err)
		}
		same(t, "named by "+chain, append([]domain.AuditHead(nil), named.Heads...), want)
		heads, err := s.AuditHeads(t.Context())
		want = append([]domain.AuditHead(nil), must(t, heads, err)...)
		if len(want) != 1 || want[0].Chain != chain || want[0].N != int64(n)+2 {
			t.Errorf("the heads after %s: %+v", chain, want)
		}
	}
	all, err := s.AuditRecords(t.Context(), 0, 100)
	var trail domain.AuditTrail
	for _, r := range must(t, all, err) {
		if err := trail.Add(r); err != nil {
			t.Error(err)
		}
	}
	if n := trail.Count(); n != 9 || len(trail.Heads()) != 3 {
		t.Errorf("%d records in %v", n, trail.Heads())
	}
}

func auditIsEmpty(t *testing.T, s Store) {
	none, err := s.AuditRecords(t.Context(), 0, 10)
	same(t, "an empty log", must(t, none, err), []domain.AuditRecord(nil))
	heads, err := s.AuditHeads(t.Context())
	if len(must(t, heads, err)) != 0 {
		t.Errorf("%v", heads)
	}
}

func auditDropped(t *testing.T, s Store) { // server 5.9
	for _, chain := range []string{"one", "two"} {
		if err := s.BeginAudit(t.Context(), chain, *record("server.start", chain)); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			if err := s.Audit(t.Context(), *record("run.start", fmt.Sprint(chain, n))); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := s.AuditRecords(t.Context(), 0, 100)
	last := must(t, all, err)[3].Seq
	for _, drop := range []struct {
		chain       string
		first, last int64
	}{{"two", 1, last}, {"one", 1, all[1].Seq}, {"none", 1, 1 << 20}} {
		if err := s.DropAudit(t.Context(), drop.chain, drop.first, drop.last); err != nil {
			t.Fatal(err)
		}
	}
	left, err := s.AuditRecords(t.Context(), 0, 100)
	same(t, "what is left", must(t, left, err), all[2:])
	if err := s.DropAudit(t.Context(), "one", all[2].Seq, last); err != nil {
		t.Fatal(err)
	}
	if err := s.Audit(t.Context(), *record("run.start", "later")); err != nil {
		t.Fatal(err)
	}
	left, err = s.AuditRecords(t.Context(), all[7].Seq, 100)
	if len(must(t, left, err)) != 1 || left[0].N != 5 || left[0].Prev != all[7].Hash || left[0].Seq <= all[7].Seq {
		t.Errorf("the next record is %+v", left)
	}
}
