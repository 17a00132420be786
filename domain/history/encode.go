package history

// EncodeEvent gives the members of an event as canonical JSON: object keys sorted, no insignificant space, numbers in the
// shortest form that round-trips. Payloads of facts stand with the bytes they came with; whoever derives an event hands in
// canonical payloads.
func EncodeEvent(e Event) []byte {
	o := object{buf: make([]byte, 0, 160)}
	o.event(e)
	return o.buf
}

func (o *object) event(e Event) { //nolint:funlen // one case per event kind
	o.open()
	switch e := e.(type) {
	case WorkflowStarted:
		o.rawIf("carried", e.Carried)
		o.timeIf("deadline", e.Deadline)
		o.raw("input", e.Input)
		o.texts("labels", e.Labels)
		o.text("package_version", e.PackageVersion)
		if e.Parent != nil {
			o.parent("parent", *e.Parent)
		}
		o.textIf("parent_run_id", string(e.ParentRunID))
		o.text("started_by", e.StartedBy)
		o.text("workflow_type", e.WorkflowType)
	case ActivityStarted:
		o.int("activity_id", e.ActivityID)
		o.int("attempt", int64(e.Attempt))
		o.text("executor", e.Executor)
	case ActivityCompleted:
		o.int("activity_id", e.ActivityID)
		o.int("attempt", int64(e.Attempt))
		o.raw("result", e.Result)
	case ActivityFailed:
		o.int("activity_id", e.ActivityID)
		o.int("attempt", int64(e.Attempt))
		o.text("class", string(e.Class))
		o.text("code", e.Code)
		o.rawIf("details", e.Details)
		o.text("message", e.Message)
		o.timeIf("retry_at", e.RetryAt)
	case TimerFired:
		o.int("timer_id", e.TimerID)
	case SignalReceived:
		o.raw("payload", e.Payload)
		o.text("sent_by", e.SentBy)
		o.text("signal_id", e.SignalID)
		o.text("signal_name", e.SignalName)
	case ChildCompleted:
		o.int("child", e.Child)
		o.textIf("outcome", e.Outcome)
		o.rawIf("result", e.Result)
	case ChildFailed:
		o.int("child", e.Child)
		if e.Failure != nil {
			o.failure("failure", *e.Failure)
		}
		o.textIf("outcome", e.Outcome)
		o.rawIf("result", e.Result)
	case WorkflowPaused:
		o.text("by", e.By)
		o.textIf("reason", e.Reason)
	case WorkflowResumed:
		o.text("by", e.By)
		o.textIf("reason", e.Reason)
	case WorkflowReopened:
		o.text("by", e.By)
		o.int("from_seq", e.FromSeq)
		o.text("reason", e.Reason)
	case WorkflowCancelled:
		o.text("by", e.By)
		o.text("reason", e.Reason)
	case ActivityScheduled:
		o.int("activity_id", e.ActivityID)
		o.text("activity_type", e.ActivityType)
		o.raw("input", e.Input)
		o.textIf("node", e.Node)
		if e.Retry != nil {
			o.retry("retry", *e.Retry)
		}
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("task_queue", e.TaskQueue)
		if e.TimeoutMS != 0 {
			o.int("timeout_ms", e.TimeoutMS)
		}
	case ActivityCancelled:
		o.int("activity_id", e.ActivityID)
		o.text("reason", e.Reason)
	case TimerStarted:
		o.time("fire_at", e.FireAt)
		o.text("purpose", e.Purpose)
		if e.Scope != nil {
			o.text("scope", *e.Scope)
		}
		o.textIf("step", e.Step)
		o.int("timer_id", e.TimerID)
	case TimerCancelled:
		o.int("timer_id", e.TimerID)
	case ChildStarted:
		o.int("child", e.Child)
		o.text("child_workflow_id", string(e.ChildWorkflowID))
		o.bool("detached", e.Detached)
		o.raw("input", e.Input)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("workflow_type", e.WorkflowType)
	case ChildCancelled:
		o.int("child", e.Child)
		o.text("reason", e.Reason)
	case WorkflowCompleted:
		o.text("outcome", e.Outcome)
		o.raw("result", e.Result)
	case WorkflowFailed:
		if e.Failure != nil {
			o.failure("failure", *e.Failure)
		}
		o.textIf("outcome", e.Outcome)
		o.rawIf("result", e.Result)
	case WorkflowTimedOut:
		o.int("timeout_ms", e.TimeoutMS)
	case WorkflowContinuedAsNew:
		o.text("new_run_id", string(e.NewRunID))
		o.text("parent_run_id", string(e.ParentRunID))
		o.text("workflow_type", e.WorkflowType)
	case StepEntered:
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.int("visit", e.Visit)
	case OutcomeTaken:
		o.nullable("clause", e.Clause)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("target", e.Target)
		o.int("visit", e.Visit)
	case StepFailed:
		o.failure("failure", e.Failure)
		o.bool("handled", e.Handled)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.int("visit", e.Visit)
	case ForkStarted:
		o.int("branches", int64(e.Branches))
		o.int("fork", int64(e.Fork))
		o.text("scope", e.Scope)
		o.bool("sequential", e.Sequential)
		o.text("step", e.Step)
	case ForkJoined:
		o.int("branches", int64(e.Branches))
		o.int("fork", int64(e.Fork))
		o.text("scope", e.Scope)
		o.bool("sequential", e.Sequential)
		o.text("step", e.Step)
	case LoopPass:
		o.int("loop", int64(e.Loop))
		o.int("pass", e.Pass)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
	case LoopEnded:
		o.int("loop", int64(e.Loop))
		o.int("passes", e.Passes)
		o.bool("satisfied", e.Satisfied)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
	case RegionOpened:
		o.int("items", int64(e.Items))
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("verb", e.Verb)
	case RegionSlot:
		o.int("index", int64(e.Index))
		o.bool("ok", e.OK)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
	case RegionClosed:
		o.int("filled", int64(e.Filled))
		o.text("scope", e.Scope)
		o.text("step", e.Step)
	case SubflowEntered:
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("subflow", e.Subflow)
	case SubflowLeft:
		o.bool("failed", e.Failed)
		o.text("scope", e.Scope)
		o.text("step", e.Step)
		o.text("subflow", e.Subflow)
	}
	o.close()
}

func (o *object) failure(key string, e Failure) {
	o.key(key)
	o.open()
	if e.ActivityID != nil {
		o.int("activity_id", *e.ActivityID)
	}
	o.text("code", e.Code)
	o.text("message", e.Message)
	if e.Scope != nil {
		o.text("scope", *e.Scope)
	}
	o.textIf("step", e.Step)
	o.close()
}

func (o *object) parent(key string, e Parent) {
	o.key(key)
	o.open()
	o.int("child", e.Child)
	o.text("run_id", string(e.RunID))
	o.text("workflow_id", string(e.WorkflowID))
	o.close()
}
