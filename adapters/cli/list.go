package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// runFilters are the filters of runs.
type runFilters struct {
	status, labels []string
	attention      bool
	one            map[string]*string // by parameter
}

// runParameters are the filters of one value: flag, parameter and text.
var runParameters = [][3]string{
	{"type", "workflow_type", "only runs of this workflow type"},
	{"package", "package_id", "only runs of this version: its whole hash"},
	{"schedule", "schedule_id", "only runs that this schedule has started"},
	{"parent", "parent_workflow_id", "only children of this workflow"},
	{"started-after", "started_after", "only runs that started then or later, RFC 3339"},
	{"started-before", "started_before", "only runs that started earlier, RFC 3339"},
	{"ended-after", "ended_after", "only runs that ended then or later, RFC 3339"},
	{"ended-before", "ended_before", "only runs that ended earlier, RFC 3339"},
	{"query", "q", "only runs whose workflow id, run id or type begins with this"},
	{"order", "order", "started_desc (default), started_asc, or ended_desc: only those that have ended"},
}

func (f *runFilters) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.status, "status", nil, "only runs in this status, such as Running; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "only runs with this label, key=value; may be repeated")
	flags.BoolVar(&f.attention, "attention", false, "only runs that failed or timed out in the last 24 h")
	f.one = map[string]*string{}
	for _, p := range runParameters {
		f.one[p[1]] = flags.String(p[0], "", p[2])
	}
}

func (f *runFilters) query() url.Values {
	query := url.Values{}
	for name, value := range f.one {
		if *value != "" {
			query.Set(name, *value)
		}
	}
	if f.attention {
		query.Set("attention", "true")
	}
	for _, s := range f.status {
		query.Add("status", s)
	}
	for _, l := range f.labels {
		query.Add("label", l)
	}
	return query
}

// queryOf makes a query of names and values in turn; empty values are not sent.
func queryOf(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

var runColumns = []column{
	identifier("WORKFLOW", "workflow_id"),
	text("TYPE", "workflow_type"),
	text("STATUS", "status"),
	{"STEP", func(_ screen, o object) string { return o.object("current_step").text("step") }},
	moment("STARTED", "started_at"),
	{"DURATION", func(s screen, o object) string {
		end := o.at("ended_at")
		if end.IsZero() {
			if !s.terminal {
				return ""
			}
			end = s.now
		}
		return span(max(end.Sub(o.at("started_at")), 0))
	}},
}

func newListCommand(p *Program, g *globals) *cobra.Command {
	f := &runFilters{}
	var limit int
	var watch bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list runs, newest first",
		Example: "  aion list --status Running\n  aion list --type hello -o id\n  aion list --watch",
		Args:    arguments(0, 0, "no arguments; filters are flags"),
	}
	f.add(cmd)
	limitFlag(cmd, &limit)
	cmd.Flags().BoolVar(&watch, "watch", false, "go on with each run that starts, changes its status or ends, until it is broken off")
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		l := listing{
			path: s.runs(""), query: f.query(), rows: "runs", id: "workflow_id", columns: runColumns, limit: limit,
			none: fmt.Sprintf("no such run in namespace %s", s.ns),
		}
		if watch {
			return s.watchRuns(ctx, l)
		}
		return s.list(ctx, l)
	})
}

func limitFlag(cmd *cobra.Command, limit *int) {
	cmd.Flags().IntVar(limit, "limit", 50, "at most so many; 0: all")
}

const (
	idLength  = 36
	leastID   = 8
	mostShown = 10
)

// workflow resolves a workflow id, or a unique prefix of one.
func (s *session) workflow(ctx context.Context, given string) (string, error) {
	id := strings.ToLower(given)
	if len(id) >= idLength {
		return id, nil
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef-", r) }) {
		return "", &usage{message: fmt.Sprintf("%q is no id of a run, nor the beginning of one", cut(given, 64)), hint: "aion list shows the runs"}
	}
	return unique(given, leastID, "run", func(each func(string)) error {
		return s.walk(ctx, listing{path: s.runs(""), query: queryOf("q", id), rows: "runs"}, func(o object) {
			if full := o.text("workflow_id"); strings.HasPrefix(full, id) {
				each(full)
			}
		})
	})
}

// walk reads all rows of a list.
func (s *session) walk(ctx context.Context, l listing, each func(object)) error {
	for cursor := ""; ; {
		page, err := s.page(ctx, l, cursor, 0)
		if err != nil {
			return err
		}
		for _, row := range page.rows {
			o, err := parseObject(row)
			if err != nil {
				return err
			}
			each(o)
		}
		if cursor = page.next; cursor == "" {
			return nil
		}
	}
}

// unique finds the one whole name that a prefix stands for.
func unique(given string, least int, what string, find func(each func(string)) error) (string, error) {
	if len(given) < least {
		return "", &usage{message: fmt.Sprintf("%q is too short; give at least %d characters", cut(given, 64), least)}
	}
	seen := map[string]bool{}
	var order []string
	err := find(func(full string) {
		if !seen[full] {
			seen[full] = true
			order = append(order, full)
		}
	})
	switch {
	case err != nil:
		return "", err
	case len(order) == 0:
		return "", &usage{message: fmt.Sprintf("no %s begins with %q", what, cut(given, 64))}
	case len(order) == 1:
		return order[0], nil
	}
	return "", &usage{message: fmt.Sprintf("%q is ambiguous", cut(given, 64)), hint: "it may be: " + strings.Join(order[:min(len(order), mostShown)], ", ")}
}
