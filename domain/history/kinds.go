package history

// Type implements Event.
func (WorkflowStarted) Type() string { return "WorkflowStarted" }

// Type implements Event.
func (ActivityStarted) Type() string { return "ActivityStarted" }

// Type implements Event.
func (ActivityCompleted) Type() string { return "ActivityCompleted" }

// Type implements Event.
func (ActivityFailed) Type() string { return "ActivityFailed" }

// Type implements Event.
func (TimerFired) Type() string { return "TimerFired" }

// Type implements Event.
func (SignalReceived) Type() string { return "SignalReceived" }

// Type implements Event.
func (ChildCompleted) Type() string { return "ChildCompleted" }

// Type implements Event.
func (ChildFailed) Type() string { return "ChildFailed" }

// Type implements Event.
func (WorkflowPaused) Type() string { return "WorkflowPaused" }

// Type implements Event.
func (WorkflowResumed) Type() string { return "WorkflowResumed" }

// Type implements Event.
func (WorkflowReopened) Type() string { return "WorkflowReopened" }

// Type implements Event.
func (WorkflowCancelled) Type() string { return "WorkflowCancelled" }

// Type implements Event.
func (ActivityScheduled) Type() string { return "ActivityScheduled" }

// Type implements Event.
func (ActivityCancelled) Type() string { return "ActivityCancelled" }

// Type implements Event.
func (TimerStarted) Type() string { return "TimerStarted" }

// Type implements Event.
func (TimerCancelled) Type() string { return "TimerCancelled" }

// Type implements Event.
func (ChildStarted) Type() string { return "ChildStarted" }

// Type implements Event.
func (ChildCancelled) Type() string { return "ChildCancelled" }

// Type implements Event.
func (WorkflowCompleted) Type() string { return "WorkflowCompleted" }

// Type implements Event.
func (WorkflowFailed) Type() string { return "WorkflowFailed" }

// Type implements Event.
func (WorkflowTimedOut) Type() string { return "WorkflowTimedOut" }

// Type implements Event.
func (WorkflowContinuedAsNew) Type() string { return "WorkflowContinuedAsNew" }

// Type implements Event.
func (StepEntered) Type() string { return "StepEntered" }

// Type implements Event.
func (OutcomeTaken) Type() string { return "OutcomeTaken" }

// Type implements Event.
func (StepFailed) Type() string { return "StepFailed" }

// Type implements Event.
func (ForkStarted) Type() string { return "ForkStarted" }

// Type implements Event.
func (ForkJoined) Type() string { return "ForkJoined" }

// Type implements Event.
func (LoopPass) Type() string { return "LoopPass" }

// Type implements Event.
func (LoopEnded) Type() string { return "LoopEnded" }

// Type implements Event.
func (RegionOpened) Type() string { return "RegionOpened" }

// Type implements Event.
func (RegionSlot) Type() string { return "RegionSlot" }

// Type implements Event.
func (RegionClosed) Type() string { return "RegionClosed" }

// Type implements Event.
func (SubflowEntered) Type() string { return "SubflowEntered" }

// Type implements Event.
func (SubflowLeft) Type() string { return "SubflowLeft" }

func (WorkflowStarted) event()        {}
func (ActivityStarted) event()        {}
func (ActivityCompleted) event()      {}
func (ActivityFailed) event()         {}
func (TimerFired) event()             {}
func (SignalReceived) event()         {}
func (ChildCompleted) event()         {}
func (ChildFailed) event()            {}
func (WorkflowPaused) event()         {}
func (WorkflowResumed) event()        {}
func (WorkflowReopened) event()       {}
func (WorkflowCancelled) event()      {}
func (ActivityScheduled) event()      {}
func (ActivityCancelled) event()      {}
func (TimerStarted) event()           {}
func (TimerCancelled) event()         {}
func (ChildStarted) event()           {}
func (ChildCancelled) event()         {}
func (WorkflowCompleted) event()      {}
func (WorkflowFailed) event()         {}
func (WorkflowTimedOut) event()       {}
func (WorkflowContinuedAsNew) event() {}
func (StepEntered) event()            {}
func (OutcomeTaken) event()           {}
func (StepFailed) event()             {}
func (ForkStarted) event()            {}
func (ForkJoined) event()             {}
func (LoopPass) event()               {}
func (LoopEnded) event()              {}
func (RegionOpened) event()           {}
func (RegionSlot) event()             {}
func (RegionClosed) event()           {}
func (SubflowEntered) event()         {}
func (SubflowLeft) event()            {}

// Types are the names of all kinds of events, facts first.
func Types() []string {
	all := []Event{
		WorkflowStarted{},
		ActivityStarted{},
		ActivityCompleted{},
		ActivityFailed{},
		TimerFired{},
		SignalReceived{},
		ChildCompleted{},
		ChildFailed{},
		WorkflowPaused{},
		WorkflowResumed{},
		WorkflowReopened{},
		WorkflowCancelled{},
		ActivityScheduled{},
		ActivityCancelled{},
		TimerStarted{},
		TimerCancelled{},
		ChildStarted{},
		ChildCancelled{},
		WorkflowCompleted{},
		WorkflowFailed{},
		WorkflowTimedOut{},
		WorkflowContinuedAsNew{},
		StepEntered{},
		OutcomeTaken{},
		StepFailed{},
		ForkStarted{},
		ForkJoined{},
		LoopPass{},
		LoopEnded{},
		RegionOpened{},
		RegionSlot{},
		RegionClosed{},
		SubflowEntered{},
		SubflowLeft{},
	}
	names := make([]string, 0, len(all))
	for _, e := range all {
		names = append(names, e.Type())
	}
	return names
}
