package schedule

import (
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"aion/domain"
)

// ID names a schedule within its namespace: `[a-z0-9][a-z0-9._-]{0,62}`.
type ID string

var idShape = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// ParseID accepts a possible id for a new schedule.
func ParseID(text string) (ID, error) {
	if !idShape.MatchString(text) {
		return "", &domain.Error{
			Code: domain.CodeInvalidInput, Type: "NameInvalid",
			Message: fmt.Sprintf("%q is no schedule_id; use [a-z0-9][a-z0-9._-]{0,62}", domain.Quote(text, 64)),
		}
	}
	return ID(text), nil
}

// Subject is who runs of the schedule are started by, in histories.
func (id ID) Subject() string { return subjectPrefix + string(id) }

const subjectPrefix = "schedule:"

// Overlap says what a fire does while a run of its schedule is open.
type Overlap string

// The overlap rules.
const (
	Skip          Overlap = "skip"           // starts nothing
	BufferOne     Overlap = "buffer_one"     // waits for the end, one fire at most
	Allow         Overlap = "allow"          // starts beside it
	CancelRunning Overlap = "cancel_running" // cancels it, and starts
)

// Check refuses what is no rule.
func (o Overlap) Check() error {
	switch o {
	case Skip, BufferOne, Allow, CancelRunning:
		return nil
	}
	return invalid("overlap is skip, buffer_one, allow or cancel_running; got %q", domain.Quote(string(o), 64))
}

// The bounds of settings.
const (
	DefaultCatchUp = time.Minute
	maxCatchUp     = 366 * 24 * time.Hour
	maxJitter      = 24 * time.Hour
	maxDescription = 1_000
)

// Settings are what its owner decides about a schedule.
type Settings struct {
	WorkflowType string
	Input        domain.Payload // nil: none
	Spec         string
	Zone         string // IANA name
	Overlap      Overlap
	CatchUp      time.Duration // how late a fire may be made up; 0: not at all
	Jitter       time.Duration // fires are put off by less than this
	Labels       map[string]string
	Description  string
}

// Check refuses settings out of their bounds, and gives the parsed spec. Its input and labels are judged as those of a start.
func (s Settings) Check() (Spec, error) {
	switch {
	case s.WorkflowType == "":
		return Spec{}, invalid("workflow_type is missing")
	case s.CatchUp < 0 || s.CatchUp > maxCatchUp:
		return Spec{}, invalid("catch_up_ms is from 0 to %d; got %d", maxCatchUp.Milliseconds(), s.CatchUp.Milliseconds())
	case s.Jitter < 0 || s.Jitter > maxJitter:
		return Spec{}, invalid("jitter_ms is from 0 to %d; got %d", maxJitter.Milliseconds(), s.Jitter.Milliseconds())
	case !utf8.ValidString(s.Description) || utf8.RuneCountInString(s.Description) > maxDescription:
		return Spec{}, invalid("a description has at most %d characters of UTF-8", maxDescription)
	}
	if err := s.Overlap.Check(); err != nil {
		return Spec{}, err
	}
	return Parse(s.Spec)
}

// Creator is who made a schedule: its runs act with these grants.
type Creator struct {
	Subject       string
	Mode          string
	Source        string
	Issuer        string
	AllNamespaces bool
	Namespaces    []domain.Namespace
	Deploy        bool
}

// Pause is why a schedule does not fire.
type Pause struct {
	By     string
	Reason string
	Since  time.Time
}

// Schedule is a stored schedule: its settings, and where it stands.
type Schedule struct {
	Namespace domain.Namespace
	ID        ID
	UID       string // a UUID of this very schedule: another one of the same id has another
	Settings
	Revision  int64 // of the settings, from 1
	Creator   Creator
	Paused    *Pause
	CreatedAt time.Time
	UpdatedAt time.Time
	// The request that created it, so that its repetition is known: owner and key, and what it said. Empty: it had no key.
	RequestKey, RequestDigest string

	Since    time.Time  // the times of the spec count from here on
	Next     time.Time  // the next time of the spec; zero: there is none
	Due      time.Time  // when that is fired; it is never before the fire before it
	Starting *Fire      // decided, and not yet known to be started
	Buffered *time.Time // the time of a fire that waits for the end of a run
	Backfill []Fire     // times that somebody asked for, oldest first
	CaughtUp int        // fires in a row that were made up
	Fires    int64      // number of the last fire that was recorded

	// Audit is written when the schedule is stored, and is no part of it; nil: nothing is.
	Audit *domain.AuditRecord
}

// Ref names a schedule.
type Ref struct {
	Namespace domain.Namespace
	ID        ID
}

// Ref is the name of the schedule.
func (s Schedule) Ref() Ref { return Ref{s.Namespace, s.ID} }

// WakeAt is when the schedule must be looked at; the zero time: never. What waits for something else than its time is
// looked at whatever the clock shows.
func (s Schedule) WakeAt() time.Time {
	if s.Starting != nil || len(s.Backfill) > 0 || s.Buffered != nil && s.Paused == nil {
		return time.Unix(1, 0).UTC()
	}
	return s.Due
}

// WorkflowOf is the workflow that the fire of a time starts, however often it is tried.
func (s Schedule) WorkflowOf(nominal time.Time) domain.WorkflowID {
	return domain.WorkflowID(domain.DeriveUUID(s.UID, "fire:"+nominal.UTC().Format(time.RFC3339Nano)))
}

// New gives a schedule that fires for the first time after now.
func New(ref Ref, uid string, set Settings, now time.Time, zone *time.Location) (Schedule, error) {
	s := Schedule{Namespace: ref.Namespace, ID: ref.ID, UID: uid, CreatedAt: now}
	return s.Update(set, now, zone)
}

// Update replaces the settings. What was decided stays, and so does a time that has come and waits for its decision; the next
// one is the first after now, unless the times stay as they were.
func (s Schedule) Update(set Settings, now time.Time, zone *time.Location) (Schedule, error) {
	spec, err := set.Check()
	if err != nil {
		return s, err
	}
	same := s.Revision > 0 && set.Spec == s.Spec && set.Zone == s.Zone && set.Jitter == s.Jitter
	s.Settings, s.Revision, s.UpdatedAt = set, s.Revision+1, now
	if same {
		return s, nil
	}
	s.Since = now
	if !s.Next.IsZero() && !s.Due.After(now) {
		return s, nil
	}
	s.Due = time.Time{}
	return s.advance(spec, now, zone), nil
}

// advance moves to the first time after t. Due times keep the order of the times that they belong to.
func (s Schedule) advance(spec Spec, t time.Time, zone *time.Location) Schedule {
	if t.Before(s.Since) {
		t = s.Since
	}
	next, ok := spec.Next(t, zone)
	if !ok {
		s.Next, s.Due = time.Time{}, time.Time{}
		return s
	}
	due := next.Add(s.delay(next))
	if due.Before(s.Due) {
		due = s.Due
	}
	s.Next, s.Due = next, due
	return s
}
