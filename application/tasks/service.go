package tasks

import (
	"context"
	"log/slog"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/task"
	"aion/ports"
)

// Work is what the calls of a route wait for. It is safe for concurrent use.
type Work interface {
	// Admit judges a call as far as a caller's grants go, and gives the namespace that it is for. Its refusal makes no task.
	Admit(ctx context.Context, who access.Caller, call Call) (domain.Namespace, error)
	// Begin starts what a task waits for, once, however often it is called for the task: a commit that starts it names the
	// task (history.Idempotency), so it happens only while the task works. Any refusal but CodeUnavailable is the result of
	// the call.
	Begin(ctx context.Context, t task.Task) (Begun, error)
	// Look tells how it stands. A refusal but CodeUnavailable is the result of the call.
	Look(ctx context.Context, t task.Task) (Standing, error)
}

// Call is a tool call that becomes a task; its arguments fit the tool's schema.
type Call struct {
	Tool      string
	Arguments domain.Payload
}

// Begun names what was started. Linked says that the commit which started it has told the task.
type Begun struct {
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	At         time.Time
	Linked     bool
}

// Standing is how the work of a task stands.
type Standing struct {
	RunID   domain.RunID  // the latest one of the chain
	Since   time.Time     // when that run began
	Status  string        // one sentence
	Outcome *task.Outcome // nil while it goes on
}

// The defaults of Deps. A task whose server dies before its start is taken over after at most Lease + Sweep.
const (
	defaultTTL        = 24 * time.Hour
	defaultMaxWorking = 1000
	defaultLease      = 30 * time.Second
	defaultSweep      = 5 * time.Second
	defaultSettle     = 30 * time.Second
)

// Deps is what the service needs; zero durations and numbers are their defaults.
type Deps struct {
	Store  ports.MCPTaskStore
	Tasks  ports.MCPTaskList // for List
	Work   Work
	Clock  ports.Clock
	Random func() [16]byte // unguessable
	IDs    ports.IDs
	Log    *slog.Logger

	TTL        time.Duration // from settlement on: 24 h
	MaxWorking int           // working tasks of one owner: 1000
	Lease      time.Duration // how long one server has for a start before another tries: 30 s
	Sweep      time.Duration // how often unstarted and expired tasks are looked for: 5 s
	Settle     time.Duration // how often working tasks are looked at that nobody asks for: 30 s
	// Sole says that no other server uses the store: leases of an earlier process are void.
	Sole bool
}

// Service answers for tasks. It is safe for concurrent use; what tasks wait for begins while Run runs.
type Service struct {
	Deps
	pending chan task.ID
}

// maxPending bounds the starts that wait for a free starter; the sweeper finds what does not fit.
const maxPending = 4096

// New gives a service.
func New(d Deps) *Service {
	orDefault := func(value *time.Duration, otherwise time.Duration) {
		if *value <= 0 {
			*value = otherwise
		}
	}
	orDefault(&d.TTL, defaultTTL)
	orDefault(&d.Lease, defaultLease)
	orDefault(&d.Sweep, defaultSweep)
	orDefault(&d.Settle, defaultSettle)
	if d.MaxWorking <= 0 {
		d.MaxWorking = defaultMaxWorking
	}
	return &Service{Deps: d, pending: make(chan task.ID, maxPending)}
}

// Create makes a task of a call. It is durable when the method returns, and what it waits for begins soon after.
func (s *Service) Create(ctx context.Context, who access.Caller, call Call) (task.Task, error) {
	ns, err := s.Work.Admit(ctx, who, call)
	if err != nil {
		return task.Task{}, err
	}
	t := task.New(task.NewID(s.Random()), who.Owner(), s.Clock.Now(), s.Lease)
	t.Caller = task.Caller{
		Subject: who.Subject, Mode: who.Mode, Source: who.Source, Issuer: who.Issuer,
		Surface: who.Via.Surface, RequestID: who.Via.RequestID, Remote: who.Via.Remote,
	}
	t.Namespace, t.Tool, t.Arguments = ns, call.Tool, call.Arguments
	t.Audit = who.Audit("task.create", ns, string(t.ID))
	if err := s.Store.CreateMCPTask(ctx, t, s.MaxWorking); err != nil {
		return task.Task{}, err
	}
	t.Audit = nil
	select {
	case s.pending <- t.ID:
	default: // the sweeper takes it when its lease is over
	}
	return t, nil
}

// Get shows a task of the caller as it stands, settled if what it waits for has ended. Whatever the caller may not see is
// answered alike (TaskNotFound).
func (s *Service) Get(ctx context.Context, who access.Caller, id string) (task.Task, error) {
	t, err := s.own(ctx, who, id)
	if err != nil || t.State != task.Working || !t.Started() {
		return t, err
	}
	now, err := s.look(ctx, t)
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "a task cannot be brought up to date", slog.String("task_id", id), slog.Any("error", err))
		return t, nil
	}
	return now, nil
}

// Update takes answers to questions of a task. None ever asks one, so nothing changes.
func (s *Service) Update(ctx context.Context, who access.Caller, id string) error {
	_, err := s.own(ctx, who, id)
	return err
}

// Cancel ends the wait of a task of the caller, and not what it waits for: what has not begun never does. An ended task
// stays as it is.
func (s *Service) Cancel(ctx context.Context, who access.Caller, id string) (task.Task, error) {
	t, err := s.own(ctx, who, id)
	if err != nil || t.State != task.Working {
		return t, err
	}
	return s.Store.ChangeMCPTask(ctx, t.ID, func(t task.Task) (task.Task, error) {
		if t.State == task.Working {
			t.Audit = who.Audit("task.cancel", t.Namespace, id)
		}
		return t.Cancel(s.end()), nil
	})
}

// own finds a task that the caller may see.
func (s *Service) own(ctx context.Context, who access.Caller, id string) (task.Task, error) {
	if !task.ID(id).Possible() {
		return task.Task{}, task.Unknown()
	}
	t, err := s.Store.MCPTask(ctx, task.ID(id))
	if err != nil {
		return task.Task{}, err
	}
	if t.Owner != who.Owner() || t.Expired(s.Clock.Now()) {
		return task.Task{}, task.Unknown()
	}
	return t, nil
}

func (s *Service) end() task.End { return task.End{At: s.Clock.Now(), TTL: s.TTL} }
