package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// screen is where a table is shown: a person's terminal, or a program's pipe.
type screen struct {
	w        io.Writer
	terminal bool
	width    int // of the terminal; 0: unknown
	now      time.Time
}

func (p *Program) screen() screen {
	s := screen{w: p.Out, terminal: p.OutTerminal, now: time.Now()}
	if p.OutTerminal && p.Width != nil {
		s.width = p.Width()
	}
	return s
}

// column is one column of a table. On a terminal times are relative and ids are short; elsewhere everything is whole.
type column struct {
	head string
	cell func(s screen, o object) string
}

func text(head, name string) column {
	return column{head, func(_ screen, o object) string { return o.text(name) }}
}

func identifier(head, name string) column {
	return column{head, func(s screen, o object) string {
		if s.terminal {
			return short(o.text(name))
		}
		return o.text(name)
	}}
}

func hash(head, name string) column {
	return column{head, func(s screen, o object) string { return s.hash(o.text(name)) }}
}

func moment(head, name string) column {
	return column{head, func(s screen, o object) string { return s.moment(o.text(name), o.at(name)) }}
}

func mark(head, name, word string) column {
	return column{head, func(_ screen, o object) string {
		if o.flag(name) {
			return word
		}
		return ""
	}}
}

func (s screen) hash(text string) string {
	if s.terminal && len(text) > 12 {
		return text[:12]
	}
	return text
}

func (s screen) moment(text string, at time.Time) string {
	if !s.terminal || at.IsZero() {
		return text
	}
	return age(s.now.Sub(at)) + " ago"
}

// age is a duration in its largest unit.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// span is how long something took, to the second.
func span(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// table is a table under way. Elsewhere than on a terminal its rows go out at once; there they wait for the widths.
type table struct {
	screen
	columns []column
	rows    [][]string
	begun   bool
}

func newTable(s screen, columns []column) *table { return &table{screen: s, columns: columns} }

func (t *table) add(o object) error {
	row := make([]string, len(t.columns))
	for i, c := range t.columns {
		row[i] = oneCell(c.cell(t.screen, o))
	}
	if t.terminal {
		t.rows = append(t.rows, row)
		return nil
	}
	if !t.begun {
		t.begun = true
		if err := t.line(t.heads(), nil); err != nil {
			return err
		}
	}
	return t.line(row, nil)
}

func (t *table) heads() []string {
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.head
	}
	return heads
}

// end prints what waited.
func (t *table) end() error {
	if len(t.rows) == 0 {
		return nil
	}
	all := append([][]string{t.heads()}, t.rows...)
	widths := make([]int, len(t.columns))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		if err := t.line(row, widths); err != nil {
			return err
		}
	}
	return nil
}

// line prints a row: aligned and cut to the width, or with tabs and whole.
func (t *table) line(row []string, widths []int) error {
	if widths == nil {
		_, err := fmt.Fprintln(t.w, strings.Join(row, "\t"))
		return err
	}
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
	}
	text := strings.TrimRight(b.String(), " ")
	if runes := []rune(text); t.width > 1 && len(runes) > t.width {
		text = string(runes[:t.width-1]) + "…"
	}
	_, err := fmt.Fprintln(t.w, text)
	return err
}

// oneCell keeps a cell on its line and in its column.
func oneCell(text string) string {
	return printable(strings.NewReplacer("\t", `\x09`, "\n", `\x0a`).Replace(text))
}
