package schedule

import (
	"fmt"
	"time"
)

// Notes say in which of the times the clocks of the zone have had a part, and that there are none.
func Notes(s Spec, times []time.Time, zone *time.Location) []string {
	if len(times) == 0 {
		return []string{"there is no such time before the year 10000"}
	}
	if !s.Zoned() {
		return []string{"every keeps its spacing in UTC; the zone has no part in it"}
	}
	var notes []string
	for _, t := range times {
		wall := periodAt(t, zone).wallAt(t)
		stamp := t.In(zone).Format(time.RFC3339)
		switch first := instant(wall, zone); {
		case s.line.hours == allHours:
		case !s.line.admits(wall):
			notes = append(notes, fmt.Sprintf("%s: the clock skips the time of the line, so it is the first instant after the gap", stamp))
		case first.Equal(t) && t.Before(last(wall, t, zone)):
			notes = append(notes, fmt.Sprintf("%s: the clock shows this time twice, and it is taken the first time only", stamp))
		}
	}
	return notes
}

// admits reports whether a wall time fits the line.
func (c cron) admits(wall time.Time) bool {
	at, ok := c.wall(wall)
	return ok && at.Equal(wall)
}

// last is the last instant at which a clock in the zone shows what it shows at t.
func last(wall, t time.Time, zone *time.Location) time.Time {
	for p := periodAt(t, zone); !p.end.IsZero() && p.end.Before(t.Add(2*farthest)); {
		p = periodAt(p.end, zone)
		if at := wall.Add(-p.offset); p.holds(at) && at.After(t) {
			t = at
		}
	}
	return t
}
