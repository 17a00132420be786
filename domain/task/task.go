// Package task holds the states of an MCP task: a tool call whose result comes later (mcp 6). A task that has ended never
// changes again, whatever happens to what it waited for.
package task

import (
	"encoding/hex"
	"regexp"
	"time"

	"aion/domain"
)

// ID names a task: `task-` and 32 hex digits in lower case.
type ID string

// NewID gives the id of 128 random bits.
func NewID(random [16]byte) ID { return ID("task-" + hex.EncodeToString(random[:])) }

var idShape = regexp.MustCompile(`^task-[0-9a-f]{32}$`)

// Possible reports whether a task can have this id at all.
func (id ID) Possible() bool { return idShape.MatchString(string(id)) }

// State of a task.
type State string

// The states. Every one but Working is final.
const (
	Working   State = "working"   // not started yet, or what was started has not ended
	Completed State = "completed" // the call has a result, maybe a refusal
	Cancelled State = "cancelled" // nobody waits any more
	Failed    State = "failed"    // executing the call met a defect
)

// Caller is what the start of a task needs to know of who made it. Its grants were checked when it was made.
type Caller struct {
	Subject string `json:"subject"`
	Mode    string `json:"mode"`
	Source  string `json:"source,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	// How the call came in, for the audit record of what it starts.
	Surface   string `json:"surface,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Remote    string `json:"remote,omitempty"`
}

// Task is one task and its record. Times have microseconds.
type Task struct {
	ID            ID
	Owner         string
	Caller        Caller
	Namespace     domain.Namespace
	Tool          string
	Arguments     domain.Payload // as validated
	State         State
	StatusMessage string
	WorkflowID    domain.WorkflowID // empty until started
	RunID         domain.RunID      // the run that was started; of a settled task the last one of its chain
	Outcome       *Outcome          // exactly of a completed task
	Reference     string            // exactly of a failed task: the log holds the cause under it
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ExpiresAt     time.Time // zero while working
	LeaseUntil    time.Time // until then one server is starting it, and no other tries
	// Audit is written with the task as it is now, and is no part of it; nil: nothing is.
	Audit *domain.AuditRecord
}

// Outcome is the result of the call, the one that waited for it.
type Outcome struct {
	Value   domain.Payload `json:"value,omitempty"`   // structured content; may stand beside a refusal
	Refusal *Refusal       `json:"refusal,omitempty"` // nil: a success
}

// Encode writes the outcome as it is stored; its value loses insignificant space and nothing else.
func (o Outcome) Encode() ([]byte, error) { return domain.Encode(o) }

// Refusal is what the caller reads instead of a success.
type Refusal struct {
	Code    domain.Code `json:"code"`
	Type    string      `json:"error_type"`
	Message string      `json:"message"`
}

// New gives a task that works, leased to the server that makes it.
func New(id ID, owner string, at time.Time, lease time.Duration) Task {
	at = micros(at)
	return Task{ID: id, Owner: owner, State: Working, StatusMessage: "starting", CreatedAt: at, UpdatedAt: at, LeaseUntil: at.Add(lease)}
}

// Started reports whether the task's run is known.
func (t Task) Started() bool { return t.WorkflowID != "" }

// Expired reports whether nobody can see the task any more.
func (t Task) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now) }

// TTL is how long the task lives from its creation; false while it works: a working task is never dropped.
func (t Task) TTL() (time.Duration, bool) {
	if t.ExpiresAt.IsZero() {
		return 0, false
	}
	return t.ExpiresAt.Sub(t.CreatedAt), true
}

func micros(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }
