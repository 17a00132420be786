package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

func newDescribeCommand(p *Program, g *globals) *cobra.Command {
	var run string
	var watch bool
	cmd := &cobra.Command{
		Use:     "describe ID",
		Short:   "show where a run stands, what it waits for, and how it ended",
		Example: "  aion describe 019a3c1e-4f2a\n  aion describe 019a3c1e-4f2a --watch",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	cmd.Flags().StringVar(&run, "run", "", "the id of one generation (default: the newest)")
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again whenever it has moved on, until it has ended")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		id, err := s.workflow(ctx, args[0])
		if err != nil {
			return err
		}
		show := func(answer []byte) error {
			return s.show(answer, []string{"workflow_id"}, func(o object) error { return describeRun(s.p.screen(), o) })
		}
		if watch {
			return s.watchRun(ctx, id, run, show)
		}
		answer, err := s.get(ctx, s.run(id, ""), generation(run))
		if err != nil {
			return err
		}
		return show(answer)
	})
}

// generation is the query of a read that may name one.
func generation(run string) url.Values { return queryOf("run_id", run) }

// unserved says why nothing could take a step now.
func unserved(step object) string {
	queue, action := step.text("task_queue"), step.text("activity_type")
	switch step.text("reason") {
	case "no_worker_for_node":
		return fmt.Sprintf("no worker of %s at node %q runs %s", queue, step.text("node"), action)
	case "contract_ineligible":
		return fmt.Sprintf("no worker of %s fits the version that declares %s; `aion workers list --queue %s` names them", queue, action, queue)
	case "draining":
		return fmt.Sprintf("the workers of %s that run %s drain", queue, action)
	case "at_capacity":
		return fmt.Sprintf("the workers of %s that run %s are full", queue, action)
	case "throttled":
		return "the namespace or the server is at its bound of attempts"
	}
	return fmt.Sprintf("no worker of %s runs %s", queue, action)
}

// describeRun prints a run as a person reads it.
func describeRun(s screen, o object) error {
	w := &lineup{w: s.w}
	w.pair("workflow", "%s", o.text("workflow_id"))
	w.pair("run", "%s", o.text("run_id"))
	w.pair("type", "%s   %s", o.text("workflow_type"), s.hash(o.text("package_id")))
	status := o.text("status")
	if reason := o.text("paused_reason"); reason != "" {
		status += "   " + reason
	}
	if outcome := o.text("outcome"); outcome != "" {
		status += "   " + outcome
	}
	w.pair("status", "%s", status)
	w.pair("started", "%s", s.moment(o.text("started_at"), o.at("started_at")))
	if o.text("ended_at") != "" {
		w.pair("ended", "%s   after %s", s.moment(o.text("ended_at"), o.at("ended_at")), span(o.at("ended_at").Sub(o.at("started_at"))))
	}
	w.labels(o.object("labels"))
	if parent := o.object("parent"); parent != nil {
		w.pair("parent", "%s", parent.text("workflow_id"))
	}
	for _, step := range o.list("open_steps") {
		w.pair("step", "%s   %s, attempt %s of %s since %s", step.text("step"), step.text("state"), step.text("attempt"), step.text("activity_type"), s.moment(step.text("since"), step.at("since")))
	}
	for _, wait := range o.list("waiting_on") {
		due := ""
		if wait.text("due_at") != "" {
			due = ", until " + wait.text("due_at")
		}
		w.pair("waits for", "%s %s since %s%s", wait.text("kind"), wait.text("name"), s.moment(wait.text("since"), wait.at("since")), due)
	}
	for _, step := range o.list("unserved") {
		w.pair("unserved", "%s   %s", step.text("step"), unserved(step))
	}
	if result := o["result"]; result != nil {
		w.pair("result", "%s", o.text("result"))
	}
	if failure := o.object("failure"); failure != nil {
		w.pair("failure", "%s: %s", failure.text("code"), failure.text("message"))
		if activity := failure.text("activity_id"); activity != "" {
			w.pair("transcript", "aion transcript %s %s", o.text("workflow_id"), activity)
		}
	}
	w.pair("events", "%s", o.text("history_head_seq"))
	return w.err
}

// lineup prints what belongs to a word, and keeps the first error.
type lineup struct {
	w   io.Writer
	err error
}

func (l *lineup) pair(word, format string, args ...any) {
	for line := range strings.Lines(cmp.Or(fmt.Sprintf(format, args...), "-")) {
		if l.err == nil {
			_, l.err = fmt.Fprintf(l.w, "%-11s %s\n", word, printable(strings.TrimRight(line, "\n")))
		}
		word = ""
	}
}

func (l *lineup) labels(labels object) {
	for _, name := range sortedNames(labels) {
		l.pair("label", "%s=%s", name, labels.text(name))
	}
}
