package gormstore

import (
	"database/sql/driver"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// micros is how a time is stored: microseconds since 1970, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// many is a statement that adds rows, once for each number of rows that are added at once.
type many struct {
	texts map[int]string
	width int
}

func manyRows(insert string, width int) many {
	row := `(?` + strings.Repeat(`, ?`, width-1) + `)`
	m := many{texts: map[int]string{}, width: width}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64} {
		m.texts[n] = insert + strings.Repeat(row+`, `, n-1) + row
	}
	return m
}

// addMany adds n rows by few statements; row appends the values of one.
func (t *tx) addMany(m many, n int, row func(i int, args []driver.Value) []driver.Value) error {
	for next := 0; next < n; {
		size := n - next
		if size > 8 { // the largest of 8, 16, 32 and 64 that fits
			size = min(64, 1<<(bits.Len(uint(size))-1))
		}
		args := make([]driver.Value, 0, size*m.width)
		for range size {
			args = row(next, args)
			next++
		}
		if err := t.send(m.texts[size], args...); err != nil {
			return err
		}
	}
	return nil
}

// blob keeps the difference between absent (nil) and empty.
func blob(b []byte) driver.Value {
	if b == nil {
		return nil
	}
	return b
}

// currentStep is how the current step is stored: a JSON list, or nothing. It is written with every commit.
func currentStep(c *history.CurrentStep) string {
	if c == nil {
		return ""
	}
	b := make([]byte, 0, 32+len(c.ActivityType)+len(c.Step))
	b = append(strconv.AppendInt(append(b, '['), c.ActivityID, 10), ',')
	b = append(domain.AppendText(b, c.ActivityType), ',')
	b = append(strconv.AppendInt(b, int64(c.Attempt), 10), ',')
	return string(append(domain.AppendText(b, c.Step), ']'))
}

func fromCurrentStep(text string) (*history.CurrentStep, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no activity is open
	}
	c := &history.CurrentStep{}
	members := []any{&c.ActivityID, &c.ActivityType, &c.Attempt, &c.Step}
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, fault("the current step of a run cannot be read", err)
	}
	return c, nil
}

// encodeLabels writes nothing when there is nothing; it is only called once per run.
func encodeLabels(labels map[string]string) (driver.Value, error) {
	if labels == nil {
		return nil, nil //nolint:nilnil // NULL is the value
	}
	return json.Marshal(labels)
}
