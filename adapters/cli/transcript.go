package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
	"aion/domain"
	"aion/domain/awl/diag"
)

type transcriptFlags struct {
	run     string
	attempt int
	follow  bool
	raw     bool
	from    int64
}

func newTranscriptCommand(p *Program, g *globals) *cobra.Command {
	f := &transcriptFlags{}
	cmd := &cobra.Command{
		Use:     "transcript ID [STEP|ACTIVITY]",
		Short:   "print what an attempt showed: the lines of a command, or the conversation of an agent",
		Example: "  aion transcript 019a3c1e-4f2a\n  aion transcript 019a3c1e-4f2a 3 --attempt 1 --follow",
		Args:    arguments(1, 2, "the id of a run, and at most one step or activity id"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.run, "run", "", "the id of one generation (default: the newest)")
	flags.IntVar(&f.attempt, "attempt", 0, "which attempt (default: the last)")
	flags.BoolVar(&f.follow, "follow", false, "go on with what is shown, until the attempt has ended")
	flags.BoolVar(&f.raw, "raw", false, "control characters as they are, not escaped")
	flags.Int64Var(&f.from, "from", 0, "the first position")
	return paged(p, g, asks(p, g, cmd, f.print))
}

func (f *transcriptFlags) print(ctx context.Context, s *session, args []string) error {
	id, err := s.workflow(ctx, args[0])
	if err != nil {
		return err
	}
	k, err := f.handle(ctx, s, id, args[1:])
	if err != nil {
		return err
	}
	show := func(o object) error { return f.line(s, o) }
	if !f.follow {
		return s.sequence(ctx, events{path: s.run(id, "/transcript"), rows: "events", query: handle(k), from: f.from, id: "store_seq", each: show})
	}
	next := f.from
	return s.persist(ctx, &next, func(ctx context.Context) error {
		query := handle(k)
		query.Set("from_seq", strconv.FormatInt(next, 10))
		return s.stream(ctx, client.Request{Path: s.run(id, "/transcript/stream"), Query: query}, func(e client.Event) error {
			o, err := parseObject(e.Data)
			if err != nil {
				return err
			}
			if e.ID != "" {
				next = o.number("store_seq") + 1
			}
			if s.shape.output != "table" {
				return s.row(nil, listing{id: "store_seq"}, e.Data)
			}
			return show(o)
		})
	})
}

// handle finds the attempt that is meant: without an activity the running one, else the last that showed something.
func (f *transcriptFlags) handle(ctx context.Context, s *session, id string, activity []string) (domain.AttemptKey, error) {
	answer, err := s.get(ctx, s.run(id, ""), generation(f.run))
	if err != nil {
		return domain.AttemptKey{}, err
	}
	o, err := parseObject(answer)
	if err != nil {
		return domain.AttemptKey{}, err
	}
	k := domain.AttemptKey{WorkflowID: domain.WorkflowID(id), RunID: domain.RunID(o.text("run_id")), ActivityID: -1, Attempt: f.attempt}
	if len(activity) > 0 {
		if k.ActivityID, err = s.activity(ctx, k, activity[0]); err != nil {
			return k, err
		}
	}
	running := o.object("current_step")
	if k.ActivityID < 0 && running != nil && running.text("state") == "started" {
		k.ActivityID, k.Attempt = running.number("activity_id"), cmp.Or(f.attempt, int(running.number("attempt")))
		return k, nil
	}
	for _, t := range o.list("transcripts") {
		if k.ActivityID < 0 || t.number("activity_id") == k.ActivityID || len(activity) == 0 {
			if len(activity) == 0 {
				k.ActivityID = t.number("activity_id")
			}
			if f.attempt == 0 {
				k.Attempt = int(t.number("attempt"))
			}
		}
	}
	if k.ActivityID < 0 {
		return k, &usage{message: fmt.Sprintf("run %s has shown nothing yet", short(id))}
	}
	k.Attempt = max(k.Attempt, 1)
	return k, nil
}

// activity is the one that is named by its id, or the last one of the step that is.
func (s *session) activity(ctx context.Context, k domain.AttemptKey, name string) (int64, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id >= 0 {
		return id, nil
	}
	last, steps := int64(-1), map[string]bool{}
	l := listing{path: s.run(string(k.WorkflowID), "/activities"), query: queryOf("run_id", string(k.RunID)), rows: "activities"}
	err := s.walk(ctx, l, func(o object) {
		steps[o.text("step")] = true
		if o.text("step") == name {
			last = o.number("activity_id")
		}
	})
	if err == nil && last < 0 {
		wrong := &usage{message: fmt.Sprintf("step %q has begun no activity", cut(name, 64)), hint: "aion describe shows the run"}
		if near := diag.Closest(name, slices.Sorted(maps.Keys(steps))); near != "" {
			wrong.hint = "did you mean " + near + "?"
		}
		err = wrong
	}
	return last, err
}

// line prints one event as a person reads it.
func (f *transcriptFlags) line(s *session, o object) error {
	show := printable
	if f.raw {
		show = func(text string) string { return text }
	}
	word, text := o.text("agent_role"), o.text("text")
	switch o.text("kind") {
	case "message":
		if word == "command stdout" {
			word = ""
		}
	case "tool_call":
		word, text = "call "+o.text("tool"), o.text("input")
	case "tool_result":
		word, text = "result", o.text("output")
	case "progress":
		word, text = "progress", o.text("detail")
	case "stop":
		word, text = "stop", o.text("reason")
	default:
		word, text = cmp.Or(o.text("source"), "raw"), o.text("value")
	}
	if word != "" {
		text = "[" + word + "] " + text
	}
	_, err := fmt.Fprintln(s.p.Out, show(text))
	return err
}
