package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"aion/application/runs"
	"aion/domain/history"
)

func newResumeCommand(p *Program, g *globals) *cobra.Command {
	f := &followFlags{}
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "go on with a run that was paused, or that an interrupted command left, and follow it to its end",
		Long: "Opens the store, goes on with everything that is open in it, and follows the named run. A run that has ended prints its outcome.\n" +
			"A server goes on by itself: there it follows the run only when --follow is given.",
		Example: "  aion resume 019a3c1e-4f2a",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	f.add(cmd)
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "why a paused run goes on, for the history")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.sound(cmd); err != nil {
			return err
		}
		view, err := f.view(p, g)
		if err != nil {
			return err
		}
		return f.carry(errand{
			cmd: cmd, p: p, g: g, view: view,
			own:  func(ctx context.Context, e *Engine) (begun, error) { return resumeOwn(ctx, e, args[0], reason) },
			over: func(ctx context.Context, s *session) (begun, error) { return f.resumeOver(ctx, s, args[0], reason) },
		})
	}
	return cmd
}

// resumeOver lets the run go on at a server. A server goes on with it by itself, so it is followed only when that is asked
// for; the owner of a store that is no server ends when nobody follows it.
func (f *followFlags) resumeOver(ctx context.Context, s *session, given, reason string) (begun, error) {
	id, err := s.workflow(ctx, given)
	if err != nil {
		return begun{}, err
	}
	answer, err := s.get(ctx, s.run(id, ""), nil)
	if err != nil {
		return begun{}, err
	}
	r, err := begunFrom(answer)
	if err != nil {
		return begun{}, err
	}
	if r.status == history.Paused {
		if answer, err = s.post(ctx, s.run(id, "/resume"), optionally(map[string]any{}, "reason", reason), ""); err != nil {
			return begun{}, err
		}
		if r.status, err = statusOf(answer); err != nil {
			return begun{}, err
		}
	}
	if r.status.Terminal() || f.follow != "" || strings.HasPrefix(s.Server(), "unix:") {
		return r, nil
	}
	if err := s.p.say("%s\t%s", id, r.status); err != nil {
		return begun{}, err
	}
	return begun{}, status(exitDone)
}

// resumeOwn lets the run go on in this process.
func resumeOwn(ctx context.Context, e *Engine, given, reason string) (begun, error) {
	r, err := find(ctx, e, given)
	if err != nil || r.status != history.Paused {
		return r, err
	}
	held, err := e.Runs.Resume(ctx, operator(), runs.HoldRequest{Ref: runs.Ref{Namespace: e.Namespace, WorkflowID: r.id}, Reason: reason})
	r.status = held.Status
	return r, err
}

func newPauseCommand(p *Program, g *globals) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "pause ID",
		Short:   "hold a run: what runs goes on to its end, and nothing new begins until it is resumed",
		Example: "  aion pause 019a3c1e-4f2a --reason 'the target is down'",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		return s.act(ctx, args[0], "/pause", optionally(map[string]any{}, "reason", reason), func(o object) error {
			return p.say("%s\t%s", o.text("workflow_id"), o.text("status"))
		})
	})
}

func newReopenCommand(p *Program, g *globals) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "reopen ID --reason TEXT",
		Short: "go on with a run that failed, timed out or was cancelled: what failed is done again",
		Long: "What failed is done again and what was in flight begins anew, under the same version of the workflow; what is done stays done,\n" +
			"and the timeout of the workflow starts anew. A parent that was told of the end is not told of another one.",
		Example: "  aion reopen 019a3c1e-4f2a --reason 'the disk has room again'",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if reason == "" {
			return &usage{message: "--reason is missing: the history keeps why a run was reopened", hint: cmd.CommandPath() + " " + args[0] + " --reason 'the disk has room again'"}
		}
		return s.act(ctx, args[0], "/reopen", map[string]any{"reason": reason}, func(o object) error {
			return p.say("%s\t%s", o.text("workflow_id"), o.text("status"))
		})
	})
}

// find resolves an id or a unique prefix of one.
func find(ctx context.Context, e *Engine, given string) (begun, error) {
	id := strings.ToLower(given)
	if len(id) < idLength {
		var err error
		if id, err = unique(given, leastID, "run", func(each func(string)) error { return findAll(ctx, e, id, each) }); err != nil {
			return begun{}, err
		}
	}
	d, err := e.Runs.Describe(ctx, operator(), runs.Ref{Namespace: e.Namespace, WorkflowID: id})
	return begun{id: string(d.WorkflowID), at: d.StartedAt, status: d.Status}, err
}

// findAll gives every workflow whose id begins with a prefix.
func findAll(ctx context.Context, e *Engine, prefix string, each func(string)) error {
	for cursor := ""; ; {
		page, err := e.Runs.List(ctx, operator(), runs.ListRequest{Namespace: e.Namespace, Limit: 200, Cursor: cursor})
		if err != nil {
			return err
		}
		for _, row := range page.Runs {
			if id := string(row.WorkflowID); strings.HasPrefix(id, prefix) {
				each(id)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}
