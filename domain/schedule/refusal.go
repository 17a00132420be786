package schedule

import (
	"fmt"

	"aion/domain"
)

func specInvalid(text, rule string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "ScheduleSpecInvalid",
		Message: fmt.Sprintf("spec %q: %s; write a cron line such as 30 6 * * mon-fri, a name such as @daily, or every 90s", domain.Quote(text, 64), rule),
	}
}

// ZoneUnknown refuses a zone that the IANA database does not have.
func ZoneUnknown(name string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "ScheduleSpecInvalid",
		Message: fmt.Sprintf("time_zone %q is not in the IANA database; write a name such as Europe/Berlin, or UTC", domain.Quote(name, 64)),
	}
}

// NotFound says that a namespace has no schedule of this id.
func NotFound(id string, ns domain.Namespace) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "ScheduleNotFound",
		Message: fmt.Sprintf("no schedule %q in namespace %q; the list of its schedules shows what exists", domain.Quote(id, 64), ns),
	}
}

// Exists refuses a second schedule of the same id.
func Exists(id ID) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "ScheduleExists", Details: map[string]any{"schedule_id": string(id)},
		Message: fmt.Sprintf("schedule %q exists already; change it with its ETag as If-Match, or choose another schedule_id", id),
	}
}

// Mismatch refuses a change that rests on another revision than the present one.
func Mismatch(id ID, present int64) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "RevisionMismatch", Details: map[string]any{"current_revision": fmt.Sprint(present)},
		Message: fmt.Sprintf("schedule %q: the given revision does not match the saved one, which is %d. Re-read it, then save again", id, present),
	}
}

// Unconditional refuses a change that does not say what it rests on.
func Unconditional(id ID) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "PreconditionRequired",
		Message: fmt.Sprintf("schedule %q is replaced with If-Match; read it, and send its ETag, so that no other change is lost", id),
	}
}

// Overlaps refuses a run that was asked for while another one of the schedule is open.
func Overlaps(id ID, open domain.WorkflowID) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "ScheduleOverlap", Details: map[string]any{"workflow_id": string(open)},
		Message: fmt.Sprintf("schedule %q has an open run (workflow %s) and its overlap rule starts no other; wait for its end, or trigger with overlap allow or cancel_running",
			id, open),
	}
}

func invalid(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: fmt.Sprintf(format, args...)}
}
