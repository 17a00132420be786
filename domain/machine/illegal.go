package machine

import (
	"fmt"

	"aion/domain"
	"aion/domain/history"
)

// Illegal says that a fact cannot follow the history before it. Nothing of it may be recorded. It unwraps to a refusal.
type Illegal struct { //nolint:errname // it says what the fact is
	Seq    history.Seq
	Fact   string // the event type
	Reason string
}

func (e *Illegal) Error() string {
	return fmt.Sprintf("event %d: %s cannot follow: %s", e.Seq, e.Fact, e.Reason)
}

// Unwrap gives the refusal that a caller reads.
func (e *Illegal) Unwrap() error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "IllegalFact",
		Message: fmt.Sprintf("%s cannot follow event %d: %s; read the history and send what fits", e.Fact, e.Seq-1, e.Reason),
	}
}

// Nondeterminism says that deriving a recorded history again gives other events: the plan or the history was changed.
type Nondeterminism struct { //nolint:errname // the fault has this name on every surface
	Seq      history.Seq // the first event that differs
	Expected string      // what the plan derives, as type and members; empty: nothing
	Got      string      // what is recorded; empty: nothing
}

func (e *Nondeterminism) Error() string {
	expected, got := e.Expected, e.Got
	if expected == "" {
		expected = "no derived event"
	}
	if got == "" {
		got = "the end of the history"
	}
	return fmt.Sprintf("nondeterminism at event %d: the plan derives %s, the history has %s",
		e.Seq, domain.Quote(expected, 300), domain.Quote(got, 300))
}
