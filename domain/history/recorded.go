package history

import (
	"encoding/json"
	"fmt"
	"time"

	"aion/domain"
)

// Seq numbers the events of a workflow, dense from 1 over all its runs.
type Seq = int64

// Recorded is one event in its envelope. Data is the stored JSON object of its members; unknown members are kept in it.
type Recorded struct {
	Seq        Seq
	At         time.Time // UTC, microseconds
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	Type       string
	Data       json.RawMessage
	event      Event // decoded once; nil until then
	refusal    error // see Refusal
}

// Record puts an event into its envelope and encodes it once. Refusal tells whether it may be committed.
func Record(seq Seq, at time.Time, id domain.WorkflowID, run domain.RunID, e Event) Recorded {
	o := object{buf: make([]byte, 0, 160), check: true}
	o.event(e)
	r := Recorded{Seq: seq, At: at.UTC().Truncate(time.Microsecond), WorkflowID: id, RunID: run, Type: e.Type(), Data: o.buf, event: e}
	if o.wrong != "" {
		r.refusal = &domain.Error{
			Code: domain.CodeBackend, Type: "PayloadNotJSON",
			Message: fmt.Sprintf("the member `%s` of an event %s is not one JSON value, so the event is not recorded", o.wrong, r.Type),
		}
	}
	return r
}

// Event gives the decoded event. An unknown type is refused by name: it stops that workflow and no other.
func (r Recorded) Event() (Event, error) {
	if r.event != nil {
		return r.event, nil
	}
	return DecodeEvent(r.Type, r.Data)
}

// Refusal is not nil for an event that must not be committed, because it could never be read again: it was made with a
// payload that is no JSON. A run applies no such event, and nothing is committed that was not applied.
func (r Recorded) Refusal() error { return r.refusal }

// TimeLayout is how times are written in events: RFC 3339, UTC, six digits.
const TimeLayout = "2006-01-02T15:04:05.000000Z"
