package conformance

import (
	"strings"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/domain/transcript"
	"aion/ports"
)

// odd is a text that clients can send and databases trip over: a NUL, bytes that are no UTF-8, control characters, quotes,
// and what looks like an escape.
const odd = "a\x00b\xff\x1a00\x1a é'\"\\x41\\ %s ?$1\u2028"

// ForeignTexts runs every call that takes a text from outside with texts of all kinds. None is a fault of the store, and what
// was stored comes back as it was.
func ForeignTexts(t *testing.T, open func(testing.TB) Store) {
	run(t, open, map[string]func(*testing.T, Store){
		"of commits":     foreignCommit,
		"of tasks":       foreignTasks,
		"of transcripts": foreignRecords,
		"of deployments": foreignDeployment,
		"of namespaces":  foreignNamespace,
		"of MCP tasks":   foreignMCPTask,
		"of the audit":   foreignAudit,
		"of look-ups":    foreignLookups,
	})
}

func foreignCommit(t *testing.T, s Store) {
	f := newFlow(1)
	c := f.started()
	row := &c.Rows[0]
	row.Namespace, row.WorkflowType, row.PackageVersion, row.PausedReason, row.Outcome, row.Labels = odd, odd, odd, odd, odd, map[string]string{"a\x00": "b\x00"}
	c.Started = &history.Idempotency{Scope: odd, Key: odd, Request: odd, WorkflowID: f.id, RunID: f.run, ExpiresAt: never}
	mustAppend(t, s, c)
	runs, err := s.Runs(t.Context(), f.id)
	same(t, "run", must(t, runs, err), c.Rows)
	listed, err := s.List(t.Context(), ports.RunFilter{Namespace: odd, WorkflowType: odd}, nil, 10)
	same(t, "listed", rowsOf(must(t, listed, err)), c.Rows)
	pinned, n, err := s.PinnedBy(t.Context(), odd, nil, 10)
	same(t, "pinned", must(t, pinned, err), c.Rows)
	same(t, "number", n, int64(1))
	key, err := s.Idempotent(t.Context(), odd, odd)
	same(t, "key", must(t, key, err), *c.Started)
	again := newFlow(2).started()
	again.Started = c.Started
	wantCode(t, appendOne(t.Context(), s, again), domain.CodeIdempotencyConflict, "IdempotencyTaken")
	for _, other := range []string{"a\x1a00b", "a\x00b", odd + "x", strings.ToValidUTF8(odd, "")} {
		_, err = s.Idempotent(t.Context(), odd, other)
		wantCode(t, err, domain.CodeNotFound, "IdempotencyUnknown")
	}
}

func foreignTasks(t *testing.T, s Store) {
	f := newFlow(1)
	k := f.task(0, history.TaskStarted)
	k.Namespace, k.TaskQueue, k.Name, k.PackageVersion, k.Owner = odd, odd, odd, odd, odd
	waiting := f.task(1, history.TaskQueued)
	waiting.Namespace, waiting.TaskQueue = odd, odd
	m, message := f.timer(0, start), f.message(1)
	m.Namespace, m.Purpose = odd, odd
	message.ID, message.Namespace, message.Kind = odd, odd, odd
	withTasks(t, s, f, k, waiting)
	mustAppend(t, s, f.acting(history.TimerSet{Timer: m}, history.Posted{Message: message}))
	held, err := s.Held(t.Context(), odd)
	same(t, "held", must(t, held, err), []history.Task{k})
	depths, err := s.Depths(t.Context(), never)
	same(t, "depths", must(t, depths, err), []ports.QueueDepth{{Namespace: odd, TaskQueue: odd, Tasks: 1, Oldest: waiting.ScheduledAt}})
	timers, err := s.DueTimers(t.Context(), nil, never, 10)
	same(t, "timers", must(t, timers, err), []history.Timer{m})
	messages, err := s.Pending(t.Context(), nil, 10)
	same(t, "messages", must(t, messages, err), []history.Message{message})
	if err := s.Delivered(t.Context(), []string{odd}); err != nil {
		t.Error(err)
	}
	messages, err = s.Pending(t.Context(), nil, 10)
	same(t, "messages", must(t, messages, err), []history.Message(nil))
}

func foreignRecords(t *testing.T, s Store) {
	key := newFlow(1).key(0, 1)
	all := []transcript.Record{
		{Kind: transcript.Message, Role: odd, Text: odd, AgentID: odd, AgentRole: odd},
		{Kind: transcript.ToolCall, Tool: odd, CallID: odd, AgentID: id(5)},
		{Kind: transcript.ToolResult, CallID: odd, AgentID: id(5)},
		{Kind: transcript.Stop, Reason: odd, AgentID: id(5)},
		{Kind: transcript.Raw, Source: odd, Value: []byte(odd), AgentID: id(5)},
	}
	for i := range all {
		all[i].StoreSeq, all[i].WorkerSeq, all[i].EmittedAt = int64(i), int64(i)+1, start
	}
	store(t, s, key, all)
	got, _ := records(t, s, key, 0, 10)
	same(t, "records", got, all)
}

func foreignDeployment(t *testing.T, s Store) {
	v := version(1)
	v.ContentHash, v.DeploymentID, v.WorkflowType, v.DocumentPath = odd, odd, odd, odd
	put(t, s, v, true)
	put(t, s, v, false)
	same(t, "routed", routed(t, s, odd), v)
	got, err := s.Version(t.Context(), odd)
	same(t, "version", must(t, got, err), v)
	if err := Reroute(t.Context(), s, odd, odd, start); err != nil {
		t.Error(err)
	}
	wantCode(t, s.DeleteVersion(t.Context(), odd, odd, nil), domain.CodeVersionPinned, "RouteActive")
}

func foreignNamespace(t *testing.T, s Store) {
	n := tenant(odd)
	n.Description, n.CreatedBy = odd, odd
	register(t, s, n)
	got, err := s.Namespace(t.Context(), odd)
	same(t, "namespace", must(t, got, err), n)
	n.Description += odd
	got, err = s.ChangeNamespace(t.Context(), n)
	same(t, "changed", must(t, got, err), n)
	list, err := s.Namespaces(t.Context(), "", 10)
	same(t, "listed", must(t, list, err), []ports.NamespaceRow{n})
	if err := s.RemoveNamespace(t.Context(), odd, nil); err != nil {
		t.Error(err)
	}
}

func foreignMCPTask(t *testing.T, s Store) {
	k := mcpTask(1)
	k.ID, k.Owner, k.Namespace, k.Tool, k.StatusMessage, k.Arguments = odd, odd, odd, odd, odd, domain.Payload(`"\u0000"`)
	makeTask(t, s, k)
	got, err := s.MCPTask(t.Context(), odd)
	same(t, "task", must(t, got, err), k)
	wantCode(t, s.CreateMCPTask(t.Context(), func() task.Task { other := mcpTask(2); other.Owner = odd; return other }(), 1), domain.CodeResourceExhausted, "TooManyTasks")
	failed := turn(t, s, odd, func(k task.Task) (task.Task, error) { return k.Fail(odd, ending()) })
	got, err = s.MCPTask(t.Context(), odd)
	same(t, "failed", must(t, got, err), failed)
}

func foreignAudit(t *testing.T, s Store) {
	r := auditRecord(1)
	r.Subject, r.Mode, r.Source, r.Surface, r.Namespace, r.Target, r.RequestID, r.Remote = odd, odd, odd, odd, odd, odd, odd, odd
	if err := s.Audit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	all, err := s.AuditRecords(t.Context(), 0, 10)
	var trail domain.AuditTrail
	for _, r := range must(t, all, err) {
		if err := trail.Add(r); err != nil {
			t.Error(err)
		}
	}
	if trail.Count() != 1 || all[0].Mode != odd {
		t.Errorf("%+v", all)
	}
}

// foreignLookups asks for what is not there, in words that cannot be.
func foreignLookups(t *testing.T, s Store) {
	ctx := t.Context()
	_, err := s.Version(ctx, odd)
	wantCode(t, err, domain.CodeNotFound, "VersionNotFound")
	_, err = s.Routed(ctx, odd)
	wantCode(t, err, domain.CodeNotFound, "WorkflowTypeNotFound")
	wantCode(t, Reroute(ctx, s, odd, odd, start), domain.CodeNotFound, "VersionNotFound")
	_, err = s.Namespace(ctx, odd)
	wantCode(t, err, domain.CodeNotFound, "NamespaceNotFound")
	_, err = s.MCPTask(ctx, odd)
	wantCode(t, err, domain.CodeNotFound, "TaskNotFound")
	var errs []error
	check := func(_ any, err error) { errs = append(errs, err) }
	check(s.History(ctx, odd, 1, 10))
	check(s.Head(ctx, odd))
	check(s.Runs(ctx, odd))
	check(s.RunsIn(ctx, odd, odd))
	check(s.List(ctx, ports.RunFilter{Namespace: odd, WorkflowType: odd, Status: odd}, &ports.RunPosition{At: start, RunID: odd}, 10))
	check(s.Count(ctx, ports.RunFilter{Namespace: odd, WorkflowType: odd}))
	check(s.Open(ctx, odd))
	check(s.Namespaces(ctx, odd, 10))
	check(s.Versions(ctx, odd))
	check(s.WorkingMCPTasks(ctx, ports.WorkingMCPTasks{After: odd, LeaseBy: start, Limit: 10}))
	check(s.Heads(ctx, odd, odd))
	check(s.Lost(ctx, []history.Claim{{Key: domain.AttemptKey{WorkflowID: odd, RunID: odd}, Token: 1}}))
	check(s.Renew(ctx, []history.Claim{{Key: domain.AttemptKey{WorkflowID: odd, RunID: odd}, Token: 1}}, start.Add(time.Hour)))
	check(nil, s.Park(ctx, []history.Claim{{Key: domain.AttemptKey{WorkflowID: odd, RunID: odd}}}))
	check(nil, s.Delivered(ctx, []string{odd}))
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}
