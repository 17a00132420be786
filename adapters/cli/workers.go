package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newWorkersCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "workers", Short: "list the remote workers of a namespace"}
	return group(cmd, newWorkersList(p, g))
}

func newWorkersList(p *Program, g *globals) *cobra.Command {
	var queue, state string
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "list who serves task queues, newest first", Example: "  aion workers list --queue dev_brief", Args: arguments(0, 0, "no arguments")}
	cmd.Flags().StringVar(&queue, "queue", "", "only workers of this task queue")
	cmd.Flags().StringVar(&state, "state", "", "only workers that are live, draining or gone")
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		return s.list(ctx, listing{
			path: namespacePath(s.ns) + "/workers", query: queryOf("queue", queue, "state", state), rows: "workers", id: "worker_id", limit: limit,
			none: "no worker serves this namespace",
			columns: []column{
				identifier("WORKER", "worker_id"), text("IDENTITY", "identity"), text("STATE", "state"), text("QUEUE", "task_queue"), text("NODE", "node"),
				text("HELD", "held"), text("MAX", "max_concurrency"), moment("LAST SEEN", "last_seen"),
			},
		})
	})
}

func newQueuesCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "queues", Short: "list the task queues of a namespace"}
	return group(cmd, newQueuesList(p, g))
}

func newQueuesList(p *Program, g *globals) *cobra.Command {
	var unserved bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "list what waits and runs in task queues", Example: "  aion queues list --unserved", Args: arguments(0, 0, "no arguments")}
	cmd.Flags().BoolVar(&unserved, "unserved", false, "only work that nothing could take now, with what would")
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		if unserved {
			return s.list(ctx, listing{
				path: namespacePath(s.ns) + "/unserved", rows: "unserved", id: "task_queue", limit: limit, none: "everything that waits is served",
				columns: []column{
					text("QUEUE", "task_queue"), text("NODE", "node"), text("ACTION", "activity_type"), text("WAITING", "waiting"), moment("OLDEST", "oldest_at"),
					text("REASON", "reason"), text("HINT", "hint"),
				},
			})
		}
		return s.list(ctx, listing{
			path: namespacePath(s.ns) + "/queues", rows: "queues", id: "task_queue", limit: limit, none: "there is no task queue with work or workers",
			columns: []column{
				text("QUEUE", "task_queue"), text("NODE", "node"), summed("QUEUED", "queued"), oldest("OLDEST", "oldest_queued_at"), summed("RUNNING", "running"), listed("WORKERS", "workers"),
			},
		})
	})
}

// summed adds a number up over the actions of a queue.
func summed(head, name string) column {
	return column{head, func(_ screen, o object) string {
		n := int64(0)
		for _, a := range o.list("actions") {
			n += a.number(name)
		}
		return strconv.FormatInt(n, 10)
	}}
}

// listed is how many there are.
func listed(head, name string) column {
	return column{head, func(_ screen, o object) string { return strconv.Itoa(len(o.texts(name))) }}
}

// oldest is the earliest time over the actions of a queue.
func oldest(head, name string) column {
	return column{head, func(s screen, o object) string {
		var first object
		for _, a := range o.list("actions") {
			if a.text(name) != "" && (first == nil || a.text(name) < first.text(name)) {
				first = a
			}
		}
		return s.moment(first.text(name), first.at(name))
	}}
}
