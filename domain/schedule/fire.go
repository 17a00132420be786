package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"aion/domain"
)

// Action is what became of a fire.
type Action string

// The actions.
const (
	Fired    Action = "fired"     // a run was started
	CaughtUp Action = "caught_up" // a run was started late, or for a time that somebody asked for
	Skipped  Action = "skipped"   // the overlap rule or a pause kept it from starting
	Buffered Action = "buffered"  // it waits for the end of a run
	Missed   Action = "missed"    // nobody was there in time
	Failed   Action = "failed"    // the start was refused
)

// Actions are all of them.
func Actions() []Action { return []Action{Fired, CaughtUp, Skipped, Buffered, Missed, Failed} }

// Fire is what was decided about one time.
type Fire struct {
	N          int64 // dense in its schedule, from 1, in the order of recording
	Nominal    time.Time
	DecidedAt  time.Time
	Action     Action
	Reason     string
	WorkflowID domain.WorkflowID // empty: it started none
	RunID      domain.RunID
	Cancel     bool // the open runs are cancelled before it starts; no part of what is recorded
}

// The bounds of what is made up for.
const (
	// Punctual is how late a fire counts as on time: a server looks at the clock now and then.
	Punctual = 10 * time.Second
	// MaxCaughtUp bounds the fires that are made up after one outage.
	MaxCaughtUp = 100
	// listedMisses bounds the records of one decision; the rest of what was missed is in one more.
	listedMisses = 100
	// MaxBackfill bounds the times that are waiting to be made up.
	MaxBackfill = 100
)

// onTime is the reason of a fire whose time had just come.
const onTime = "on time"

// Lag is how long after its due time a fire was decided; ok is false for one that was not on time, or is of no time.
func (s Schedule) Lag(f Fire) (lag time.Duration, ok bool) {
	lag = f.DecidedAt.Sub(f.Nominal) - s.delay(f.Nominal)
	return lag, f.Action == Fired && strings.HasPrefix(f.Reason, onTime) && lag >= 0 && lag <= Punctual
}

// delay is by how much a fire is put off: a share of the jitter that depends on the schedule and the time alone.
func (s Schedule) delay(nominal time.Time) time.Duration {
	if s.Jitter <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(s.UID + nominal.UTC().Format(time.RFC3339Nano)))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(s.Jitter)).Truncate(time.Microsecond)
}

// Decide takes the next decision that is due at now, while open is a workflow of the schedule that is open (empty: there is
// none). It gives the schedule as it then stands and the fires to record; a start is noted in Starting, and recorded when
// it is known (Settle). ok is false when there is nothing to decide.
func (s Schedule) Decide(now time.Time, open domain.WorkflowID, zone *time.Location) (after Schedule, fires []Fire, ok bool) {
	switch {
	case s.Starting != nil:
		return s, nil, false
	case len(s.Backfill) > 0:
		f := s.Backfill[0]
		s.Backfill = append([]Fire(nil), s.Backfill[1:]...)
		f.DecidedAt = now
		return s.start(f), nil, true
	case s.Buffered != nil && s.Paused == nil && open == "":
		f := Fire{Nominal: *s.Buffered, DecidedAt: now, Action: Fired, Reason: "it had waited for the end of the run before"}
		s.Buffered = nil
		return s.start(f), nil, true
	case s.Next.IsZero() || s.Due.After(now):
		return s, nil, false
	}
	spec, err := Parse(s.Spec)
	if err != nil { // nobody stores such a line
		s.Next, s.Due = time.Time{}, time.Time{}
		return s, nil, true
	}
	if s, fires = s.miss(spec, now, zone); len(fires) > 0 {
		s, fires = s.record(fires...)
		return s, fires, true
	}
	f := Fire{Nominal: s.Next, DecidedAt: now, Action: Fired, Reason: onTime}
	if late := now.Sub(s.Due); late > Punctual {
		f.Action, f.Reason = CaughtUp, fmt.Sprintf("made up %s late", late.Truncate(time.Second))
		s.CaughtUp++
	} else {
		s.CaughtUp = 0
	}
	s = s.advance(spec, s.Next, zone)
	return s.overlapping(f, open)
}

// miss records the times that are too late to be made up.
func (s Schedule) miss(spec Spec, now time.Time, zone *time.Location) (Schedule, []Fire) {
	bound := Punctual
	why := "nobody was there to fire it, and it is too late for catch_up_ms"
	switch {
	case s.CaughtUp >= MaxCaughtUp:
		why = fmt.Sprintf("%d fires in a row were made up, and no more are", MaxCaughtUp)
	case s.CatchUp > bound:
		bound = s.CatchUp
	}
	if s.Paused != nil {
		why = "nobody was there to see it, and the schedule is paused"
	}
	var fires []Fire
	for !s.Next.IsZero() && now.Sub(s.Due) > bound {
		f := Fire{Nominal: s.Next, DecidedAt: now, Action: Missed, Reason: why}
		last := s.Next
		if cut := now.Add(-bound - s.Jitter); len(fires) == listedMisses && cut.After(last) {
			f.Reason += "; so is every time after it until " + cut.UTC().Format(time.RFC3339)
			last = cut
		}
		fires = append(fires, f)
		if s = s.advance(spec, last, zone); len(fires) > listedMisses {
			break
		}
	}
	return s, fires
}

// overlapping decides about a fire whose time has come.
func (s Schedule) overlapping(f Fire, open domain.WorkflowID) (Schedule, []Fire, bool) {
	waits := s.Buffered != nil
	switch {
	case s.Paused != nil:
		f.Action, f.Reason = Skipped, fmt.Sprintf("the schedule is paused by %s", domain.Quote(s.Paused.By, 128))
	case s.Overlap == BufferOne && waits:
		f.Action, f.Reason = Skipped, "another fire waits already"
	case open == "" || s.Overlap == Allow:
		return s.start(f), nil, true
	case s.Overlap == CancelRunning:
		f.Cancel = true
		f.Reason += "; the run before it was cancelled"
		return s.start(f), nil, true
	case s.Overlap == BufferOne:
		nominal := f.Nominal
		s.Buffered = &nominal
		f.Action, f.Reason = Buffered, fmt.Sprintf("it waits for the end of workflow %s", open)
	default:
		f.Action, f.Reason = Skipped, fmt.Sprintf("workflow %s of this schedule is open", open)
	}
	s, fires := s.record(f)
	return s, fires, true
}

// record numbers fires that are final.
func (s Schedule) record(fires ...Fire) (Schedule, []Fire) {
	for i := range fires {
		s.Fires++
		fires[i].N, fires[i].Cancel = s.Fires, false
	}
	return s, fires
}

func (s Schedule) start(f Fire) Schedule {
	f.WorkflowID = s.WorkflowOf(f.Nominal)
	s.Starting = &f
	return s
}

// Settle records how the start that was decided has ended: with a run, or with why it was refused. ok is false when it is
// not that one which is starting now: somebody else has settled it.
func (s Schedule) Settle(started Fire, run domain.RunID, refused string) (after Schedule, f Fire, ok bool) {
	if s.Starting == nil || !s.Starting.Nominal.Equal(started.Nominal) || !s.Starting.DecidedAt.Equal(started.DecidedAt) {
		return s, Fire{}, false
	}
	f = *s.Starting
	s.Starting, f.RunID = nil, run
	if refused != "" {
		f.Action, f.Reason, f.WorkflowID, f.RunID = Failed, refused, "", ""
	}
	s, fires := s.record(f)
	return s, fires[0], true
}

// Triggered records a run that somebody asked for.
func (s Schedule) Triggered(now time.Time, workflow domain.WorkflowID, run domain.RunID, by string) (Schedule, Fire) {
	s, fires := s.record(Fire{
		Nominal: now, DecidedAt: now, Action: Fired, Reason: "asked for by " + domain.Quote(by, 128), WorkflowID: workflow, RunID: run,
	})
	return s, fires[0]
}

// PausedBy keeps the schedule from firing. One that is paused stays as it is.
func (s Schedule) PausedBy(by, reason string, now time.Time) Schedule {
	if s.Paused == nil {
		s.Paused = &Pause{By: by, Reason: reason, Since: now}
		s.UpdatedAt = now
	}
	return s
}

// Resumed lets the schedule fire again, from its next time on. What came while it was paused was recorded as skipped.
func (s Schedule) Resumed(now time.Time) Schedule {
	if s.Paused != nil {
		s.Paused, s.UpdatedAt = nil, now
	}
	return s
}

// Span is what a backfill asks for: the times from one to another, both included, at most Limit of them.
type Span struct {
	From, To time.Time
	Limit    int
}

// FillIn asks for the times of a span that is over. It gives how many were planned.
func (s Schedule) FillIn(span Span, by string, now time.Time, zone *time.Location) (Schedule, int, error) {
	spec, err := Parse(s.Spec)
	if err != nil {
		return s, 0, err
	}
	if span.To.Before(span.From) || span.To.After(now) {
		return s, 0, invalid("a backfill is of the past, from a time to a later one; from is %s and to is %s",
			span.From.UTC().Format(time.RFC3339), span.To.UTC().Format(time.RFC3339))
	}
	planned := append([]Fire(nil), s.Backfill...)
	before := len(planned)
	for at, ok := spec.Next(span.From.Add(-time.Nanosecond), zone); ok && !at.After(span.To); at, ok = spec.Next(at, zone) {
		if len(planned)-before == span.Limit {
			break
		}
		if len(planned) == MaxBackfill {
			return s, 0, &domain.Error{
				Code: domain.CodeResourceExhausted, Type: "TooManyFires",
				Message: fmt.Sprintf("schedule %q has %d times to make up and takes %d; repeat this when fewer are left", s.ID, before, MaxBackfill),
			}
		}
		planned = append(planned, Fire{Nominal: at, DecidedAt: now, Action: CaughtUp, Reason: "backfill by " + domain.Quote(by, 128)})
	}
	s.Backfill = planned
	return s, len(planned) - before, nil
}
