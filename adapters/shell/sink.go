package shell

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/transcript"
	"aion/ports"
)

// sink puts the records of one attempt into one order: that of arrival. Writing may wait, so nobody who must not wait
// calls it.
type sink struct {
	out ports.TranscriptWriter
	mu  sync.Mutex // held over Write on purpose: it is what orders the two streams
}

func (s *sink) line(at time.Time, role, text string, partial bool) {
	s.write(transcript.Record{EmittedAt: at, AgentRole: role, Kind: transcript.Message, Role: "tool", Text: text, Partial: partial})
}

// status writes one of the executor's own events (actions 7.1).
func (s *sink) status(detail map[string]any) {
	raw, err := json.Marshal(detail)
	if err != nil {
		panic("shell: a status without an encoding: " + err.Error())
	}
	s.write(transcript.Record{EmittedAt: now(), AgentRole: "command", Kind: transcript.Progress, Detail: raw})
}

func (s *sink) write(r transcript.Record) {
	if s.out == nil {
		return
	}
	r.AgentID = transcript.NilAgent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Write(r)
}

// now is the time of a record: UTC, in microseconds.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// role labels a stream of a line (actions 7.1).
func role(stream string, line, lines int) string {
	if lines < 2 {
		return "command " + stream
	}
	return fmt.Sprintf("command %s (line %d of %d)", stream, line, lines)
}

func keyAttrs(k domain.AttemptKey) []any {
	return []any{"workflow_id", k.WorkflowID, "run_id", k.RunID, "activity_id", k.ActivityID, "attempt", k.Attempt}
}
