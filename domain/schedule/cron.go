package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"aion/domain"
)

// cron is a line: the sets of what its fields admit, as bits.
type cron struct {
	minutes, hours, days, months, weekdays uint64
	anyDay, anyWeekday                     bool // the field begins with *
}

const allHours uint64 = 1<<24 - 1

// field is what one place of a line takes.
type field struct {
	name        string
	least, most int
	words       []string // of the values from least on
}

var (
	monthWords   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdayWords = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// parseCron reads five fields; rule is what was broken.
func parseCron(fields []string) (c cron, rule string) {
	if len(fields) != 5 {
		return c, fmt.Sprintf("a cron line has 5 fields (minute hour day-of-month month day-of-week); this one has %d", len(fields))
	}
	places := []struct {
		field
		set *uint64
	}{
		{field{"minute", 0, 59, nil}, &c.minutes},
		{field{"hour", 0, 23, nil}, &c.hours},
		{field{"day of month", 1, 31, nil}, &c.days},
		{field{"month", 1, 12, monthWords}, &c.months},
		{field{"day of week", 0, 7, weekdayWords}, &c.weekdays},
	}
	for i, p := range places {
		for item := range strings.SplitSeq(fields[i], ",") {
			set, rule := p.item(item)
			if rule != "" {
				return c, fmt.Sprintf("%s %q: %s", p.name, domain.Quote(fields[i], 64), rule)
			}
			*p.set |= set
		}
	}
	if c.weekdays&(1<<7) != 0 { // 7 is Sunday
		c.weekdays = c.weekdays&^(1<<7) | 1
	}
	c.anyDay, c.anyWeekday = strings.HasPrefix(fields[2], "*"), strings.HasPrefix(fields[4], "*")
	return c, ""
}

// item reads one part of a list.
func (f field) item(text string) (set uint64, rule string) {
	span, stepText, stepped := strings.Cut(text, "/")
	first, last := f.least, f.most
	if span != "*" {
		from, to, ranged := strings.Cut(span, "-")
		var ok bool
		if first, ok = f.value(from); !ok {
			return 0, f.takes(from)
		}
		last = first
		if ranged {
			if last, ok = f.value(to); !ok {
				return 0, f.takes(to)
			}
		}
		switch {
		case last < first:
			return 0, fmt.Sprintf("the range %s runs backwards; write two ranges", domain.Quote(span, 32))
		case stepped && !ranged:
			return 0, fmt.Sprintf("a step needs a range; write %s-%d/%s", domain.Quote(from, 32), f.most, domain.Quote(stepText, 32))
		}
	}
	step := 1
	if stepped {
		n, ok := number(stepText)
		if !ok || n < 1 || n > f.most {
			return 0, fmt.Sprintf("a step is a whole number from 1 to %d; got %q", f.most, domain.Quote(stepText, 32))
		}
		step = n
	}
	for v := first; v <= last; v += step {
		set |= 1 << v
	}
	return set, ""
}

func (f field) value(text string) (int, bool) {
	for i, word := range f.words {
		if strings.EqualFold(word, text) {
			return f.least + i, true
		}
	}
	n, ok := number(text)
	return n, ok && n >= f.least && n <= f.most
}

func (f field) takes(text string) string {
	names := ""
	if f.words != nil {
		names = fmt.Sprintf(" or %s-%s", f.words[0], f.words[len(f.words)-1])
	}
	return fmt.Sprintf("it takes %d-%d%s, *, ranges, steps and lists; got %q", f.least, f.most, names, domain.Quote(text, 32))
}

// number reads digits and nothing else.
func number(text string) (int, bool) {
	if text == "" || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// day reports whether a day fits.
func (c cron) day(day int, weekday time.Weekday) bool {
	byDate, byWeek := c.days>>day&1 == 1, c.weekdays>>weekday&1 == 1
	if c.anyDay || c.anyWeekday {
		return byDate && byWeek
	}
	return byDate || byWeek
}

// horizon is how many years a line is looked through: after 400 the calendar comes again, but all that it can hold comes
// within 40, or 40 more around a year that ends a century.
const horizon = 80

// fits reports whether any day does.
func (c cron) fits() bool {
	_, ok := c.wall(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
	return ok
}

// wall is the first time on the clock of a wall that fits, from a whole minute on. Wall times are written as UTC.
func (c cron) wall(from time.Time) (time.Time, bool) {
	year, month, day := from.Date()
	first := from.Hour()*60 + from.Minute()
	for last := year + horizon; year <= last; {
		if c.months>>month&1 == 0 {
			month, day, first = month+1, 1, 0
			if month > time.December {
				year, month = year+1, time.January
			}
			continue
		}
		date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if date.Month() != month { // the month is over
			year, month, day = date.Year(), date.Month(), 1
			continue
		}
		if c.day(day, date.Weekday()) {
			if minute, ok := c.clock(first); ok {
				return date.Add(time.Duration(minute) * time.Minute), true
			}
		}
		day, first = day+1, 0
	}
	return time.Time{}, false
}

// clock is the first minute of a day that fits, from one on.
func (c cron) clock(first int) (minute int, ok bool) {
	hour, from := first/60, first%60
	for ; hour < 24; hour, from = hour+1, 0 {
		if c.hours>>hour&1 == 0 {
			continue
		}
		if rest := c.minutes >> from << from; rest != 0 {
			return hour*60 + bits.TrailingZeros64(rest), true
		}
	}
	return 0, false
}
