package history

import (
	"encoding/json"
	"fmt"

	"aion/domain"
)

// DecodeEvent reads the members of an event of a named type. Unknown members are ignored here (Recorded.Data keeps them);
// an unknown type and malformed members are refused by name.
func DecodeEvent(typ string, data []byte) (Event, error) { // one case per event kind
	switch typ {
	case "WorkflowStarted":
		return decode[WorkflowStarted](typ, data)
	case "ActivityStarted":
		return decode[ActivityStarted](typ, data)
	case "ActivityCompleted":
		return decode[ActivityCompleted](typ, data)
	case "ActivityFailed":
		return decode[ActivityFailed](typ, data)
	case "TimerFired":
		return decode[TimerFired](typ, data)
	case "SignalReceived":
		return decode[SignalReceived](typ, data)
	case "ChildCompleted":
		return decode[ChildCompleted](typ, data)
	case "ChildFailed":
		return decode[ChildFailed](typ, data)
	case "WorkflowPaused":
		return decode[WorkflowPaused](typ, data)
	case "WorkflowResumed":
		return decode[WorkflowResumed](typ, data)
	case "WorkflowReopened":
		return decode[WorkflowReopened](typ, data)
	case "WorkflowCancelled":
		return decode[WorkflowCancelled](typ, data)
	case "ActivityScheduled":
		return decode[ActivityScheduled](typ, data)
	case "ActivityCancelled":
		return decode[ActivityCancelled](typ, data)
	case "TimerStarted":
		return decode[TimerStarted](typ, data)
	case "TimerCancelled":
		return decode[TimerCancelled](typ, data)
	case "ChildStarted":
		return decode[ChildStarted](typ, data)
	case "ChildCancelled":
		return decode[ChildCancelled](typ, data)
	case "WorkflowCompleted":
		return decode[WorkflowCompleted](typ, data)
	case "WorkflowFailed":
		return decode[WorkflowFailed](typ, data)
	case "WorkflowTimedOut":
		return decode[WorkflowTimedOut](typ, data)
	case "WorkflowContinuedAsNew":
		return decode[WorkflowContinuedAsNew](typ, data)
	case "StepEntered":
		return decode[StepEntered](typ, data)
	case "OutcomeTaken":
		return decode[OutcomeTaken](typ, data)
	case "StepFailed":
		return decode[StepFailed](typ, data)
	case "ForkStarted":
		return decode[ForkStarted](typ, data)
	case "ForkJoined":
		return decode[ForkJoined](typ, data)
	case "LoopPass":
		return decode[LoopPass](typ, data)
	case "LoopEnded":
		return decode[LoopEnded](typ, data)
	case "RegionOpened":
		return decode[RegionOpened](typ, data)
	case "RegionSlot":
		return decode[RegionSlot](typ, data)
	case "RegionClosed":
		return decode[RegionClosed](typ, data)
	case "SubflowEntered":
		return decode[SubflowEntered](typ, data)
	case "SubflowLeft":
		return decode[SubflowLeft](typ, data)
	}
	return nil, &domain.Error{
		Code: domain.CodeBackend, Type: "StoreFault",
		Message: fmt.Sprintf("event type %q is not known to this version; run the version that wrote it", domain.Quote(typ, 64)),
	}
}

func decode[E Event](typ string, data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: "event " + typ + " cannot be read", Err: err}
	}
	return e, nil
}
