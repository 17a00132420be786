package memory

import (
	"bytes"
	"maps"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/domain/task"
	"aion/domain/transcript"
	"aion/domain/worker"
	"aion/ports"
)

// Store implements every store port but the one for documents. It is safe for concurrent use. What it is given and what
// it gives are copies.
type Store struct {
	clock ports.Clock

	mu          sync.RWMutex
	workflows   map[domain.WorkflowID]*workflow
	tasks       open[history.Task]
	timers      open[history.Timer]
	outbox      []history.Message
	posted      map[string]bool // ids in outbox
	keys        map[idempotencyKey]history.Idempotency
	transcripts map[domain.AttemptKey]*stream
	versions    map[string]deployment.Version
	routes      map[string]deployment.Route
	namespaces  map[domain.Namespace]ports.NamespaceRow
	mcpTasks    map[task.ID]task.Task
	schedules   map[schedule.Ref]*scheduled
	audit       []domain.AuditRecord
	changes     changes
	chain       string // of the audit records of this process
	replicas    map[string]ports.Replica
	epoch       int64 // of the last joining
	workers     map[string]worker.Worker
	leases      map[string]history.Lease // by hash
}

// workflow is one history and its runs by generation.
type workflow struct {
	events  []history.Recorded
	runs    []history.RunRow
	current *history.CurrentStep
}

// open holds the open tasks or timers of every workflow: a workflow that has none is not in it.
type open[T any] map[domain.WorkflowID]map[place]T

// place names a task or a timer within its workflow: both are numbered in their run.
type place struct {
	run     domain.RunID
	ordinal int64
}

func (o open[T]) put(id domain.WorkflowID, at place, v T) {
	if o[id] == nil {
		o[id] = map[place]T{}
	}
	o[id][at] = v
}

func (o open[T]) remove(id domain.WorkflowID, wanted func(place) bool) {
	maps.DeleteFunc(o[id], func(p place, _ T) bool { return wanted(p) })
	if len(o[id]) == 0 {
		delete(o, id)
	}
}

type idempotencyKey struct{ scope, key string }

type stream struct {
	records   []transcript.Record
	workerSeq int64
}

// New gives an empty store. The clock decides which idempotency keys have expired.
func New(clock ports.Clock) *Store {
	return &Store{
		clock:       clock,
		workflows:   map[domain.WorkflowID]*workflow{},
		tasks:       open[history.Task]{},
		timers:      open[history.Timer]{},
		posted:      map[string]bool{},
		keys:        map[idempotencyKey]history.Idempotency{},
		transcripts: map[domain.AttemptKey]*stream{},
		versions:    map[string]deployment.Version{},
		routes:      map[string]deployment.Route{},
		namespaces:  map[domain.Namespace]ports.NamespaceRow{},
		mcpTasks:    map[task.ID]task.Task{},
		schedules:   map[schedule.Ref]*scheduled{},
		replicas:    map[string]ports.Replica{},
		workers:     map[string]worker.Worker{},
		leases:      map[string]history.Lease{},
	}
}

// Stored values have the resolution of the durable stores, so that what is read back is the same everywhere.

func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

func copyEvent(r history.Recorded) history.Recorded {
	return history.Recorded{Seq: r.Seq, At: stored(r.At), WorkflowID: r.WorkflowID, RunID: r.RunID, Type: r.Type, Data: bytes.Clone(r.Data)}
}

func copyRow(r history.RunRow) history.RunRow {
	r.StartedAt, r.EndedAt = stored(r.StartedAt), stored(r.EndedAt)
	r.Labels = maps.Clone(r.Labels)
	if r.Parent != nil {
		p := *r.Parent
		r.Parent = &p
	}
	return r
}

// copyTask drops what no store keeps of a task.
func copyTask(t history.Task) history.Task {
	t.Node, t.Input, t.Config = "", nil, action.Config{}
	t.ScheduledAt, t.NotBefore, t.ClaimUntil = stored(t.ScheduledAt), stored(t.NotBefore), stored(t.ClaimUntil)
	return t
}

func copyTimer(t history.Timer) history.Timer {
	t.FireAt = stored(t.FireAt)
	return t
}

func copyMessage(m history.Message) history.Message {
	m.Body = bytes.Clone(m.Body)
	return m
}

func copyRecord(r transcript.Record) transcript.Record {
	r.EmittedAt = stored(r.EmittedAt)
	r.Input, r.Output = bytes.Clone(r.Input), bytes.Clone(r.Output)
	r.Detail, r.Value = bytes.Clone(r.Detail), bytes.Clone(r.Value)
	return r
}

func copyVersion(v deployment.Version) deployment.Version {
	v.Audit = nil
	v.Imports = maps.Clone(v.Imports)
	v.Plan = bytes.Clone(v.Plan)
	v.DeployedAt = stored(v.DeployedAt)
	return v
}
