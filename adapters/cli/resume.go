package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/application/runs"
	"aion/domain/history"
)

func newResumeCommand(p *Program, g *globals) *cobra.Command {
	f := &followFlags{}
	cmd := &cobra.Command{
		Use:     "resume ID",
		Short:   "go on with a run that an interrupted command left, and follow it to its end",
		Long:    "Opens the store, goes on with everything that is open in it, and follows the named run. A run that has ended prints its outcome.",
		Example: "  aion resume 019a3c1e-4f2a",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.sound(cmd); err != nil {
			return err
		}
		view, err := f.view(p, g)
		if err != nil {
			return err
		}
		return f.own(cmd, p, g, view, func(ctx context.Context, e *Engine) (runs.Summary, error) {
			r, err := find(ctx, e, args[0])
			if err == nil && r.Status == history.Paused {
				return runs.Summary{}, &usage{message: fmt.Sprintf("run %s is paused; pausing and resuming by hand is not part of this version", r.WorkflowID)}
			}
			return r, err
		})
	}
	return cmd
}

// find resolves an id or a unique prefix of one.
func find(ctx context.Context, e *Engine, id string) (runs.Summary, error) {
	id = strings.ToLower(id)
	if len(id) == 36 {
		d, err := e.Runs.Describe(ctx, operator(), runs.Ref{Namespace: e.Namespace, WorkflowID: id})
		return d.Summary, err
	}
	if len(id) < 8 {
		return runs.Summary{}, &usage{message: fmt.Sprintf("%q is too short; give at least 8 characters of the id", id)}
	}
	matches := map[string]bool{}
	var order []string
	for cursor := ""; ; {
		page, err := e.Runs.List(ctx, operator(), runs.ListRequest{Namespace: e.Namespace, Limit: 200, Cursor: cursor})
		if err != nil {
			return runs.Summary{}, err
		}
		for _, row := range page.Runs {
			if wf := string(row.WorkflowID); strings.HasPrefix(wf, id) && !matches[wf] {
				matches[wf] = true
				order = append(order, wf)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	switch len(order) {
	case 0:
		return runs.Summary{}, &usage{message: fmt.Sprintf("no run has an id that begins with %q", id)}
	case 1:
		return find(ctx, e, order[0])
	}
	return runs.Summary{}, &usage{message: fmt.Sprintf("%q is ambiguous", id), hint: "it may be: " + strings.Join(order[:min(len(order), 10)], ", ")}
}
