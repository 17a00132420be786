package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

type historyFlags struct {
	run    string
	from   int64
	types  []string
	follow bool
	cut    string
	limit  int
}

func newHistoryCommand(p *Program, g *globals) *cobra.Command {
	f := &historyFlags{}
	cmd := &cobra.Command{
		Use:     "history ID",
		Short:   "print the events of a run, oldest first",
		Example: "  aion history 019a3c1e-4f2a\n  aion history 019a3c1e-4f2a --follow -o jsonl",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.run, "run", "", "only events of one generation")
	flags.Int64Var(&f.from, "from", 1, "the first sequence number")
	flags.StringArrayVar(&f.types, "type", nil, "only events of this type; may be repeated")
	flags.BoolVar(&f.follow, "follow", false, "go on with what happens, until the run has ended")
	flags.StringVar(&f.cut, "payloads", "", "full (default), or cut: values over 64 KiB are shortened")
	flags.IntVar(&f.limit, "limit", 0, "at most so many; 0: all")
	return paged(p, g, asks(p, g, cmd, f.print))
}

var eventColumns = []column{
	text("SEQ", "seq"),
	{"TIME", func(s screen, o object) string {
		if s.terminal {
			return o.at("recorded_at").Local().Format("2006-01-02 15:04:05.000")
		}
		return o.text("recorded_at")
	}},
	text("TYPE", "type"),
	{"SUBJECT", func(_ screen, o object) string { return subjectOf(o.object("data")) }},
	{"SUMMARY", func(_ screen, o object) string { return summaryOf(o.object("data")) }},
}

// subjectOf is what an event is about.
func subjectOf(data object) string {
	for _, name := range []string{"step", "signal_name", "activity_type", "workflow_type", "outcome", "timer_id"} {
		if text := data.text(name); text != "" {
			return text
		}
	}
	if id := data.text("activity_id"); id != "" {
		return "activity " + id
	}
	return ""
}

// summaryOf is one line of the rest.
func summaryOf(data object) string {
	out := ""
	for _, name := range []string{"attempt", "class", "message", "reason", "route", "fire_at", "error"} {
		if text := data.text(name); text != "" {
			if out != "" {
				out += ", "
			}
			out += name + " " + firstLine(text)
		}
	}
	return out
}

func (f *historyFlags) print(ctx context.Context, s *session, args []string) error {
	if f.from < 1 {
		return &usage{message: fmt.Sprintf("--from must be at least 1; got %d", f.from)}
	}
	id, err := s.workflow(ctx, args[0])
	if err != nil {
		return err
	}
	if f.follow && f.cut != "" {
		return &usage{message: "--payloads is for pages: what is followed comes whole"}
	}
	if !f.follow {
		return s.sequence(ctx, events{path: s.run(id, "/history"), rows: "events", query: f.query(), from: f.from, limit: f.limit, columns: eventColumns, id: "seq"})
	}
	if s.shape.output == "json" || s.shape.output == "yaml" {
		return &usage{message: "--follow has no end to wait for; use -o jsonl"}
	}
	t := newTable(s.p.screen(), eventColumns)
	wanted := map[string]bool{}
	for _, name := range f.types {
		wanted[name] = true
	}
	next := f.from
	return s.persist(ctx, &next, func(ctx context.Context) error {
		query := generation(f.run)
		if query == nil {
			query = url.Values{}
		}
		query.Set("from_seq", strconv.FormatInt(next, 10))
		return s.stream(ctx, client.Request{Path: s.run(id, "/history/stream"), Query: query}, func(e client.Event) error {
			o, err := parseObject(e.Data)
			if err != nil {
				return err
			}
			next = o.number("seq") + 1
			if len(wanted) > 0 && !wanted[o.text("type")] {
				return nil
			}
			if err := s.row(t, listing{id: "seq"}, e.Data); err != nil {
				return err
			}
			return t.flush()
		})
	})
}

func (f *historyFlags) query() url.Values {
	query := queryOf("run_id", f.run, "payloads", f.cut)
	for _, name := range f.types {
		query.Add("type", name)
	}
	return query
}

// events is a sequence that is read by pages.
type events struct {
	path    string
	query   url.Values
	rows    string
	id      string
	columns []column
	from    int64
	limit   int // 0: all
	each    func(o object) error
}

const maxSequencePage = 1000

// sequence walks the pages of a sequence and prints the events.
func (s *session) sequence(ctx context.Context, e events) error {
	t := newTable(s.p.screen(), e.columns)
	whole := &gathered{member: e.rows}
	shown := listing{id: e.id}
	for left, from := e.limit, e.from; ; {
		page, next, err := s.sequencePage(ctx, e, from, left)
		if err != nil {
			return err
		}
		for _, row := range page.rows {
			if err := s.event(t, shown, e, row); err != nil {
				return err
			}
		}
		if s.shape.output == "json" || s.shape.output == "yaml" {
			whole.add(page)
		}
		left -= len(page.rows)
		if next == 0 || e.limit > 0 && left <= 0 {
			break
		}
		from = next
	}
	switch s.shape.output {
	case "json":
		return printRaw(s.p.Out, whole.text())
	case "yaml":
		return printYAML(s.p.Out, whole.text())
	}
	return t.end()
}

func (s *session) event(t *table, shown listing, e events, row json.RawMessage) error {
	if s.shape.output != "table" || e.each == nil {
		return s.row(t, shown, row)
	}
	o, err := parseObject(row)
	if err != nil {
		return err
	}
	return e.each(o)
}

// sequencePage reads one page; next is 0 on the last.
func (s *session) sequencePage(ctx context.Context, e events, from int64, left int) (page, int64, error) {
	query := url.Values{}
	for name, values := range e.query {
		query[name] = values
	}
	size := maxSequencePage
	if e.limit > 0 {
		size = min(size, left)
	}
	query.Set("from_seq", strconv.FormatInt(from, 10))
	query.Set("limit", strconv.Itoa(size))
	answer, err := s.get(ctx, e.path, query)
	if err != nil {
		return page{}, 0, err
	}
	p, err := parsePage(answer, e.rows)
	if err != nil {
		return page{}, 0, unreadable(err)
	}
	var at struct {
		Next int64 `json:"next_from_seq"`
		More bool  `json:"more"`
	}
	if err := json.Unmarshal(answer, &at); err != nil {
		return page{}, 0, unreadable(err)
	}
	if !at.More || at.Next <= from {
		return p, 0, nil
	}
	return p, at.Next, nil
}

// flush prints what waits for its widths: a stream has none.
func (t *table) flush() error {
	rows := t.rows
	t.rows = nil
	for _, row := range rows {
		if err := t.line(row, t.fixed()); err != nil {
			return err
		}
	}
	return nil
}

// fixed are the widths of a table that never ends.
func (t *table) fixed() []int {
	widths := make([]int, len(t.columns))
	for i := range widths {
		widths[i] = fixedWidth
	}
	return widths
}

const fixedWidth = 24
