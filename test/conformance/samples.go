package conformance

import (
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
)

// oddData are stored JSON texts that a careless store changes: escapes, wide integers, order, space, bytes that are no UTF-8.
func oddData() []string {
	return []string{
		`{"nul":"a\u0000b","raw":"é€😀","lone":"\ud800","escaped":"\u00e9\/"}`,
		`{"max":9223372036854775807,"min":-9223372036854775808,"wide":9007199254740993,"big":123456789012345678901234567890}`,
		`{"z":1,"a":2,"z":3}`,
		"{ \"space\" :\t[ 1 ,\n 2 ] }",
		`{"float":1.0,"exponent":1e2,"small":1E-7,"zero":-0.0}`,
		"{\"bytes\":\"\xff\xfe\"}",
		"{\"html\":\"<b>&amp;</b>\u2028\"}",
		`{}`,
		`null`,
	}
}

// everyEvent is one event of each kind, members that may be absent being there, then the ones that have such members
// without them.
func everyEvent() []history.Event {
	scope, clause, activity := "each[3].loop#1", "approved", int64(4)
	payload := domain.Payload(`{"z": 9007199254740993, "a": "\u0000", "n": null}`)
	failure := history.Failure{Code: "activity_failed", Message: "exited with code 2: \"disk\"\n\u2028full", Step: "build", Scope: &scope, ActivityID: &activity}
	at := start.Add(90 * time.Second)
	retry := action.Retry{MaxAttempts: 3, Backoff: action.Backoff{Kind: "exponential", InitialMS: 100, Multiplier: 2.5, MaxMS: 60000}}
	fixed := action.Retry{MaxAttempts: 2, Backoff: action.Backoff{Kind: "fixed", DelayMS: 1000}}
	return []history.Event{
		history.WorkflowStarted{
			WorkflowType: "ship", PackageVersion: hash(1), Input: payload, ParentRunID: domain.RunID(id(9)), Carried: payload,
			Parent: &history.Parent{WorkflowID: domain.WorkflowID(id(7)), RunID: domain.RunID(id(8)), Child: 2}, Deadline: at,
			Labels: map[string]string{"team": "é", "a": ""}, StartedBy: "schedule:nightly",
		},
		history.ActivityStarted{ActivityID: 1, Attempt: 2, Executor: "server"},
		history.ActivityCompleted{ActivityID: 1, Attempt: 2, Result: payload},
		history.ActivityFailed{ActivityID: 1, Attempt: 1, Class: action.Retryable, Code: "exit_nonzero", Message: "m", Details: payload, RetryAt: at},
		history.TimerFired{TimerID: 3},
		history.SignalReceived{SignalID: id(5), SignalName: "go", Payload: payload, SentBy: "operator"},
		history.ChildCompleted{Child: 1, Outcome: "done", Result: payload},
		history.ChildFailed{Child: 1, Outcome: "lost", Result: payload, Failure: &failure},
		history.WorkflowPaused{By: "operator", Reason: "nondeterminism"},
		history.WorkflowResumed{By: "operator", Reason: "fixed"},
		history.WorkflowReopened{By: "operator", Reason: "again", FromSeq: 12},
		history.WorkflowCancelled{Reason: "no longer needed", By: "operator"},
		history.ActivityScheduled{
			ActivityID: 1, ActivityType: "make", TaskQueue: "shell", Node: "gpu", Input: payload, Step: "build", Scope: scope,
			TimeoutMS: 30000, Retry: &retry,
		},
		history.ActivityCancelled{ActivityID: 1, Reason: "sibling_failed"},
		history.TimerStarted{TimerID: 2, Purpose: "wait", FireAt: at, Step: "hold", Scope: &scope},
		history.TimerCancelled{TimerID: 2},
		history.ChildStarted{Child: 1, ChildWorkflowID: domain.WorkflowID(id(6)), WorkflowType: "part", Input: payload, Detached: true, Step: "s", Scope: scope},
		history.ChildCancelled{Child: 1, Reason: "flow_ended"},
		history.WorkflowCompleted{Outcome: "done", Result: payload},
		history.WorkflowFailed{Outcome: "rejected", Result: payload, Failure: &failure},
		history.WorkflowTimedOut{TimeoutMS: 3600000},
		history.WorkflowContinuedAsNew{NewRunID: domain.RunID(id(11)), WorkflowType: "ship", ParentRunID: domain.RunID(id(10))},
		history.StepEntered{Step: "build", Scope: scope, Visit: 2},
		history.OutcomeTaken{Step: "build", Scope: scope, Visit: 2, Clause: &clause, Target: "done"},
		history.StepFailed{Step: "build", Scope: scope, Visit: 2, Failure: failure, Handled: true},
		history.ForkStarted{Step: "build", Scope: scope, Fork: 1, Branches: 3, Sequential: true},
		history.ForkJoined{Step: "build", Scope: scope, Fork: 1, Branches: 3, Sequential: true},
		history.LoopPass{Step: "build", Scope: scope, Loop: 1, Pass: 2},
		history.LoopEnded{Step: "build", Scope: scope, Loop: 1, Passes: 2, Satisfied: true},
		history.RegionOpened{Step: "build", Scope: scope, Verb: "distribute", Items: 3},
		history.RegionSlot{Step: "build", Scope: scope, Index: 2, OK: true},
		history.RegionClosed{Step: "build", Scope: scope, Filled: 2},
		history.SubflowEntered{Step: "build", Scope: scope, Subflow: "ship"},
		history.SubflowLeft{Step: "build", Scope: scope, Subflow: "ship", Failed: true},

		history.WorkflowStarted{WorkflowType: "ship", PackageVersion: hash(1), Input: domain.Payload(`{}`), Labels: map[string]string{}, StartedBy: "operator"},
		history.ActivityFailed{ActivityID: 1, Attempt: 2, Class: action.Lost, Code: "server_died", Message: "m"},
		history.ActivityScheduled{ActivityID: 1, ActivityType: "make", TaskQueue: "shell", Input: domain.Payload(`[]`), Step: "build", Retry: &fixed},
		history.TimerStarted{TimerID: 0, Purpose: "workflow", FireAt: at},
		history.OutcomeTaken{Step: "build", Visit: 1, Target: "done"},
		history.WorkflowFailed{Failure: &history.Failure{Code: "timed_out", Message: ""}},
	}
}
