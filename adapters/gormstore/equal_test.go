package gormstore_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"aion/adapters/gormstore"
	"aion/adapters/memory"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/conformance"
	"aion/test/fake"
	"aion/test/postgres"
)

func versionOf(n int) deployment.Version {
	return deployment.Version{
		DeploymentID: fake.UUID(uint64(n)), WorkflowType: "ship", ContentHash: fmt.Sprintf("%064x", n), Source: "workflow Ship",
		Plan: json.RawMessage(`{}`), DeployedAt: fake.Epoch.Add(time.Duration(n) * time.Second),
	}
}

// pairOf is the durable store beside the reference.
type pairOf struct {
	disk  *gormstore.Store
	ref   *memory.Store
	heads map[int]history.Seq
}

// both makes one call on both stores and compares the answers.
func both[T any](t *rapid.T, p *pairOf, what string, call func(conformance.Store) (T, error)) {
	got, gotErr := call(p.disk)
	want, wantErr := call(p.ref)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: error %v, want %v", what, gotErr, wantErr)
	}
	opts := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(history.Recorded{})}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Fatalf("%s (-memory +disk):\n%s", what, diff)
	}
}

type twoOf[A, B any] struct {
	A A
	B B
}

var (
	small   = rapid.IntRange(0, 4)
	moments = rapid.Custom(func(t *rapid.T) time.Time {
		return fake.Epoch.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "seconds")) * time.Second).Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ns")))
	})
	payloads = rapid.Custom(func(t *rapid.T) domain.Payload {
		return rapid.SampledFrom([]domain.Payload{nil, domain.Payload(`{}`), domain.Payload(`{"a": "\u0000", "n":9007199254740993}`), domain.Payload("\xff")}).Draw(t, "payload")
	})
)

func workflowID(n int) domain.WorkflowID { return domain.WorkflowID(fake.UUID(uint64(n) + 100)) }
func runID(n int) domain.RunID           { return domain.RunID(fake.UUID(uint64(n) + 200)) }

func drawKey(t *rapid.T) domain.AttemptKey {
	n := small.Draw(t, "workflow")
	return domain.AttemptKey{WorkflowID: workflowID(n), RunID: runID(n), ActivityID: int64(small.Draw(t, "activity")), Attempt: 1 + small.Draw(t, "attempt")}
}

// drawAct is about the workflow of its commit, as acts are.
func drawAct(t *rapid.T, n int) history.Act {
	key := drawKey(t)
	key.WorkflowID, key.RunID = workflowID(n), runID(n)
	state := rapid.SampledFrom([]history.TaskState{history.TaskQueued, history.TaskStarted, history.TaskParked}).Draw(t, "state")
	owner := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "owner")
	ordinal := int64(small.Draw(t, "ordinal"))
	token := history.Seq(0)
	if state == history.TaskStarted { // nobody holds another one
		token = 1 + int64(small.Draw(t, "token"))
	}
	switch rapid.IntRange(0, 6).Draw(t, "act") {
	case 0:
		task := history.Task{
			Namespace: "default", Key: key, Name: "make", Input: payloads.Draw(t, "input"), State: state, Owner: owner,
			Token: token, ClaimUntil: moments.Draw(t, "claim"), ScheduledAt: moments.Draw(t, "scheduled"), NotBefore: moments.Draw(t, "not before"),
		}
		if rapid.Bool().Draw(t, "retry") {
			task.Config = action.Config{TimeoutMS: 5, Retry: &action.Retry{MaxAttempts: 2, Backoff: action.Backoff{Kind: "exponential", InitialMS: 1, Multiplier: 1.1, MaxMS: 9}}}
		}
		return history.TaskAdded{Task: task}
	case 1:
		return history.TaskMoved{
			Key: key, State: state, Owner: owner, Token: token, ClaimUntil: moments.Draw(t, "claim"),
			NotBefore: moments.Draw(t, "not before"),
		}
	case 2:
		return history.TaskEnded{WorkflowID: key.WorkflowID, RunID: key.RunID, ActivityID: key.ActivityID}
	case 3:
		return history.TimerSet{Timer: history.Timer{
			Namespace: "default", WorkflowID: key.WorkflowID, RunID: key.RunID, TimerID: ordinal, Purpose: "wait",
			FireAt: moments.Draw(t, "fire"),
		}}
	case 4:
		return history.TimerCleared{WorkflowID: key.WorkflowID, RunID: key.RunID, TimerID: ordinal}
	case 5:
		return history.RunClosed{WorkflowID: key.WorkflowID, RunID: key.RunID}
	default:
		return history.Posted{Message: history.Message{ID: fmt.Sprint("m", n, ordinal), Namespace: "default", WorkflowID: key.WorkflowID, Kind: "start_child", Body: payloads.Draw(t, "body")}}
	}
}

// drawCommit follows the head most of the time.
func (p *pairOf) drawCommit(t *rapid.T) history.Commit {
	n := small.Draw(t, "workflow")
	c := history.Commit{Namespace: "default", WorkflowID: workflowID(n), ExpectedSeq: p.heads[n]}
	if rapid.IntRange(0, 7).Draw(t, "stale") == 0 {
		c.ExpectedSeq = int64(small.Draw(t, "expected"))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "events") {
		c.Events = append(c.Events, history.Record(c.ExpectedSeq+1+int64(i), moments.Draw(t, "at"), c.WorkflowID, runID(n), history.StepEntered{Step: "s", Visit: int64(i)}))
	}
	if rapid.IntRange(0, 9).Draw(t, "broken") == 0 && len(c.Events) > 1 {
		c.Events[1].Seq += 7
	}
	if rapid.Bool().Draw(t, "row") {
		c.Rows = []history.RunRow{{
			Namespace: domain.Namespace(fmt.Sprint("ns", n%2)), WorkflowID: c.WorkflowID, RunID: runID(n), Generation: 1, WorkflowType: fmt.Sprint("type", n%3),
			PackageVersion: fmt.Sprint("v", n%2), Status: rapid.SampledFrom([]history.Status{history.Running, history.Paused, history.Failed}).Draw(t, "status"),
			StartedAt: fake.Epoch.Add(time.Duration(n/2) * time.Second), FirstSeq: 1, Outcome: rapid.SampledFrom([]string{"", "done"}).Draw(t, "outcome"),
		}}
	}
	for range rapid.IntRange(0, 3).Draw(t, "acts") {
		c.Acts = append(c.Acts, drawAct(t, n))
	}
	if rapid.IntRange(0, 3).Draw(t, "claims") == 0 {
		key := drawKey(t)
		key.WorkflowID, key.RunID = workflowID(n), runID(n)
		c.Claims = []history.Claim{{Key: key, Token: int64(small.Draw(t, "token"))}}
	}
	if rapid.IntRange(0, 3).Draw(t, "key") == 0 {
		c.Started = &history.Idempotency{
			Scope: "default", Key: fmt.Sprint("k", small.Draw(t, "key")), Request: "r", WorkflowID: c.WorkflowID, RunID: runID(n),
			ExpiresAt: moments.Draw(t, "expires"),
		}
	}
	return c
}

func (p *pairOf) appendGroup(t *rapid.T) {
	group := rapid.SliceOfN(rapid.Custom(p.drawCommit), 1, 4).Draw(t, "group")
	got, want := p.disk.Append(t.Context(), group), p.ref.Append(t.Context(), group)
	for i := range group {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Fatalf("commit %d: %v, want %v", i, got[i], want[i])
		}
	}
	for n := range 5 {
		head, err := p.ref.Head(t.Context(), workflowID(n))
		if err != nil {
			t.Fatal(err)
		}
		p.heads[n] = head
	}
}

// compare reads everything from both stores.
func (p *pairOf) compare(t *rapid.T) {
	ctx := t.Context()
	for n := range 5 {
		both(t, p, "history", func(s conformance.Store) ([]history.Recorded, error) { return s.History(ctx, workflowID(n), 1, 1000) })
		both(t, p, "head", func(s conformance.Store) (history.Seq, error) { return s.Head(ctx, workflowID(n)) })
		both(t, p, "runs", func(s conformance.Store) ([]history.RunRow, error) { return s.Runs(ctx, workflowID(n)) })
		both(t, p, "open", func(s conformance.Store) ([]history.Task, error) { return s.Open(ctx, workflowID(n)) })
		both(t, p, "heads", func(s conformance.Store) ([]transcript.Head, error) { return s.Heads(ctx, workflowID(n), runID(n)) })
		both(t, p, "key", func(s conformance.Store) (history.Idempotency, error) {
			return s.Idempotent(ctx, "default", fmt.Sprint("k", n))
		})
		both(t, p, "version", func(s conformance.Store) (deployment.Version, error) { return s.Version(ctx, versionOf(n).ContentHash) })
	}
	both(t, p, "routed", func(s conformance.Store) (deployment.Version, error) { return s.Routed(ctx, "ship") })
	both(t, p, "versions", func(s conformance.Store) ([]deployment.Version, error) { return s.Versions(ctx, "") })
	both(t, p, "next due", func(s conformance.Store) (time.Time, error) { return s.NextDue(ctx) })
	both(t, p, "next timer", func(s conformance.Store) (time.Time, error) { return s.NextTimer(ctx, nil) })
	both(t, p, "namespaces", func(s conformance.Store) ([]ports.NamespaceRow, error) { return s.Namespaces(ctx, "", 100) })
	both(t, p, "outbox", func(s conformance.Store) ([]history.Message, error) {
		all, err := s.Pending(ctx, nil, 100)
		slices.SortFunc(all, func(a, b history.Message) int { return strings.Compare(a.ID, b.ID) }) // commits of one group have no order
		return all, err
	})
}

// ask makes one reading call with drawn arguments.
func (p *pairOf) ask(t *rapid.T) {
	ctx := t.Context()
	now, limit := moments.Draw(t, "now"), rapid.IntRange(-1, 6).Draw(t, "limit")
	filter := ports.RunFilter{
		Namespace: domain.Namespace(fmt.Sprint("ns", small.Draw(t, "ns")%3)), Status: rapid.SampledFrom([]history.Status{"", history.Running, history.Failed}).Draw(t, "status"),
		WorkflowType: rapid.SampledFrom([]string{"", "type0", "type1"}).Draw(t, "type"),
	}
	if rapid.Bool().Draw(t, "bounded") {
		filter.StartedAfter, filter.StartedBefore = moments.Draw(t, "after"), moments.Draw(t, "before")
	}
	if rapid.Bool().Draw(t, "further") {
		filter.Order = rapid.SampledFrom([]ports.RunOrder{ports.NewestFirst, ports.OldestFirst, ports.LastEndedFirst}).Draw(t, "order")
		filter.FailedSince = rapid.SampledFrom([]time.Time{{}, now}).Draw(t, "failed")
		filter.Statuses = rapid.SampledFrom([][]history.Status{nil, {history.Running, history.Failed}, {history.Completed}}).Draw(t, "statuses")
		filter.Prefix = rapid.SampledFrom([]string{"", "type", "type1", "0", "x"}).Draw(t, "prefix")
		filter.Labels = rapid.SampledFrom([]map[string]string{nil, {"a": "b"}, {"a": "b", "c": "d"}}).Draw(t, "labels")
		filter.PackageVersion = rapid.SampledFrom([]string{"", "v1"}).Draw(t, "version")
		filter.EndedBefore = rapid.SampledFrom([]time.Time{{}, now}).Draw(t, "ended")
	}
	var after *ports.RunPosition
	if rapid.Bool().Draw(t, "page") {
		after = &ports.RunPosition{At: moments.Draw(t, "position").Truncate(time.Microsecond), RunID: runID(small.Draw(t, "run"))}
	}
	both(t, p, "list", func(s conformance.Store) ([]history.ListedRun, error) { return s.List(ctx, filter, after, limit) })
	both(t, p, "count", func(s conformance.Store) (map[history.Status]int64, error) { return s.Count(ctx, filter) })
	both(t, p, "pinned", func(s conformance.Store) (twoOf[[]history.RunRow, int64], error) {
		rows, n, err := s.PinnedBy(ctx, "v1", nil, limit)
		return twoOf[[]history.RunRow, int64]{rows, n}, err
	})
	both(t, p, "due", func(s conformance.Store) ([]history.Task, error) { return s.Due(ctx, now, limit) })
	owners := []string{"a", "b"}[:small.Draw(t, "owners")%3]
	both(t, p, "held", func(s conformance.Store) ([]history.Task, error) { return s.Held(ctx, owners...) })
	both(t, p, "depths", func(s conformance.Store) ([]ports.QueueDepth, error) { return s.Depths(ctx, now) })
	both(t, p, "lapsed", func(s conformance.Store) ([]history.Task, error) { return s.Lapsed(ctx, now, limit) })
	both(t, p, "timers", func(s conformance.Store) ([]history.Timer, error) { return s.DueTimers(ctx, nil, now, limit) })
	key, from := drawKey(t), int64(rapid.IntRange(-1, 9).Draw(t, "from"))
	both(t, p, "records", func(s conformance.Store) (twoOf[[]transcript.Record, int64], error) {
		rs, head, err := s.Records(ctx, key, from, limit)
		return twoOf[[]transcript.Record, int64]{rs, head}, err
	})
	both(t, p, "tail", func(s conformance.Store) ([2]int64, error) {
		head, seq, err := s.Tail(ctx, key)
		return [2]int64{head, seq}, err
	})
}

func drawNamespace(t *rapid.T) ports.NamespaceRow {
	n := ports.NamespaceRow{
		Name: domain.Namespace(fmt.Sprint("ns", small.Draw(t, "namespace")%3)), Description: rapid.SampledFrom([]string{"", "d"}).Draw(t, "description"),
		CreatedAt: moments.Draw(t, "created"),
	}
	if rapid.Bool().Draw(t, "bounded") {
		n.MaxInFlight = new(small.Draw(t, "bound"))
		n.Retention = new(time.Duration(small.Draw(t, "retention")) * time.Hour)
	}
	return n
}

func (p *pairOf) change(t *rapid.T) {
	ctx := t.Context()
	key := drawKey(t)
	v := versionOf(small.Draw(t, "version"))
	drawn := drawNamespace(t)
	switch rapid.IntRange(0, 9).Draw(t, "change") {
	case 9:
		claims := []history.Claim{{Key: key, Token: int64(small.Draw(t, "token"))}, {Key: drawKey(t), Token: int64(small.Draw(t, "token"))}}
		until := moments.Draw(t, "until")
		both(t, p, "renew", func(s conformance.Store) ([]history.Claim, error) { return s.Renew(ctx, claims, until) })
	case 0:
		claims := []history.Claim{{Key: key, Token: int64(small.Draw(t, "token"))}}
		both(t, p, "park", func(s conformance.Store) (int, error) { return 0, s.Park(ctx, claims) })
	case 1:
		ids := []string{fmt.Sprint("m", small.Draw(t, "workflow"), small.Draw(t, "message")), "unknown"}
		both(t, p, "delivered", func(s conformance.Store) (int, error) { return 0, s.Delivered(ctx, ids) })
	case 2:
		seqs := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 4).Draw(t, "worker_seq")
		both(t, p, "records", func(s conformance.Store) (int64, error) {
			var rs []transcript.Record
			for _, n := range seqs {
				rs = append(rs, transcript.Record{WorkerSeq: int64(n), Kind: transcript.Message, Text: fmt.Sprint(n), AgentID: transcript.NilAgent, EmittedAt: fake.Epoch})
			}
			return s.AppendRecords(ctx, key, rs)
		})
	case 3:
		both(t, p, "put version", func(s conformance.Store) (twoOf[deployment.Version, bool], error) {
			stored, fresh, err := s.PutVersion(ctx, v)
			return twoOf[deployment.Version, bool]{stored, fresh}, err
		})
	case 4:
		both(t, p, "route", func(s conformance.Store) (int, error) {
			return 0, conformance.Reroute(ctx, s, v.WorkflowType, v.ContentHash, fake.Epoch)
		})
	case 5:
		both(t, p, "add namespace", func(s conformance.Store) (twoOf[ports.NamespaceRow, bool], error) {
			stored, added, err := s.AddNamespace(ctx, drawn)
			return twoOf[ports.NamespaceRow, bool]{stored, added}, err
		})
	case 6:
		both(t, p, "change namespace", func(s conformance.Store) (ports.NamespaceRow, error) { return s.ChangeNamespace(ctx, drawn) })
	case 7:
		both(t, p, "remove namespace", func(s conformance.Store) (int, error) { return 0, s.RemoveNamespace(ctx, drawn.Name, nil) })
	default:
		both(t, p, "delete version", func(s conformance.Store) (int, error) {
			return 0, s.DeleteVersion(ctx, v.WorkflowType, v.ContentHash, nil)
		})
	}
}

func TestStoreBehavesLikeTheReference(t *testing.T) { // engine 17
	t.Parallel()
	clock := fake.NewClock(time.Time{})
	o := options(t)
	o.Clock, o.UnsafeNoFsync = clock, true // nothing is killed here
	likeTheReference(t, mustOpen(t, o), clock)
}

func TestPostgresBehavesLikeTheReference(t *testing.T) { // engine 17
	t.Parallel()
	clock := fake.NewClock(time.Time{})
	o := postgresOptions(t, postgres.Database(t))
	o.Clock, o.UnsafeNoFsync = clock, true
	likeTheReference(t, mustOpenPostgres(t, o), clock)
}

func likeTheReference(t *testing.T, disk *gormstore.Store, clock *fake.Clock) {
	t.Helper()
	const empty = `DELETE FROM workflows; DELETE FROM runs; DELETE FROM events; DELETE FROM activity_tasks; DELETE FROM timers; DELETE FROM outbox;
		DELETE FROM idempotency_keys; DELETE FROM transcript_streams; DELETE FROM transcript_events; DELETE FROM deployments; DELETE FROM routes;
		DELETE FROM namespaces`
	rapid.Check(t, func(rt *rapid.T) {
		clock.Jump(fake.Epoch)
		if err := disk.Write(rt.Context(), empty); err != nil {
			rt.Fatal(err)
		}
		p := &pairOf{disk: disk, ref: memory.New(clock), heads: map[int]history.Seq{}}
		rt.Repeat(map[string]func(*rapid.T){
			"append":       p.appendGroup,
			"append again": p.appendGroup,
			"ask":          p.ask,
			"change":       p.change,
			"wait":         func(rt *rapid.T) { clock.Advance(time.Duration(small.Draw(rt, "ms")) * 500 * time.Millisecond) },
		})
		p.compare(rt)
	})
}

func TestErrorsOfTheDatabaseStayInside(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := chains(2)
	if err := s.Write(t.Context(), `DROP TABLE timers`); err != nil { // a defect that nobody foresaw
		t.Fatal(err)
	}
	bad, good := c[0].next(), c[1].next()
	bad.Acts = append(bad.Acts, history.RunClosed{WorkflowID: c[0].id, RunID: c[0].run})
	errs := s.Append(t.Context(), []history.Commit{bad, good})
	wantRefusal(t, errs[0], domain.CodeBackend, "StoreFault")
	if errs[1] != nil {
		t.Errorf("the neighbour failed too: %v", errs[1])
	}
	if head, err := s.Head(t.Context(), c[0].id); err != nil || head != 0 {
		t.Errorf("the bad commit left head %d, %v", head, err)
	}
	_, err := s.NextTimer(t.Context(), nil)
	wantRefusal(t, err, domain.CodeBackend, "StoreFault")
	if reflect.TypeOf(err) != reflect.TypeFor[*domain.Error]() {
		t.Errorf("an error of type %T left the store", err)
	}
}
