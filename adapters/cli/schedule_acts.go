package cli

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newScheduleList(p *Program, g *globals) *cobra.Command {
	var limit int
	var paused bool
	var workflowType string
	cmd := &cobra.Command{Use: "list", Short: "list the schedules of the namespace", Example: "  aion schedule list --paused", Args: arguments(0, 0, "no arguments")}
	cmd.Flags().BoolVar(&paused, "paused", false, "only those that are paused; --paused=false: only those that are not")
	cmd.Flags().StringVar(&workflowType, "type", "", "only those of this workflow type")
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		query := queryOf("workflow_type", workflowType)
		if cmd.Flags().Changed("paused") {
			query.Set("paused", strconv.FormatBool(paused))
		}
		return s.list(ctx, listing{
			path: s.schedules(""), query: query, rows: "schedules", id: "schedule_id", limit: limit, none: "there is no such schedule",
			columns: []column{
				text("SCHEDULE", "schedule_id"), text("TYPE", "workflow_type"), text("SPEC", "spec"), text("ZONE", "time_zone"), text("OVERLAP", "overlap"),
				{"NEXT", nextTime},
			},
		})
	})
}

// nextTime is when a schedule fires next; a paused one does not.
func nextTime(s screen, o object) string {
	if o.object("paused") != nil {
		return "paused"
	}
	times := o.texts("next_times")
	if len(times) == 0 {
		return ""
	}
	at := object{"at": times[0]}
	return s.moment(at.text("at"), at.at("at"))
}

func newScheduleHold(p *Program, g *globals, verb, short string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: verb + " ID", Short: short, Example: "  aion schedule " + verb + " nightly", Args: arguments(1, 1, "the id of one schedule")}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who look later")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		body := map[string]any{}
		if reason != "" {
			body["reason"] = reason
		}
		answer, err := s.post(ctx, s.schedule(args[0], "/"+verb), body, "")
		if err != nil {
			return err
		}
		return s.showSchedule(answer)
	})
}

func newScheduleTrigger(p *Program, g *globals) *cobra.Command {
	var overlap, key string
	cmd := &cobra.Command{
		Use: "trigger ID", Short: "start a run of a schedule now", Example: "  aion schedule trigger nightly --overlap allow",
		Args: arguments(1, 1, "the id of one schedule"),
	}
	cmd.Flags().StringVar(&overlap, "overlap", "", "while a run is open: skip or buffer_one (refuse), allow or cancel_running; default: as the schedule says")
	cmd.Flags().StringVar(&key, "idempotency-key", "", "the same key finds the run it started before")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		body := map[string]any{}
		if overlap != "" {
			body["overlap"] = overlap
		}
		answer, err := s.post(ctx, s.schedule(args[0], "/trigger"), body, key)
		if err != nil {
			return err
		}
		return s.show(answer, []string{"workflow_id"}, func(o object) error {
			return s.p.say("%s\t%s\t%s", o.text("workflow_id"), o.text("run_id"), o.text("status"))
		})
	})
}

func newScheduleBackfill(p *Program, g *globals) *cobra.Command {
	var from, to string
	var limit int
	cmd := &cobra.Command{
		Use: "backfill ID", Short: "start the runs of times that have passed, oldest first, whatever the overlap rule says",
		Example: "  aion schedule backfill nightly --from 2026-07-01T00:00:00Z --to 2026-07-08T00:00:00Z",
		Args:    arguments(1, 1, "the id of one schedule"),
	}
	cmd.Flags().StringVar(&from, "from", "", "the first time, RFC 3339")
	cmd.Flags().StringVar(&to, "to", "", "the last time, RFC 3339")
	cmd.Flags().IntVar(&limit, "limit", 100, "at most so many, 1 to 100")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if from == "" || to == "" {
			return &usage{message: "a backfill needs --from and --to", hint: cmd.Example}
		}
		answer, err := s.post(ctx, s.schedule(args[0], "/backfill"), map[string]any{"from": from, "to": to, "limit": limit}, "")
		if err != nil {
			return err
		}
		return s.show(answer, []string{"planned"}, func(o object) error { return s.p.say("planned %s", o.text("planned")) })
	})
}

func newScheduleDelete(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete ID", Short: "delete a schedule; its runs go on", Example: "  aion schedule delete nightly --yes",
		Args: arguments(1, 1, "the id of one schedule"),
	}
	cmd.Flags().Bool("yes", false, "do not ask")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if err := s.confirm("delete " + args[0]); err != nil {
			return err
		}
		if _, err := s.Do(ctx, client.Request{Method: http.MethodDelete, Path: s.schedule(args[0], "")}); err != nil {
			return err
		}
		return p.say("deleted %s", args[0])
	})
}

func newScheduleFires(p *Program, g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "fires ID", Short: "list what became of the fires of a schedule, newest first", Example: "  aion schedule fires nightly",
		Args: arguments(1, 1, "the id of one schedule"),
	}
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		return s.list(ctx, listing{
			path: s.schedule(args[0], "/fires"), rows: "fires", id: "workflow_id", limit: limit, none: "it has not fired yet",
			columns: []column{
				moment("TIME", "nominal_at"), moment("DECIDED", "decided_at"), text("ACTION", "action"), identifier("WORKFLOW", "workflow_id"), text("REASON", "reason"),
			},
		})
	})
}
