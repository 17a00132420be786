package history

import (
	"time"

	"aion/domain"
	"aion/domain/action"
)

// Event is one kind of event: a closed set. EncodeEvent gives the canonical JSON of its members.
//
//sumtype:decl
type Event interface {
	// Type is the event's name on the wire and in the store.
	Type() string
	event()
}

// Failure is how a run or a step failed.
type Failure struct {
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Step       string  `json:"step"`  // empty: none
	Scope      *string `json:"scope"` // nil: none; the workflow's own scope is the empty text
	ActivityID *int64  `json:"activity_id"`
}

// Parent names the activity-like place of a child in its parent.
type Parent struct {
	WorkflowID domain.WorkflowID `json:"workflow_id"`
	RunID      domain.RunID      `json:"run_id"`
	Child      int64             `json:"child"`
}

// Facts.
type (
	// WorkflowStarted opens a run.
	WorkflowStarted struct {
		WorkflowType   string            `json:"workflow_type"`
		PackageVersion string            `json:"package_version"` // content hash
		Input          domain.Payload    `json:"input"`
		ParentRunID    domain.RunID      `json:"parent_run_id"` // the previous generation; empty: none
		Carried        domain.Payload    `json:"carried"`       // state and buffered signals of a continued chain; nil: none
		Parent         *Parent           `json:"parent"`
		Deadline       time.Time         `json:"deadline"` // zero: none
		Labels         map[string]string `json:"labels"`
		StartedBy      string            `json:"started_by"`
	}
	// ActivityStarted begins an attempt. Executor is `server` or a worker's identity.
	ActivityStarted struct {
		ActivityID int64  `json:"activity_id"`
		Attempt    int    `json:"attempt"`
		Executor   string `json:"executor"`
	}
	// ActivityCompleted ends an activity with its result.
	ActivityCompleted struct {
		ActivityID int64          `json:"activity_id"`
		Attempt    int            `json:"attempt"`
		Result     domain.Payload `json:"result"`
	}
	// ActivityFailed ends an attempt. With RetryAt another one follows at that time; without, the activity has failed.
	ActivityFailed struct {
		ActivityID int64          `json:"activity_id"`
		Attempt    int            `json:"attempt"`
		Class      action.Class   `json:"class"`
		Code       string         `json:"code"`
		Message    string         `json:"message"`
		Details    domain.Payload `json:"details"`  // nil: none
		RetryAt    time.Time      `json:"retry_at"` // zero: this was the last
	}
	// TimerFired ends a timer.
	TimerFired struct {
		TimerID int64 `json:"timer_id"`
	}
	// SignalReceived buffers a payload until a wait takes it.
	SignalReceived struct {
		SignalID   string         `json:"signal_id"`
		SignalName string         `json:"signal_name"`
		Payload    domain.Payload `json:"payload"`
		SentBy     string         `json:"sent_by"`
	}
	// ChildCompleted is the success of a child.
	ChildCompleted struct {
		Child   int64          `json:"child"`
		Outcome string         `json:"outcome"`
		Result  domain.Payload `json:"result"`
	}
	// ChildFailed is any other end of a child.
	ChildFailed struct {
		Child   int64          `json:"child"`
		Outcome string         `json:"outcome"` // empty: none
		Result  domain.Payload `json:"result"`  // nil: none
		Failure *Failure       `json:"failure"`
	}
	// WorkflowPaused holds a run.
	WorkflowPaused struct {
		By     string `json:"by"`
		Reason string `json:"reason"`
	}
	// WorkflowResumed lets it go on.
	WorkflowResumed struct {
		By     string `json:"by"`
		Reason string `json:"reason"`
	}
	// WorkflowReopened supersedes a terminal event.
	WorkflowReopened struct {
		By      string `json:"by"`
		Reason  string `json:"reason"`
		FromSeq Seq    `json:"from_seq"`
	}
	// WorkflowCancelled ends a run by request.
	WorkflowCancelled struct {
		Reason string `json:"reason"`
		By     string `json:"by"`
	}
)

// Derived events.
type (
	// ActivityScheduled asks for an action.
	ActivityScheduled struct {
		ActivityID   int64          `json:"activity_id"`
		ActivityType string         `json:"activity_type"`
		TaskQueue    string         `json:"task_queue"`
		Node         string         `json:"node"` // empty: none
		Input        domain.Payload `json:"input"`
		Step         string         `json:"step"`
		Scope        string         `json:"scope"`
		TimeoutMS    int64          `json:"timeout_ms"` // 0: none
		Retry        *action.Retry  `json:"retry"`
	}
	// ActivityCancelled stops an activity of a part of a run that goes on.
	ActivityCancelled struct {
		ActivityID int64  `json:"activity_id"`
		Reason     string `json:"reason"` // sibling_failed or flow_ended
	}
	// TimerStarted sets a timer. Purpose is sleep, wait or workflow.
	TimerStarted struct {
		TimerID int64     `json:"timer_id"`
		Purpose string    `json:"purpose"`
		FireAt  time.Time `json:"fire_at"`
		Step    string    `json:"step"`  // empty: none
		Scope   *string   `json:"scope"` // nil: none
	}
	// TimerCancelled clears a timer.
	TimerCancelled struct {
		TimerID int64 `json:"timer_id"`
	}
	// ChildStarted asks for a child workflow.
	ChildStarted struct {
		Child           int64             `json:"child"`
		ChildWorkflowID domain.WorkflowID `json:"child_workflow_id"`
		WorkflowType    string            `json:"workflow_type"`
		Input           domain.Payload    `json:"input"`
		Detached        bool              `json:"detached"`
		Step            string            `json:"step"`
		Scope           string            `json:"scope"`
	}
	// ChildCancelled stops an awaited child.
	ChildCancelled struct {
		Child  int64  `json:"child"`
		Reason string `json:"reason"`
	}
	// WorkflowCompleted ends a run by a success route.
	WorkflowCompleted struct {
		Outcome string         `json:"outcome"`
		Result  domain.Payload `json:"result"`
	}
	// WorkflowFailed ends a run by a failure route (Outcome, Result) or a failure (Failure).
	WorkflowFailed struct {
		Outcome string         `json:"outcome"`
		Result  domain.Payload `json:"result"`
		Failure *Failure       `json:"failure"`
	}
	// WorkflowTimedOut ends a run at its timeout.
	WorkflowTimedOut struct {
		TimeoutMS int64 `json:"timeout_ms"`
	}
	// WorkflowContinuedAsNew ends a generation; the next run's WorkflowStarted is in the same commit.
	WorkflowContinuedAsNew struct {
		NewRunID     domain.RunID `json:"new_run_id"`
		WorkflowType string       `json:"workflow_type"`
		ParentRunID  domain.RunID `json:"parent_run_id"`
	}
)

// Markers: they tell people and the replay check what the flow did, and cause nothing.
type (
	// StepEntered counts a visit from 1.
	StepEntered struct {
		Step  string `json:"step"`
		Scope string `json:"scope"`
		Visit int64  `json:"visit"`
	}
	// OutcomeTaken is a clause or a route that fired. Clause is nil for a route in the body.
	OutcomeTaken struct {
		Step   string  `json:"step"`
		Scope  string  `json:"scope"`
		Visit  int64   `json:"visit"`
		Clause *string `json:"clause"`
		Target string  `json:"target"`
	}
	// StepFailed is a failure of a step; Handled says that an `on failure` block runs.
	StepFailed struct {
		Step    string  `json:"step"`
		Scope   string  `json:"scope"`
		Visit   int64   `json:"visit"`
		Failure Failure `json:"failure"`
		Handled bool    `json:"handled"`
	}
	// ForkStarted opens a fork.
	ForkStarted struct {
		Step       string `json:"step"`
		Scope      string `json:"scope"`
		Fork       int    `json:"fork"`
		Branches   int    `json:"branches"`
		Sequential bool   `json:"sequential"`
	}
	// ForkJoined closes a fork.
	ForkJoined struct {
		Step       string `json:"step"`
		Scope      string `json:"scope"`
		Fork       int    `json:"fork"`
		Branches   int    `json:"branches"`
		Sequential bool   `json:"sequential"`
	}
	// LoopPass stands before a pass, from 1.
	LoopPass struct {
		Step  string `json:"step"`
		Scope string `json:"scope"`
		Loop  int    `json:"loop"`
		Pass  int64  `json:"pass"`
	}
	// LoopEnded closes a loop.
	LoopEnded struct {
		Step      string `json:"step"`
		Scope     string `json:"scope"`
		Loop      int    `json:"loop"`
		Passes    int64  `json:"passes"`
		Satisfied bool   `json:"satisfied"`
	}
	// RegionOpened opens a region; Step and Scope are its opener's.
	RegionOpened struct {
		Step  string `json:"step"`
		Scope string `json:"scope"`
		Verb  string `json:"verb"`
		Items int    `json:"items"`
	}
	// RegionSlot is the end of an instance.
	RegionSlot struct {
		Step  string `json:"step"`
		Scope string `json:"scope"`
		Index int    `json:"index"`
		OK    bool   `json:"ok"`
	}
	// RegionClosed is the collect.
	RegionClosed struct {
		Step   string `json:"step"`
		Scope  string `json:"scope"`
		Filled int    `json:"filled"`
	}
	// SubflowEntered opens a subflow call.
	SubflowEntered struct {
		Step    string `json:"step"`
		Scope   string `json:"scope"`
		Subflow string `json:"subflow"`
	}
	// SubflowLeft closes it.
	SubflowLeft struct {
		Step    string `json:"step"`
		Scope   string `json:"scope"`
		Subflow string `json:"subflow"`
		Failed  bool   `json:"failed"`
	}
)

// Fact reports whether an event comes from outside; all others follow from the plan. The WorkflowStarted of a later
// generation is derived by the generation before it, but opens its own run as a fact.
func Fact(e Event) bool {
	switch e.(type) {
	case WorkflowStarted, ActivityStarted, ActivityCompleted, ActivityFailed, TimerFired, SignalReceived, ChildCompleted, ChildFailed,
		WorkflowPaused, WorkflowResumed, WorkflowReopened, WorkflowCancelled:
		return true
	case ActivityScheduled, ActivityCancelled, TimerStarted, TimerCancelled, ChildStarted, ChildCancelled, WorkflowCompleted,
		WorkflowFailed, WorkflowTimedOut, WorkflowContinuedAsNew, StepEntered, OutcomeTaken, StepFailed, ForkStarted, ForkJoined,
		LoopPass, LoopEnded, RegionOpened, RegionSlot, RegionClosed, SubflowEntered, SubflowLeft:
		return false
	}
	panic("history: event of no known kind: " + e.Type())
}

// Terminal reports whether an event ends its run.
func Terminal(e Event) bool {
	switch e.(type) {
	case WorkflowCompleted, WorkflowFailed, WorkflowTimedOut, WorkflowCancelled, WorkflowContinuedAsNew:
		return true
	default:
		return false
	}
}
