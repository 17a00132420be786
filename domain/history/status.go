package history

import (
	"time"

	"aion/domain"
)

// Status of a run: a projection of its history.
type Status string

// The statuses, spelled as every surface shows them.
const (
	Running        Status = "Running"
	Paused         Status = "Paused"
	Completed      Status = "Completed"
	Failed         Status = "Failed"
	Cancelled      Status = "Cancelled"
	TimedOut       Status = "TimedOut"
	ContinuedAsNew Status = "ContinuedAsNew"
)

// Statuses are all of them, in the order of a run's life.
func Statuses() []Status {
	return []Status{Running, Paused, Completed, Failed, Cancelled, TimedOut, ContinuedAsNew}
}

// Terminal reports whether nothing but a reopening can follow.
func (s Status) Terminal() bool { return s != Running && s != Paused }

// RunRow is the visibility projection of one run after a commit: what lists and filters read.
type RunRow struct {
	Namespace      domain.Namespace
	WorkflowID     domain.WorkflowID
	RunID          domain.RunID
	Generation     int // from 1
	WorkflowType   string
	PackageVersion string // content hash of the plan it is pinned to
	Status         Status
	PausedReason   string
	StartedAt      time.Time
	EndedAt        time.Time    // zero while open
	PreviousRunID  domain.RunID // empty in the first generation
	Parent         *Parent
	Labels         map[string]string
	FirstSeq       Seq
	Outcome        string // of an ended run; empty: none
	// FailureCode and FailureMessage are of a run that failed, timed out or was cancelled; a long message is cut. Empty: none.
	FailureCode    string
	FailureMessage string
	ScheduleID     string // of the schedule that started its chain; empty: none did
}

// CurrentStep is the activity that a run has started last and that is open, else the one scheduled last.
type CurrentStep struct {
	ActivityID   int64
	ActivityType string
	Attempt      int
	Step         string
}

// ListedRun is a row of a list: the projection of a run, and what moves on with each commit.
type ListedRun struct {
	RunRow
	Current *CurrentStep // nil: no activity is open
	HeadSeq Seq          // of its newest event
}
