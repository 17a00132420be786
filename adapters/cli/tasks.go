package cli

import (
	"context"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newTasksCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "tasks", Short: "list, show or cancel the tasks of MCP clients"}
	return group(cmd, newTasksList(p, g), newTasksDescribe(p, g), newTasksCancel(p, g))
}

func newTasksList(p *Program, g *globals) *cobra.Command {
	var status string
	var all bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "list your tasks", Example: "  aion tasks list --status working", Args: arguments(0, 0, "no arguments")}
	cmd.Flags().StringVar(&status, "status", "", "only tasks in this status, such as working")
	cmd.Flags().BoolVar(&all, "all", false, "of every owner; needs the deploy grant")
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		query := queryOf("status", status)
		if all {
			query.Set("owner", "all")
		}
		return s.list(ctx, listing{
			path: "/tasks", query: query, rows: "tasks", id: "task_id", limit: limit, none: "there is no such task",
			columns: []column{
				text("TASK", "task_id"), text("STATUS", "status"), text("NAMESPACE", "namespace"), identifier("WORKFLOW", "workflow_id"),
				moment("CREATED", "created_at"), text("MESSAGE", "status_message"),
			},
		})
	})
}

func (s *session) showTask(answer []byte) error {
	return s.show(answer, []string{"task_id"}, func(o object) error {
		w := &lineup{w: s.p.Out}
		for _, name := range []string{"task_id", "owner", "namespace", "status", "status_message", "workflow_id", "run_id", "created_at", "updated_at", "expires_at"} {
			w.pair(name, "%s", o.text(name))
		}
		return w.err
	})
}

func newTasksDescribe(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "describe ID", Short: "show one task", Example: "  aion tasks describe 019a3c1e-4f2a-7000-8000-000000000000", Args: arguments(1, 1, "the id of one task")}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		answer, err := s.get(ctx, "/tasks/"+url.PathEscape(args[0]), nil)
		if err != nil {
			return err
		}
		return s.showTask(answer)
	})
}

func newTasksCancel(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "cancel ID", Short: "cancel one task, and the run that it waits for", Example: "  aion tasks cancel 019a3c1e-4f2a-7000-8000-000000000000", Args: arguments(1, 1, "the id of one task")}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		answer, err := s.Do(ctx, client.Request{Method: http.MethodPost, Path: "/tasks/" + url.PathEscape(args[0]) + "/cancel"})
		if err != nil {
			return err
		}
		return s.showTask(answer.Body)
	})
}
