package schedule

import (
	"fmt"
	"strings"
	"time"

	"aion/domain"
)

// The bounds of a spec.
const (
	maxSpec  = 256 // characters
	minEvery = time.Second
	maxEvery = 366 * 24 * time.Hour
)

// The years in which a spec has times. What is outside cannot be written on the wire.
const (
	firstYear = 1
	lastYear  = 9999
)

// Spec says when: a cron line of five fields, a name such as @hourly, or `every 90s`. It has no zone: that is given with
// each question, and only a cron line asks for it. The zero Spec has no times.
type Spec struct {
	every time.Duration // 0: a cron line
	line  cron
}

// Parse reads a spec or refuses it (ScheduleSpecInvalid) with the rule that was broken. A line that fits no day of the
// calendar is refused.
//
// The five fields are minute (0-59), hour (0-23), day of month (1-31), month (1-12 or jan-dec) and day of week (0-7 or
// sun-sat; 0 and 7 are Sunday). A field is a list of `*`, `*/n`, `a`, `a-b` and `a-b/n`, joined by commas. As in classic
// cron, a day fits when both day fields admit it, but when neither of the two begins with `*` it is enough that one does.
//
// The names are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually. `every` takes whole seconds from 1s
// on, as in 90s or 1h30m; its times are multiples of the spacing since 1970-01-01T00:00:00Z.
func Parse(text string) (Spec, error) {
	if len(text) > maxSpec {
		return Spec{}, specInvalid(text, fmt.Sprintf("it has more than %d characters", maxSpec))
	}
	fields := strings.Fields(text)
	switch {
	case len(fields) == 0:
		return Spec{}, specInvalid(text, "it is empty")
	case fields[0] == "every":
		return parseEvery(text, fields[1:])
	case strings.HasPrefix(fields[0], "@"):
		line, known := named(strings.ToLower(fields[0]))
		if !known || len(fields) > 1 {
			return Spec{}, specInvalid(text, "the names are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually, each alone")
		}
		fields = strings.Fields(line)
	}
	line, rule := parseCron(fields)
	if rule == "" && !line.fits() {
		rule = "no day of the calendar fits it, so it would never fire"
	}
	if rule != "" {
		return Spec{}, specInvalid(text, rule)
	}
	return Spec{line: line}, nil
}

func parseEvery(text string, rest []string) (Spec, error) {
	if len(rest) != 1 {
		return Spec{}, specInvalid(text, "write every and one duration, such as every 90s")
	}
	d, err := time.ParseDuration(rest[0])
	if err != nil || d%time.Second != 0 || d < minEvery || d > maxEvery {
		return Spec{}, specInvalid(text, fmt.Sprintf("every takes a duration of whole seconds from 1s to %dh, such as 90s or 1h30m; got %q",
			int(maxEvery.Hours()), domain.Quote(rest[0], 64)))
	}
	return Spec{every: d}, nil
}

func named(name string) (line string, known bool) {
	switch name {
	case "@hourly":
		return "0 * * * *", true
	case "@daily", "@midnight":
		return "0 0 * * *", true
	case "@weekly":
		return "0 0 * * 0", true
	case "@monthly":
		return "0 0 1 * *", true
	case "@yearly", "@annually":
		return "0 0 1 1 *", true
	}
	return "", false
}

// Zoned reports whether the times depend on a zone.
func (s Spec) Zoned() bool { return s.every == 0 }

// Next is the first time after t, in UTC; ok is false when there is none before the year 10000.
//
// A line whose hours are not all of the day names fixed times (engine 9): one that its zone skips is taken at the first
// instant after the gap, and one that comes twice is taken the first time only. Times that fall together are one. A line of
// all hours keeps its spacing through both.
func (s Spec) Next(t time.Time, zone *time.Location) (next time.Time, ok bool) {
	if year := t.UTC().Year(); year < firstYear || year > lastYear {
		return time.Time{}, false
	}
	switch {
	case s.every > 0:
		next, ok = s.nextEvery(t), true
	case s.line.hours == allHours:
		next, ok = s.line.nextRunning(t, zone)
	default:
		next, ok = s.line.nextFixed(t, zone)
	}
	return next, ok && next.Year() <= lastYear
}

// nextEvery is the first multiple of the spacing after t.
func (s Spec) nextEvery(t time.Time) time.Time {
	spacing := int64(s.every / time.Second)
	at := t.Unix() // rounded down, and so is what follows
	n := at / spacing
	if at%spacing < 0 {
		n--
	}
	return time.Unix((n+1)*spacing, 0).UTC()
}

// Upcoming are the first n times after t.
func (s Spec) Upcoming(t time.Time, zone *time.Location, n int) []time.Time {
	list := make([]time.Time, 0, n)
	for len(list) < n {
		next, ok := s.Next(t, zone)
		if !ok {
			break
		}
		list, t = append(list, next), next
	}
	return list
}
