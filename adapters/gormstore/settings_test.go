package gormstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/domain/task"
	"aion/domain/transcript"
	"aion/domain/worker"
	"aion/ports"
	"aion/test/conformance"
	"aion/test/fake"
)

// settings are those that every connection must share.
var settings = []string{"busy_timeout", "journal_mode", "synchronous", "auto_vacuum", "foreign_keys", "locking_mode", "page_size", "cache_size"}

// readersSettings opens every reading connection at once and reads the settings of each.
func readersSettings(t *testing.T, s *gormstore.Store, n int) []string {
	t.Helper()
	var all []string
	for range n {
		conn, err := s.Pool().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		var values []string
		for _, name := range append(settings, "query_only") {
			var v any
			if err := conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&v); err != nil {
				t.Fatal(name, err)
			}
			values = append(values, fmt.Sprintf("%s=%v", name, v))
		}
		all = append(all, strings.Join(values, " "))
	}
	return all
}

func TestEveryConnectionHasTheSameSettings(t *testing.T) { // report 3
	t.Parallel()
	for _, unsafe := range []bool{false, true} {
		o := options(t)
		o.Readers, o.UnsafeNoFsync = 7, unsafe
		s := mustOpen(t, o)
		synchronous := 2
		if unsafe {
			synchronous = 0
		}
		shared := fmt.Sprintf("busy_timeout=5000 journal_mode=wal synchronous=%d auto_vacuum=2 foreign_keys=0 locking_mode=normal page_size=4096 cache_size=-4096",
			synchronous)
		all := readersSettings(t, s, o.Readers)
		s.Pool().SetMaxIdleConns(0) // closes them; the next ones are new
		s.Pool().SetMaxIdleConns(o.Readers)
		all = append(all, readersSettings(t, s, o.Readers)...)
		for i, got := range all {
			if got != shared+" query_only=1" {
				t.Errorf("reading connection %d has %s, want %s", i, got, shared)
			}
		}
		var values []string
		for _, name := range settings {
			v, err := s.WriterSetting(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, fmt.Sprintf("%s=%v", name, v))
		}
		if got := strings.Join(values, " "); got != shared {
			t.Errorf("the writing connection has %s, want %s", got, shared)
		}
	}
}

func TestReadingConnectionsCannotWrite(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.Pool().ExecContext(t.Context(), `DELETE FROM events`); err == nil {
		t.Error("a reading connection deleted events")
	}
}

// everyCall makes every call of every port that runs a statement, in each of its forms.
// workerCalls are those about remote workers.
func workerCalls(t *testing.T, s *gormstore.Store, id domain.WorkflowID, key domain.AttemptKey, check func(any, error)) {
	t.Helper()
	ctx := t.Context()
	head, err := s.Head(ctx, id)
	check(nil, err)
	granted := history.Commit{Namespace: "default", WorkflowID: id, ExpectedSeq: head, Acts: []history.Act{
		history.LeaseTaken{Lease: history.Lease{Hash: "h", TaskID: "t", WorkerID: "w", Key: key, State: history.LeaseHeld}}, history.LeaseOver{Hash: "other"},
	}}
	check(nil, s.Append(ctx, []history.Commit{granted})[0])
	_, _, err = s.PutWorker(ctx, worker.Worker{ID: "w", Settings: worker.Settings{TaskQueue: "q"}})
	check(nil, err)
	check(s.Worker(ctx, "w"))
	for _, queue := range []string{"", "q"} {
		check(s.Workers(ctx, queue, fake.Epoch))
		check(s.Backlogs(ctx, queue, fake.Epoch))
	}
	check(s.WaitingTasks(ctx, ports.Backlog{TaskQueue: "q"}, fake.Epoch, 10))
	check(nil, s.SeenWorkers(ctx, []string{"w"}, fake.Epoch))
	check(nil, s.DrainWorker(ctx, "w"))
	check(s.Leases(ctx, "t"))
	for _, of := range []string{"", "w"} {
		check(s.OpenLeases(ctx, of))
	}
	check(s.LapsedLeases(ctx, fake.Epoch, 10))
	check(s.ExtendLeases(ctx, []string{"h"}, fake.Epoch))
	check(s.RekeyLease(ctx, "h", "k", fake.Epoch))
	check(s.MoveLeases(ctx, []string{"k"}, ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnded}))
	for _, forgotten := range []string{"", "w"} {
		check(s.ForgetWorkers(ctx, forgotten, fake.Epoch, 10))
	}
}

func everyCall(t *testing.T, s *gormstore.Store) {
	t.Helper()
	ctx := t.Context()
	c := chains(1)[0]
	first := c.next()
	first.Started = &history.Idempotency{Scope: "default", Key: "k", WorkflowID: c.id, RunID: c.run, ExpiresAt: fake.Epoch.Add(time.Hour)}
	second, third := c.next(), c.next()
	third.Rows = first.Rows
	key := domain.AttemptKey{WorkflowID: c.id, RunID: c.run, Attempt: 1}
	third.Acts = append(third.Acts, history.TaskMoved{Key: key, State: history.TaskQueued}, history.TimerSet{Timer: history.Timer{WorkflowID: c.id, RunID: c.run}},
		history.TimerCleared{WorkflowID: c.id, RunID: c.run}, history.RunClosed{WorkflowID: c.id, RunID: c.run}, history.Posted{Message: history.Message{ID: "m"}})
	errs := s.Append(ctx, []history.Commit{first, second, third})
	check := func(_ any, err error) { errs = append(errs, err) }
	check(s.History(ctx, c.id, 1, 10))
	check(s.Head(ctx, c.id))
	check(s.Idempotent(ctx, "default", "k"))
	check(s.Runs(ctx, c.id))
	check(s.RunsIn(ctx, "default", c.id))
	for _, status := range []history.Status{"", history.Running} {
		for _, typ := range []string{"", "ship"} {
			for _, from := range []time.Time{{}, fake.Epoch} {
				for _, after := range []*ports.RunPosition{nil, {At: fake.Epoch, RunID: c.run}} {
					f := ports.RunFilter{Namespace: "default", Status: status, WorkflowType: typ, StartedAfter: from, StartedBefore: from}
					check(s.List(ctx, f, after, 10))
					check(s.Count(ctx, f))
				}
			}
		}
	}
	for _, f := range []ports.RunFilter{
		{PackageVersion: "v"},
		{Parent: c.id},
		{Order: ports.LastEndedFirst},
		{Order: ports.LastEndedFirst, EndedAfter: fake.Epoch, EndedBefore: fake.Epoch},
		{EndedAfter: fake.Epoch},
		{Labels: map[string]string{"a": "b"}},
		{Prefix: "0198"},
		{FailedSince: fake.Epoch},
		{FailedSince: fake.Epoch, Order: ports.LastEndedFirst},
		{Statuses: []history.Status{history.Running, history.Failed}},
		{Order: ports.OldestFirst, PackageVersion: "v"},
	} {
		f.Namespace = "default"
		for _, after := range []*ports.RunPosition{nil, {At: fake.Epoch, RunID: c.run}} {
			check(s.List(ctx, f, after, 10))
		}
		check(s.Count(ctx, f))
	}
	check(s.RunChanges(ctx, "default", nil, 10))
	check(s.RunChanges(ctx, "default", &ports.ChangePosition{N: 1}, 10))
	check(s.RunChanges(ctx, "default", &ports.ChangePosition{Epoch: 1 << 50, N: 1 << 50}, 10))
	_, _, err := s.PinnedBy(ctx, "x", nil, 3)
	check(nil, err)
	_, _, err = s.PinnedBy(ctx, "x", []domain.Namespace{"a", "b"}, 3)
	check(nil, err)
	check(s.Due(ctx, fake.Epoch, 10))
	check(s.Held(ctx))
	check(s.Held(ctx, "a", "b"))
	check(s.Open(ctx, c.id))
	check(nil, s.Park(ctx, []history.Claim{{Key: key, Token: 1}}))
	check(s.Renew(ctx, []history.Claim{{Key: key, Token: 1}}, fake.Epoch))
	stale := c.next()
	stale.Claims = []history.Claim{{Key: key, Token: 7}}
	if domain.CodeOf(s.Append(ctx, []history.Commit{stale})[0]) != domain.CodeSequenceConflict {
		t.Error("a lost claim is not refused")
	}
	check(s.Lapsed(ctx, fake.Epoch, 10))
	check(s.Lost(ctx, []history.Claim{{Key: key, Token: 1}, {Key: key}}))
	stale.Claims[0].Token = 0
	if domain.CodeOf(s.Append(ctx, []history.Commit{stale})[0]) != domain.CodeSequenceConflict {
		t.Error("a claim of a task that is not parked is not refused")
	}
	nightly := schedule.Schedule{Namespace: "default", ID: "nightly", UID: "u", RequestKey: "k", Due: fake.Epoch, Fires: 2000, CreatedAt: fake.Epoch}
	_, _, err = s.CreateSchedule(ctx, nightly, fake.Epoch)
	check(nil, err)
	check(s.Schedule(ctx, nightly.Ref()))
	check(s.Schedules(ctx, ports.ScheduleFilter{Namespace: "default", Limit: 10}))
	check(s.ChangeSchedule(ctx, nightly.Ref(), func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		return v, []schedule.Fire{{N: 2000}}, nil
	}))
	check(s.Fires(ctx, nightly, 0, 10))
	for _, of := range []ports.Shards{nil, {}, {1, 2, 3}} {
		check(s.DueSchedules(ctx, of, fake.Epoch, nil, 10))
		check(s.NextSchedule(ctx, of))
	}
	check(s.OpenOfSchedule(ctx, nightly.Ref(), 10))
	check(s.List(ctx, ports.RunFilter{Namespace: "default", ScheduleID: "nightly"}, nil, 10))
	check(nil, s.DeleteSchedule(ctx, nightly.Ref(), nil, nil))
	check(s.RenewReplica(ctx, ports.Replica{ID: "one"}, time.Minute))
	check(s.Replicas(ctx))
	check(nil, s.LeaveReplica(ctx, "one"))
	for _, of := range []ports.Shards{{}, {1, 2, 3}} {
		check(s.DueTimers(ctx, of, fake.Epoch, 10))
		check(s.NextTimer(ctx, of))
		check(s.Pending(ctx, of, 10))
	}
	workerCalls(t, s, c.id, key, check)
	check(s.NextDue(ctx))
	check(s.DueTimers(ctx, nil, fake.Epoch, 10))
	check(s.NextTimer(ctx, nil))
	check(s.Pending(ctx, nil, 10))
	check(nil, s.Delivered(ctx, []string{"m"}))
	check(s.AppendRecords(ctx, key, []transcript.Record{{WorkerSeq: 1, Kind: transcript.Message}}))
	_, _, err = s.Records(ctx, key, 0, 10)
	check(nil, err)
	check(s.Heads(ctx, c.id, c.run))
	_, _, err = s.Tail(ctx, key)
	check(nil, err)
	for i := range 2 {
		v := versionOf(i)
		_, _, err = s.PutVersion(ctx, v)
		check(nil, err)
		_, _, err = s.PutVersion(ctx, v)
		check(nil, err)
	}
	check(s.Routed(ctx, "ship"))
	check(s.Version(ctx, versionOf(0).ContentHash))
	check(s.Versions(ctx, ""))
	check(s.Versions(ctx, "ship"))
	check(nil, conformance.Reroute(ctx, s, "ship", versionOf(0).ContentHash, fake.Epoch))
	check(nil, s.DeleteVersion(ctx, "ship", versionOf(1).ContentHash, nil))
	for range 2 {
		_, _, err = s.AddNamespace(ctx, ports.NamespaceRow{Name: "acme"})
		check(nil, err)
	}
	check(s.Namespace(ctx, "acme"))
	check(s.Namespaces(ctx, "a", 10))
	check(s.ChangeNamespace(ctx, ports.NamespaceRow{Name: "acme", Description: "d"}))
	check(nil, s.RemoveNamespace(ctx, "acme", nil))
	waiting := task.New(task.NewID([16]byte{1}), "operator", fake.Epoch, time.Second)
	waiting.Arguments = []byte(`{}`)
	check(nil, s.CreateMCPTask(ctx, waiting, 10))
	check(s.MCPTask(ctx, waiting.ID))
	check(s.WorkingMCPTasks(ctx, ports.WorkingMCPTasks{Limit: 10}))
	check(s.WorkingMCPTasks(ctx, ports.WorkingMCPTasks{Started: true, Limit: 10}))
	another := chains(2)[1]
	awaited := another.next()
	awaited.Started = &history.Idempotency{Scope: "default", Key: "t", WorkflowID: another.id, RunID: another.run, ExpiresAt: fake.Epoch.Add(time.Hour), Task: string(waiting.ID)}
	errs = append(errs, s.Append(ctx, []history.Commit{awaited})...)
	check(s.ChangeMCPTask(ctx, waiting.ID, func(k task.Task) (task.Task, error) { return k.Cancel(task.End{At: fake.Epoch}), nil }))
	check(s.CountMCPTasks(ctx))
	check(s.Depths(ctx, fake.Epoch))
	check(s.DeleteMCPTasks(ctx, fake.Epoch.Add(time.Hour), 10))
	check(s.Closed(ctx, "default", fake.Epoch, nil, 10))
	check(s.RemoveClosed(ctx, nil))
	for n, records := range []int64{0, 10_000} { // whole, and in pieces
		old := chains(9)[7+n]
		ended := old.next()
		ended.Acts = nil
		ended.Rows[0].Status, ended.Rows[0].EndedAt = history.Completed, fake.Epoch
		errs = append(errs, s.Append(ctx, []history.Commit{ended})...)
		check(s.AppendRecords(ctx, domain.AttemptKey{WorkflowID: old.id, RunID: old.run, Attempt: 1}, []transcript.Record{{WorkerSeq: 1, Kind: transcript.Message}}))
		removed, err := s.RemoveClosed(ctx, []ports.ClosedWorkflow{{ID: old.id, Head: old.head, Records: records}})
		check(nil, err)
		if removed != 1 {
			t.Errorf("%d workflows are removed", removed)
		}
	}
	check(nil, s.Audit(ctx, domain.AuditRecord{}))
	check(nil, s.BeginAudit(ctx, "c", domain.AuditRecord{}))
	check(s.AuditHeads(ctx))
	check(nil, s.DropAudit(ctx, "other", 1, 1000))
	check(s.AuditRecords(ctx, 0, 10))
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// planned tells whether a statement has a plan that a test can read.
var planned = regexp.MustCompile(`(?s)^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)`)

func TestEveryStatementUsesAnIndex(t *testing.T) { // engine 18
	t.Parallel()
	s := open(t)
	var mu sync.Mutex
	statements := map[string]bool{}
	s.TraceReads(func(query string) {
		mu.Lock()
		defer mu.Unlock()
		statements[query] = true
	})
	everyCall(t, s)
	for _, q := range s.WriterQueries() {
		if !strings.Contains(q, "sqlite_schema") && !strings.Contains(q, "schema_migrations") { // read once, at the start
			statements[q] = true
		}
	}
	n := 0
	for q := range statements {
		if !planned.MatchString(q) {
			continue
		}
		n++
		for _, step := range plan(t, s, q) {
			scan := strings.HasPrefix(step, "SCAN") && !strings.HasSuffix(step, "VALUES CLAUSE") && !strings.Contains(step, "USING") && !strings.HasPrefix(step, "SCAN d") &&
				step != "SCAN CONSTANT ROW"
			// The primary key of these tables is the order in which they are read, up to the limit.
			ordered := strings.Contains(q, "FROM outbox ORDER BY n")
			// What is posted is delivered at once.
			ordered = ordered || step == "SCAN outbox" && strings.Contains(q, "NOT IN (SELECT workflow_id FROM outbox)")
			ordered = ordered || strings.Contains(q, "FROM run_changes ORDER BY") && strings.Contains(step, "run_changes")
			// No request asks for the started tasks; an index of them would be written twice by every commit.
			started := strings.HasPrefix(step, "SCAN t") && strings.Contains(q, "WHERE t.state = 'started'")
			// Only who reads the metrics asks what waits, so it is grouped at that time.
			grouped := strings.Contains(step, "FOR GROUP BY") && strings.Contains(q, "GROUP BY namespace, task_queue")
			// A store that one process has for itself is not asked for the claims of others.
			lapsed := strings.Contains(q, "t.claim_until <= ")
			// There are seven statuses, and what ended within bounds is found by its end before it is put into the order of the starts.
			grouped = grouped || strings.Contains(step, "FOR GROUP BY") && strings.Contains(q, "GROUP BY `status`")
			bounded := strings.Contains(step, "FOR ORDER BY") && strings.Contains(q, "ended_at >= ") && strings.Contains(q, "ORDER BY started_at")
			if scan && !ordered && !started || strings.Contains(step, "TEMP B-TREE") && !grouped && !lapsed && !bounded {
				t.Errorf("%q in the plan of\n%s", step, q)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d statements were seen", n)
	}
}

func plan(t *testing.T, s *gormstore.Store, query string) []string {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	rows, err := s.Pool().QueryContext(context.WithoutCancel(t.Context()), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, parent, unused sql.NullInt64
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
