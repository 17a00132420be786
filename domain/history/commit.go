package history

import (
	"time"

	"aion/domain"
	"aion/domain/action"
)

// Commit is one atomic change of one workflow: a fact (or a few), everything derived from it, the projection after it and
// the rows that make the outside world act. It becomes durable whole or not at all.
type Commit struct {
	Namespace   domain.Namespace
	WorkflowID  domain.WorkflowID
	ExpectedSeq Seq // the head that it follows; 0: the workflow does not exist yet
	Events      []Recorded
	Rows        []RunRow     // the new value of each run whose row changed
	Current     *CurrentStep // of the latest run; nil: no activity is open
	Acts        []Act        // in the order of the events that cause them
	Started     *Idempotency // of a start, or another change by a caller, with a key; nil: none
	Audit       []domain.AuditRecord
	// Claims are held by whoever made this commit: it says how these attempts ended, or takes a parked one up again. A task
	// that is not held so any more fails the whole commit.
	Claims []Claim
}

// Idempotency maps a key to the workflow that it started or changed. A second commit with a known live key fails whole with
// CodeIdempotencyConflict (type IdempotencyTaken); the caller then reads the record and compares Request.
type Idempotency struct {
	Scope      string // who and where: keys of two scopes never meet
	Key        string
	Request    string // digest of the request, and what else whoever repeats it needs
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	ExpiresAt  time.Time
	// Task is the MCP task that waits for the run, or empty. It must be working and learns the run in the same change; the
	// commit of any other fails whole with CodeIdempotencyConflict (type TaskEnded). It is no part of the record.
	Task string
}

// Claim is the right to run an attempt and to say how it ended. The token is the fence: the seq of the start that the
// claim was taken with, so that it rises with every claim of a task. Token 0 is the claim of whoever finds the attempt
// parked.
type Claim struct {
	Key   domain.AttemptKey
	Token Seq
}

// Act is a row that makes the outside world act, written with the events that cause it: a closed set.
//
//sumtype:decl
type Act interface{ act() }

// The acts.
type (
	// TaskAdded stores the task of a scheduled activity, already granted when its start is in the same commit.
	TaskAdded struct{ Task Task }
	// TaskMoved changes state, attempt, owner, claim and due time of a stored task.
	TaskMoved struct {
		Key        domain.AttemptKey // Attempt is the new one
		State      TaskState
		Owner      string
		Token      Seq
		ClaimUntil time.Time
		NotBefore  time.Time
	}
	// TaskEnded removes the task of an activity.
	TaskEnded struct {
		WorkflowID domain.WorkflowID
		RunID      domain.RunID
		ActivityID int64
	}
	// TimerSet stores a timer.
	TimerSet struct{ Timer Timer }
	// TimerCleared removes a timer.
	TimerCleared struct {
		WorkflowID domain.WorkflowID
		RunID      domain.RunID
		TimerID    int64
	}
	// RunClosed removes every task and timer of a run.
	RunClosed struct {
		WorkflowID domain.WorkflowID
		RunID      domain.RunID
	}
	// Posted leaves a message for another workflow in the outbox: a child to start or to close, a child's end for its parent.
	Posted struct{ Message Message }
)

func (TaskAdded) act()    {}
func (TaskMoved) act()    {}
func (TaskEnded) act()    {}
func (TimerSet) act()     {}
func (TimerCleared) act() {}
func (RunClosed) act()    {}
func (Posted) act()       {}

// TaskState of a stored task.
type TaskState string

// The states. A parked task was stopped by a drain and goes on under its own attempt number.
const (
	TaskQueued  TaskState = "queued"
	TaskStarted TaskState = "started"
	TaskParked  TaskState = "parked"
)

// Task is an open activity that waits for a slot, or runs. Key.Attempt is the running or the coming attempt.
type Task struct {
	Namespace      domain.Namespace
	Key            domain.AttemptKey
	TaskQueue      string
	Name           string
	PackageVersion string
	State          TaskState
	Owner          string // the server instance or worker that runs it; empty while queued
	Token          Seq    // of the owner's claim; 0 while nobody has one
	ClaimUntil     time.Time
	ScheduledAt    time.Time
	NotBefore      time.Time

	// What the attempt is run with comes along for whoever runs it at once. Stores drop it: the history has it.
	Node   string
	Input  domain.Payload
	Config action.Config
}

// Timer is an open timer as the store keeps it.
type Timer struct {
	Namespace  domain.Namespace
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	TimerID    int64
	Purpose    string
	FireAt     time.Time
}

// Message is one outbox row. Handling it is idempotent by ID.
type Message struct {
	ID         string // `<run_id>:<kind>:<ordinal>`
	Namespace  domain.Namespace
	WorkflowID domain.WorkflowID // who posted it
	Kind       string            // start_child, close_child, child_ended
	Body       domain.Payload
}
