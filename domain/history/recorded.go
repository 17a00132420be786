package history

import (
	"encoding/json"
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
}

// Record puts an event into its envelope and encodes it once.
func Record(seq Seq, at time.Time, id domain.WorkflowID, run domain.RunID, e Event) Recorded {
	return Recorded{Seq: seq, At: at.UTC().Truncate(time.Microsecond), WorkflowID: id, RunID: run, Type: e.Type(), Data: EncodeEvent(e), event: e}
}

// Event gives the decoded event. An unknown type is refused by name: it stops that workflow and no other.
func (r Recorded) Event() (Event, error) {
	if r.event != nil {
		return r.event, nil
	}
	return DecodeEvent(r.Type, r.Data)
}

// TimeLayout is how times are written in events: RFC 3339, UTC, six digits.
const TimeLayout = "2006-01-02T15:04:05.000000Z"
