package fake

import (
	"context"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/ports"
)

// Backend is every store port but the one for documents.
type Backend interface { //nolint:interfacebloat // a sum of ports: what a wrapper must pass on
	ports.EventStore
	ports.RunIndex
	ports.ChangeLog
	ports.TaskStore
	ports.QueueStore
	ports.TimerStore
	ports.OutboxStore
	ports.TranscriptStore
	ports.DeploymentStore
	ports.RouteStore
	ports.NamespaceStore
	ports.MCPTaskStore
	ports.MCPTaskList
	ports.AuditLog
	ports.AuditRetention
	ports.ReplicaStore
	ports.RetentionStore
	ports.WorkerStore
	ports.LeaseStore
	ports.BacklogStore
	ports.ScheduleStore
	ports.ScheduleQueue
}

// Moment is where in a call a fault strikes.
type Moment int

// The moments. Before is a store that is away: nothing is kept, and a later call may succeed. Inside and After are the
// death of the process: a part (Inside: the first half of the commits) or everything is durable, the caller does not learn
// it, and every later call fails.
const (
	Before Moment = iota + 1
	Inside
	After
)

// Fault strikes one call.
type Fault struct {
	Op   string // the method's name; empty: any
	Call int    // the n-th call of Op since Script, from 1
	When Moment
	Type string          // of the refusal; empty: StoreUnavailable
	Hold <-chan struct{} // the call waits until it is closed (nil: it does not wait); with When 0 it then goes on
}

// Store passes calls on to another store and fails by script. It is safe for concurrent use.
type Store struct {
	next Backend

	mu      sync.Mutex
	faults  []Fault
	calls   map[string]int
	struck  int
	dead    bool
	cut     bool
	swallow time.Duration
}

var _ Backend = (*Store)(nil)

// NewStore wraps a store; without a script nothing fails.
func NewStore(next Backend) *Store {
	return &Store{next: next, calls: map[string]int{}}
}

// Script replaces the faults and counts calls from 1 again. It does not revive a dead store: wrap the backend anew, as a
// new process would.
func (s *Store) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
	s.calls = map[string]int{}
	s.struck = 0
}

// Struck is the number of scripted faults that have happened: 0 means that the script asked for a call that was not made.
func (s *Store) Struck() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.struck
}

// Cut takes the store away from whoever calls it through this one, until Heal: every call fails and nothing is kept.
func (s *Store) Cut() { s.setCut(true, 0) }

// Swallow is a Cut in which every call waits for an answer so long before it fails, as with a network that loses everything.
func (s *Store) Swallow(wait time.Duration) { s.setCut(true, wait) }

// Heal ends a Cut.
func (s *Store) Heal() { s.setCut(false, 0) }

func (s *Store) setCut(yes bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut, s.swallow = yes, wait
}

// swallowed waits for an answer that does not come.
func (s *Store) swallowed(ctx context.Context) error {
	s.mu.Lock()
	wait := s.swallow
	s.mu.Unlock()
	if wait > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return gone("")
}

// Dead reports whether the process behind the store counts as killed.
func (s *Store) Dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// enter counts a call and finds the fault that it meets.
func (s *Store) enter(ctx context.Context, op string) (Fault, error) {
	f, dead := s.meet(op)
	if dead {
		return f, s.swallowed(ctx)
	}
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-ctx.Done():
			return f, context.Cause(ctx)
		}
	}
	if f.When == Before {
		return f, gone(f.Type)
	}
	return f, nil
}

func (s *Store) meet(op string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead || s.cut {
		return Fault{}, true
	}
	s.calls[op]++
	s.calls[""]++
	for _, f := range s.faults {
		if (f.Op == op || f.Op == "") && f.Call == s.calls[f.Op] {
			s.struck++
			return f, false
		}
	}
	return Fault{}, false
}

func (s *Store) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

func gone(typ string) error {
	if typ == "" {
		typ = "StoreUnavailable"
	}
	return domain.Unavailable(typ, "the store fails by script; repeat the call later", nil)
}

// call runs one method of the backend under the script.
func call[T any](ctx context.Context, s *Store, op string, do func() (T, error)) (T, error) {
	var none T
	f, err := s.enter(ctx, op)
	if err != nil {
		return none, err
	}
	got, err := do()
	if f.When == Inside || f.When == After {
		s.die()
		return none, gone(f.Type)
	}
	return got, err
}

func act(ctx context.Context, s *Store, op string, do func() error) error {
	_, err := call(ctx, s, op, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

type pair[A, B any] struct {
	a A
	b B
}

// Append implements ports.EventStore.
func (s *Store) Append(ctx context.Context, commits []history.Commit) []error {
	f, err := s.enter(ctx, "Append")
	if err == nil {
		kept := commits
		if f.When == Inside {
			kept = commits[:len(commits)/2]
		}
		errs := s.next.Append(ctx, kept)
		if f.When != Inside && f.When != After {
			return errs
		}
		s.die()
		err = gone(f.Type)
	}
	errs := make([]error, len(commits))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// History implements ports.EventStore.
func (s *Store) History(ctx context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error) {
	return call(ctx, s, "History", func() ([]history.Recorded, error) { return s.next.History(ctx, id, from, limit) })
}

// Head implements ports.EventStore.
func (s *Store) Head(ctx context.Context, id domain.WorkflowID) (history.Seq, error) {
	return call(ctx, s, "Head", func() (history.Seq, error) { return s.next.Head(ctx, id) })
}

// Idempotent implements ports.EventStore.
func (s *Store) Idempotent(ctx context.Context, scope, key string) (history.Idempotency, error) {
	return call(ctx, s, "Idempotent", func() (history.Idempotency, error) { return s.next.Idempotent(ctx, scope, key) })
}

// Runs implements ports.RunIndex.
func (s *Store) Runs(ctx context.Context, id domain.WorkflowID) ([]history.RunRow, error) {
	return call(ctx, s, "Runs", func() ([]history.RunRow, error) { return s.next.Runs(ctx, id) })
}

// RunsIn implements ports.RunIndex.
func (s *Store) RunsIn(ctx context.Context, ns domain.Namespace, id domain.WorkflowID) ([]history.RunRow, error) {
	return call(ctx, s, "RunsIn", func() ([]history.RunRow, error) { return s.next.RunsIn(ctx, ns, id) })
}

// List implements ports.RunIndex.
func (s *Store) List(ctx context.Context, filter ports.RunFilter, after *ports.RunPosition, limit int) ([]history.ListedRun, error) {
	return call(ctx, s, "List", func() ([]history.ListedRun, error) { return s.next.List(ctx, filter, after, limit) })
}

// Count implements ports.RunIndex.
func (s *Store) Count(ctx context.Context, filter ports.RunFilter) (map[history.Status]int64, error) {
	return call(ctx, s, "Count", func() (map[history.Status]int64, error) { return s.next.Count(ctx, filter) })
}

// RunChanges implements ports.ChangeLog.
func (s *Store) RunChanges(ctx context.Context, ns domain.Namespace, after *ports.ChangePosition, limit int) (ports.ChangePage, error) {
	return call(ctx, s, "RunChanges", func() (ports.ChangePage, error) { return s.next.RunChanges(ctx, ns, after, limit) })
}

// PinnedBy implements ports.RunIndex.
func (s *Store) PinnedBy(ctx context.Context, version string, in []domain.Namespace, limit int) ([]history.RunRow, int64, error) {
	got, err := call(ctx, s, "PinnedBy", func() (p pair[[]history.RunRow, int64], err error) {
		p.a, p.b, err = s.next.PinnedBy(ctx, version, in, limit)
		return p, err
	})
	return got.a, got.b, err
}

// Due implements ports.TaskStore.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]history.Task, error) {
	return call(ctx, s, "Due", func() ([]history.Task, error) { return s.next.Due(ctx, now, limit) })
}

// Held implements ports.TaskStore.
func (s *Store) Held(ctx context.Context, owners ...string) ([]history.Task, error) {
	return call(ctx, s, "Held", func() ([]history.Task, error) { return s.next.Held(ctx, owners...) })
}

// Lapsed implements ports.TaskStore.
func (s *Store) Lapsed(ctx context.Context, at time.Time, limit int) ([]history.Task, error) {
	return call(ctx, s, "Lapsed", func() ([]history.Task, error) { return s.next.Lapsed(ctx, at, limit) })
}

// Open implements ports.TaskStore.
func (s *Store) Open(ctx context.Context, id domain.WorkflowID) ([]history.Task, error) {
	return call(ctx, s, "Open", func() ([]history.Task, error) { return s.next.Open(ctx, id) })
}

// Park implements ports.TaskStore.
func (s *Store) Park(ctx context.Context, claims []history.Claim) error {
	return act(ctx, s, "Park", func() error { return s.next.Park(ctx, claims) })
}

// Renew implements ports.TaskStore.
func (s *Store) Renew(ctx context.Context, claims []history.Claim, until time.Time) ([]history.Claim, error) {
	return call(ctx, s, "Renew", func() ([]history.Claim, error) { return s.next.Renew(ctx, claims, until) })
}

// Lost implements ports.TaskStore.
func (s *Store) Lost(ctx context.Context, claims []history.Claim) ([]history.Claim, error) {
	return call(ctx, s, "Lost", func() ([]history.Claim, error) { return s.next.Lost(ctx, claims) })
}

// Depths implements ports.QueueStore.
func (s *Store) Depths(ctx context.Context, now time.Time) ([]ports.QueueDepth, error) {
	return call(ctx, s, "Depths", func() ([]ports.QueueDepth, error) { return s.next.Depths(ctx, now) })
}

// NextDue implements ports.TaskStore.
func (s *Store) NextDue(ctx context.Context) (time.Time, error) {
	return call(ctx, s, "NextDue", func() (time.Time, error) { return s.next.NextDue(ctx) })
}

// DueTimers implements ports.TimerStore.
func (s *Store) DueTimers(ctx context.Context, of ports.Shards, now time.Time, limit int) ([]history.Timer, error) {
	return call(ctx, s, "DueTimers", func() ([]history.Timer, error) { return s.next.DueTimers(ctx, of, now, limit) })
}

// NextTimer implements ports.TimerStore.
func (s *Store) NextTimer(ctx context.Context, of ports.Shards) (time.Time, error) {
	return call(ctx, s, "NextTimer", func() (time.Time, error) { return s.next.NextTimer(ctx, of) })
}

// Pending implements ports.OutboxStore.
func (s *Store) Pending(ctx context.Context, of ports.Shards, limit int) ([]history.Message, error) {
	return call(ctx, s, "Pending", func() ([]history.Message, error) { return s.next.Pending(ctx, of, limit) })
}

// Delivered implements ports.OutboxStore.
func (s *Store) Delivered(ctx context.Context, ids []string) error {
	return act(ctx, s, "Delivered", func() error { return s.next.Delivered(ctx, ids) })
}

// AppendRecords implements ports.TranscriptStore.
func (s *Store) AppendRecords(ctx context.Context, key domain.AttemptKey, records []transcript.Record) (int64, error) {
	return call(ctx, s, "AppendRecords", func() (int64, error) { return s.next.AppendRecords(ctx, key, records) })
}

// Records implements ports.TranscriptStore.
func (s *Store) Records(ctx context.Context, key domain.AttemptKey, from int64, limit int) ([]transcript.Record, int64, error) {
	got, err := call(ctx, s, "Records", func() (p pair[[]transcript.Record, int64], err error) {
		p.a, p.b, err = s.next.Records(ctx, key, from, limit)
		return p, err
	})
	return got.a, got.b, err
}

// Heads implements ports.TranscriptStore.
func (s *Store) Heads(ctx context.Context, id domain.WorkflowID, run domain.RunID) ([]transcript.Head, error) {
	return call(ctx, s, "Heads", func() ([]transcript.Head, error) { return s.next.Heads(ctx, id, run) })
}

// Tail implements ports.TranscriptStore.
func (s *Store) Tail(ctx context.Context, key domain.AttemptKey) (head, workerSeq int64, err error) {
	got, err := call(ctx, s, "Tail", func() (p pair[int64, int64], err error) {
		p.a, p.b, err = s.next.Tail(ctx, key)
		return p, err
	})
	return got.a, got.b, err
}

// PutVersion implements ports.DeploymentStore.
func (s *Store) PutVersion(ctx context.Context, v deployment.Version) (deployment.Version, bool, error) {
	got, err := call(ctx, s, "PutVersion", func() (p pair[deployment.Version, bool], err error) {
		p.a, p.b, err = s.next.PutVersion(ctx, v)
		return p, err
	})
	return got.a, got.b, err
}

// Routed implements ports.DeploymentStore.
func (s *Store) Routed(ctx context.Context, workflowType string) (deployment.Version, error) {
	return call(ctx, s, "Routed", func() (deployment.Version, error) { return s.next.Routed(ctx, workflowType) })
}

// Version implements ports.DeploymentStore.
func (s *Store) Version(ctx context.Context, contentHash string) (deployment.Version, error) {
	return call(ctx, s, "Version", func() (deployment.Version, error) { return s.next.Version(ctx, contentHash) })
}

// Versions implements ports.DeploymentStore.
func (s *Store) Versions(ctx context.Context, workflowType string) ([]deployment.Version, error) {
	return call(ctx, s, "Versions", func() ([]deployment.Version, error) { return s.next.Versions(ctx, workflowType) })
}

// SetRoute implements ports.DeploymentStore.
func (s *Store) SetRoute(ctx context.Context, r deployment.Route) (string, error) {
	return call(ctx, s, "SetRoute", func() (string, error) { return s.next.SetRoute(ctx, r) })
}

// Routes implements ports.RouteStore.
func (s *Store) Routes(ctx context.Context) ([]deployment.Route, error) {
	return call(ctx, s, "Routes", func() ([]deployment.Route, error) { return s.next.Routes(ctx) })
}

// DeleteVersion implements ports.DeploymentStore.
func (s *Store) DeleteVersion(ctx context.Context, workflowType, contentHash string, audit *domain.AuditRecord) error {
	return act(ctx, s, "DeleteVersion", func() error { return s.next.DeleteVersion(ctx, workflowType, contentHash, audit) })
}
