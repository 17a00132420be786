package schedule

import "time"

// A period is a stretch of time in which a zone shows the same distance from UTC. A zero start or end is open.
type period struct {
	start, end time.Time
	offset     time.Duration
}

func periodAt(t time.Time, zone *time.Location) period {
	start, end := t.In(zone).ZoneBounds()
	_, offset := t.In(zone).Zone()
	if !end.IsZero() && !end.After(t) { // the package time gives a year of rules 365 days: what is left of it changes nothing
		end = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return period{start.UTC(), end.UTC(), time.Duration(offset) * time.Second}
}

func (p period) holds(t time.Time) bool {
	return (p.start.IsZero() || !t.Before(p.start)) && (p.end.IsZero() || t.Before(p.end))
}

// wallAt is what a clock in the zone shows.
func (p period) wallAt(t time.Time) time.Time { return t.UTC().Add(p.offset) }

// farthest is more than any zone is from UTC, before and after a change.
const farthest = 26 * time.Hour

// instant is when a clock in the zone shows a wall time the first time; when it never does, the instant at which it
// passes it.
func instant(wall time.Time, zone *time.Location) time.Time {
	p := periodAt(wall.Add(-farthest), zone)
	for {
		t := wall.Add(-p.offset)
		if p.holds(t) {
			return t
		}
		if p.end.IsZero() || t.Before(p.start) {
			return p.start // the change to this period has skipped it
		}
		p = periodAt(p.end, zone)
	}
}

// nextFixed is the next of the wall times that fit, each at its instant.
func (c cron) nextFixed(t time.Time, zone *time.Location) (time.Time, bool) {
	// Instants follow the order of wall times, and the one of what the wall shows at t is not after t.
	wall := periodAt(t, zone).wallAt(t).Truncate(time.Minute)
	for {
		var ok bool
		if wall, ok = c.wall(wall.Add(time.Minute)); !ok {
			return time.Time{}, false
		}
		if at := instant(wall, zone); at.After(t) {
			return at, true
		}
	}
}

// nextRunning is the next instant at which the wall shows a time that fits.
func (c cron) nextRunning(t time.Time, zone *time.Location) (time.Time, bool) {
	p := periodAt(t, zone)
	from := p.wallAt(t).Truncate(time.Minute).Add(time.Minute)
	for {
		wall, ok := c.wall(from)
		if !ok {
			return time.Time{}, false
		}
		if at := wall.Add(-p.offset); p.end.IsZero() || at.Before(p.end) {
			return at, true
		}
		end := p.end
		p = periodAt(end, zone)
		from = p.wallAt(end).Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	}
}
