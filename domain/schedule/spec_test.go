package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain"
	"aion/domain/schedule"
)

// zones differ in what their clocks do: an hour, half an hour, a whole day, at midnight, in either half of the year, for
// a month, or nothing.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu", "Africa/Cairo",
	"Africa/Casablanca", "America/St_Johns", "Asia/Tehran", "Europe/Dublin", "Antarctica/Troll", "Atlantic/Azores", "Asia/Beirut", "Pacific/Chatham",
}

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parse(t interface{ Fatal(...any) }, text string) schedule.Spec {
	s, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func TestSpecsThatBreakARuleAreRefusedByIt(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                           "it is empty",
		"* * * *":                    "this one has 4",
		"* * * * * *":                "this one has 6",
		"60 * * * *":                 "0-59",
		"* 24 * * *":                 "0-23",
		"* * 0 * *":                  "1-31",
		"* * 32 * *":                 "1-31",
		"* * * 13 *":                 "1-12 or jan-dec",
		"* * * * 8":                  "0-7 or sun-sat",
		"* * * janu *":               "1-12",
		"-1 * * * *":                 "0-59",
		"+1 * * * *":                 "0-59",
		"5-1 * * * *":                "runs backwards",
		"* * * * fri-mon":            "runs backwards",
		"5/10 * * * *":               "5-59/10",
		"*/0 * * * *":                "whole number from 1",
		"*/60 * * * *":               "whole number from 1",
		"*/ * * * *":                 "whole number from 1",
		"1, * * * *":                 "0-59",
		",1 * * * *":                 "0-59",
		"1-2-3 * * * *":              "0-59",
		"1-/2 * * * *":               "0-59",
		"0 0 30 2 *":                 "never fire",
		"0 0 31 2,4,6,9,11 *":        "never fire",
		"@reboot":                    "@hourly",
		"@daily extra":               "@hourly",
		"every":                      "every and one duration",
		"every 1h 2m":                "every and one duration",
		"every 0s":                   "from 1s",
		"every -5s":                  "from 1s",
		"every 500ms":                "whole seconds",
		"every 90":                   "from 1s",
		"every 9000h":                "from 1s",
		"every 99999999999999999999": "from 1s",
		strings.Repeat("* ", 200):    "256 characters",
		"\x00 * * * *":               "0-59",
		"１ * * * *":                  "0-59",
	} {
		_, err := schedule.Parse(text)
		if domain.TypeOf(err) != "ScheduleSpecInvalid" || domain.CodeOf(err) != domain.CodeInvalidInput || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v does not say %q", text, err, says)
		}
	}
}

func TestLinesMeanWhatClassicCronMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, after, want string }{
		{"0 0 * * *", "2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z"},
		{"*/15 9-17 * * mon-fri", "2026-07-03T17:45:00Z", "2026-07-06T09:00:00Z"},
		{"5,10-12,40-50/5 * * * *", "2026-07-01T00:12:30Z", "2026-07-01T00:40:00Z"},
		{"0 0 13 * fri", "2026-07-01T00:00:00Z", "2026-07-03T00:00:00Z"},      // a Friday or a 13th
		{"0 0 13 * fri", "2026-07-10T00:00:00Z", "2026-07-13T00:00:00Z"},      // which is a Monday
		{"0 0 */2 * fri", "2026-07-01T00:00:00Z", "2026-07-03T00:00:00Z"},     // an odd day and a Friday
		{"0 0 */2 * fri", "2026-07-03T00:00:00Z", "2026-07-17T00:00:00Z"},     // not the 10th
		{"0 0 * * 7", "2026-07-01T00:00:00Z", "2026-07-05T00:00:00Z"},         // Sunday
		{"0 0 * * 5-7", "2026-07-04T00:00:00Z", "2026-07-05T00:00:00Z"},       // Friday to Sunday
		{"0 0 29 feb *", "2026-07-01T00:00:00Z", "2028-02-29T00:00:00Z"},      // the next leap year
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},        // 2100 is none
		{"0 0 29 2 */7", "2004-03-01T00:00:00Z", "2032-02-29T00:00:00Z"},      // a Sunday, too
		{"0 0 31 DEC *", "2026-12-31T00:00:00Z", "2027-12-31T00:00:00Z"},      // case does not matter
		{"@yearly", "2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z"},           //
		{"@Hourly", "2026-07-01T00:59:59.999Z", "2026-07-01T01:00:00Z"},       //
		{"@weekly", "2026-07-01T00:00:00Z", "2026-07-05T00:00:00Z"},           //
		{"every 90s", "2026-07-01T00:00:00Z", "2026-07-01T00:01:30Z"},         //
		{"every 90s", "2026-07-01T00:01:29.999Z", "2026-07-01T00:01:30Z"},     //
		{"every 7s", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"},          //
		{"every 7s", "1969-12-31T23:59:52.5Z", "1969-12-31T23:59:53Z"},        //
		{"  0   0 \t * * * ", "2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z"}, //
	} {
		got, ok := parse(t, c.spec).Next(at(c.after), time.UTC)
		if !ok || !got.Equal(at(c.want)) {
			t.Errorf("%s after %s: %s %v, want %s", c.spec, c.after, got, ok, c.want)
		}
	}
}

// engine 9, report 38
func TestAClockChangeFiresAFixedTimeOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, spec, after, want string }{
		// Berlin skips 02:00 to 03:00 on March 29, and has it twice on October 25.
		{"Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"Europe/Berlin", "0,15,30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		{"Europe/Berlin", "30 2,3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		{"Europe/Berlin", "0 2,3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-25T00:45:00Z", "2026-10-26T01:30:00Z 2026-10-27T01:30:00Z"},
		// A line of every hour keeps its spacing through both.
		{"Europe/Berlin", "30 * * * *", "2026-03-29T00:00:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:30:00Z"},
		{"Europe/Berlin", "30 * * * *", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z"},
		// Lord Howe moves by half an hour, Samoa left out December 30, 2011, Cairo and Beirut change at midnight.
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
		{"Pacific/Apia", "0 12 * * *", "2011-12-29T20:00:00Z", "2011-12-29T22:00:00Z 2011-12-30T10:00:00Z 2011-12-30T22:00:00Z"},
		{"Africa/Cairo", "0 0 * * *", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z 2026-04-24T21:00:00Z"},
	} {
		var want []time.Time
		for _, w := range strings.Fields(c.want) {
			want = append(want, at(w))
		}
		got := parse(t, c.spec).Upcoming(at(c.after), zone(t, c.zone), len(want))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s after %s:\n%s", c.zone, c.spec, c.after, diff)
		}
	}
}

// oracle looks at every minute: what the clocks show, whether they have shown it before, and what they skip.
func oracle(line string, after time.Time, z *time.Location, end time.Time) (time.Time, bool) {
	fields := strings.Fields(line)
	fixed := fields[1] != "*"
	wall := func(t time.Time) time.Time {
		_, offset := t.In(z).Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	for t := after.Truncate(time.Minute).Add(time.Minute); t.Before(end); t = t.Add(time.Minute) {
		now, before := wall(t), wall(t.Add(-time.Minute))
		hit := admits(fields, now)
		if fixed {
			for back := time.Minute; hit && back <= 26*time.Hour; back += time.Minute { // was it shown before?
				hit = !wall(t.Add(-back)).Equal(now)
			}
			for skipped := before.Add(time.Minute); !hit && skipped.Before(now); skipped = skipped.Add(time.Minute) {
				hit = admits(fields, skipped)
			}
		}
		if hit {
			return t, true
		}
	}
	return time.Time{}, false
}

// admits reads a line of numbers, lists and stars.
func admits(fields []string, wall time.Time) bool {
	fits := func(field string, value int) bool {
		if field == "*" {
			return true
		}
		for item := range strings.SplitSeq(field, ",") {
			if item == fmt.Sprint(value) {
				return true
			}
		}
		return false
	}
	day, week := fits(fields[2], wall.Day()), fits(fields[4], int(wall.Weekday()))
	if fields[2] != "*" && fields[4] != "*" {
		day, week = day || week, true
	}
	return fits(fields[0], wall.Minute()) && fits(fields[1], wall.Hour()) && fits(fields[3], int(wall.Month())) && day && week
}

// numbers draws a field: a star, or some numbers of its range.
func numbers(t *rapid.T, name string, least, most int) string {
	if rapid.Bool().Draw(t, name+" any") {
		return "*"
	}
	list := rapid.SliceOfNDistinct(rapid.IntRange(least, most), 1, 4, rapid.ID[int]).Draw(t, name)
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}

func TestNextIsWhatTheClocksShow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		line := strings.Join([]string{
			numbers(t, "minute", 0, 59), numbers(t, "hour", 0, 23), numbers(t, "day", 1, 31), "*", numbers(t, "weekday", 0, 6),
		}, " ")
		s, err := schedule.Parse(line)
		if err != nil {
			t.Skip("it never fires")
		}
		// Half of the time shortly before a change of the clocks.
		after := time.Date(rapid.IntRange(1995, 2045).Draw(t, "year"), 1, 1, 0, rapid.IntRange(0, 366*24*60).Draw(t, "minute of the year"), 0, 0, time.UTC)
		if _, change := after.In(z).ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "change") {
			after = change.UTC().Add(-time.Duration(rapid.IntRange(-300, 1600).Draw(t, "minutes before")) * time.Minute)
		}
		after = after.Add(time.Duration(rapid.IntRange(0, 59_999).Draw(t, "ms")) * time.Millisecond)
		for range 3 {
			got, ok := s.Next(after, z)
			end := after.Add(3 * 24 * time.Hour)
			want, found := oracle(line, after, z, end)
			switch {
			case !ok:
				t.Fatalf("%s in %s after %s: nothing", line, z, after)
			case found && !got.Equal(want), !found && got.Before(end):
				t.Fatalf("%s in %s after %s: %s, want %s", line, z, after, got, want)
			case !got.After(after):
				t.Fatalf("%s is not later than %s", got, after)
			}
			after = got
		}
	})
}

// Every line that is taken has a time after any other, whatever its form.
func TestNextIsStrictlyLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(\*|[0-9]{1,2}|[0-9]-[0-9]{2}|\*/[1-9]|[0-9]-[0-9]{2}/[1-9])( (\*|[0-9]{1,2}|\*/[1-9]|[0-9]-1[0-9])){2} (\*|[1-9]|jan-jun|\*/[1-5]) (\*|[0-7]|mon|tue-thu|\*/2)|every [1-9][0-9]{0,4}[smh]|@(hourly|daily|weekly|monthly|yearly)`).Draw(t, "spec")
		s, err := schedule.Parse(text)
		if err != nil {
			t.Skip(err)
		}
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		after := time.UnixMilli(rapid.Int64Range(-3_000_000_000_000, 250_000_000_000_000).Draw(t, "after"))
		last := after
		for _, next := range s.Upcoming(after, z, 20) {
			if !next.After(last) || next.Location() != time.UTC {
				t.Fatalf("%s after %s is %s", text, last, next)
			}
			last = next
		}
		if last.Equal(after) && after.Year() < 9900 {
			t.Fatalf("%s has no time after %s", text, after)
		}
	})
}

func TestNothingComesAfterTheLastYear(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"@yearly", "every 8000h", "0 0 29 2 *", "* * * * *"} {
		for _, after := range []time.Time{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Unix(1<<60, 0), time.Unix(-1<<60, 0)} {
			if got, ok := parse(t, text).Next(after, zone(t, "Europe/Berlin")); ok {
				t.Errorf("%s after %s: %s", text, after, got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"*/5 0-3 1,15 jan sun", "@daily", "every 1h30m", "0 0 29 2 */7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.Parse(text)
		if err != nil {
			return
		}
		after := at("2026-07-01T00:00:00Z")
		if next, ok := s.Next(after, time.UTC); !ok || !next.After(after) {
			t.Errorf("%q: %s %v", text, next, ok)
		}
	})
}
