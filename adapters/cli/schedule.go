package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newScheduleCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "start runs by the clock: create, list, describe, update, pause, resume, trigger, backfill, delete or fires"}
	return group(cmd, newScheduleCreate(p, g), newScheduleList(p, g), newScheduleDescribe(p, g), newScheduleUpdate(p, g),
		newScheduleHold(p, g, "pause", "keep a schedule from firing; what comes meanwhile is listed as skipped"),
		newScheduleHold(p, g, "resume", "let a schedule fire again"),
		newScheduleTrigger(p, g), newScheduleBackfill(p, g), newScheduleDelete(p, g), newScheduleFires(p, g))
}

// schedules is the path of the schedules of the namespace, and what stands below.
func (s *session) schedules(below string) string {
	return "/namespaces/" + url.PathEscape(s.ns) + "/schedules" + below
}

// schedule is the path of one schedule, and what stands below.
func (s *session) schedule(id, below string) string {
	return s.schedules("/" + url.PathEscape(id) + below)
}

// scheduleFlags are the settings of a schedule.
type scheduleFlags struct {
	start                             startFlags
	cron, every, zone, overlap, about string
	workflowType, catchUp, jitter     string
	labels                            map[string]string
	paused                            bool
}

func (f *scheduleFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cron, "cron", "", "when: minute, hour, day of month, month, day of week; or a name such as @daily")
	flags.StringVar(&f.every, "every", "", "when: a spacing in whole seconds, such as 90s or 1h30m")
	flags.StringVar(&f.zone, "time-zone", "", "of --cron: a name such as Europe/Berlin; default UTC")
	flags.StringVar(&f.overlap, "overlap", "", "while a run is open: skip (default), buffer_one, allow or cancel_running")
	flags.StringVar(&f.catchUp, "catch-up", "", "how late a fire is made up after an outage; default 1m, 0 for not at all")
	flags.StringVar(&f.jitter, "jitter", "", "put fires off by less than this, each by its own share")
	flags.StringVar(&f.about, "description", "", "what it is for")
	flags.StringToStringVar(&f.labels, "label", nil, "a label of its runs, key=value; may be repeated")
	flags.StringArrayVarP(&f.start.input.members, "input-member", "i", nil, "one input: name=value, name:=JSON or name=@FILE; repeated ones of a list append")
	flags.StringVar(&f.start.input.whole, "input", "", "the whole input: JSON, @FILE or - for standard input")
}

// settings writes the members that were given over what is there.
func (f *scheduleFlags) settings(ctx context.Context, s *session, cmd *cobra.Command, body map[string]any) error {
	given := cmd.Flags().Changed
	if f.cron != "" && f.every != "" {
		return &usage{message: "--cron and --every exclude each other"}
	}
	for name, value := range map[string]string{
		"spec": f.cron, "time_zone": f.zone, "overlap": f.overlap, "description": f.about, "workflow_type": f.workflowType,
	} {
		if value != "" {
			body[name] = value
		}
	}
	if f.every != "" {
		body["spec"] = "every " + f.every
	}
	for name, value := range map[string]string{"catch_up_ms": f.catchUp, "jitter_ms": f.jitter} {
		if value == "" {
			continue
		}
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			flag := map[string]string{"catch_up_ms": "--catch-up", "jitter_ms": "--jitter"}[name]
			return &usage{message: fmt.Sprintf("%s takes a duration such as 5m; got %q", flag, cut(value, 64))}
		}
		body[name] = d.Milliseconds()
	}
	if len(f.labels) > 0 {
		body["labels"] = f.labels
	}
	if given("input") || given("input-member") || body["input"] == nil {
		typ, _ := body["workflow_type"].(string)
		input, err := f.start.build(ctx, s, typ, "/workflow-types/"+url.PathEscape(typ))
		if err != nil {
			return err
		}
		body["input"] = input
	}
	return nil
}

func newScheduleCreate(p *Program, g *globals) *cobra.Command {
	f := &scheduleFlags{}
	cmd := &cobra.Command{
		Use:   "create ID TYPE",
		Short: "make a schedule; its runs act with your grants",
		Example: "  aion schedule create nightly report --cron '30 2 * * *' --time-zone Europe/Berlin -i day=today\n" +
			"  aion schedule create poll fetch --every 90s --overlap skip",
		Args: arguments(2, 2, "an id and one workflow type"),
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.paused, "paused", false, "it does not fire before it is resumed")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if f.cron == "" && f.every == "" {
			return &usage{message: "a schedule needs --cron or --every", hint: strings.TrimSpace(cmd.Example)}
		}
		body := map[string]any{"schedule_id": args[0], "workflow_type": args[1]}
		if err := f.settings(ctx, s, cmd, body); err != nil {
			return err
		}
		if f.paused {
			body["paused"] = true
		}
		answer, err := s.post(ctx, s.schedules(""), body, "")
		if err != nil {
			return err
		}
		return s.showSchedule(answer)
	})
}

func newScheduleUpdate(p *Program, g *globals) *cobra.Command {
	f := &scheduleFlags{}
	cmd := &cobra.Command{
		Use:     "update ID",
		Short:   "change the settings that are given, and nothing that somebody else changes meanwhile",
		Example: "  aion schedule update nightly --cron '0 3 * * *'",
		Args:    arguments(1, 1, "the id of one schedule"),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.workflowType, "type", "", "the workflow type of its runs")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		answer, err := s.get(ctx, s.schedule(args[0], ""), nil)
		if err != nil {
			return err
		}
		o, err := parseObject(answer)
		if err != nil {
			return err
		}
		body := map[string]any{}
		for _, name := range []string{
			"workflow_type", "input", "spec", "time_zone", "overlap", "catch_up_ms", "jitter_ms", "labels", "description",
		} {
			if o[name] != nil {
				body[name] = o[name]
			}
		}
		if err := f.settings(ctx, s, cmd, body); err != nil {
			return err
		}
		text, err := marshal(body)
		if err != nil {
			return err
		}
		changed, err := s.Do(ctx, client.Request{
			Method: http.MethodPut, Path: s.schedule(args[0], ""), Body: text, Header: map[string]string{"If-Match": `"` + o.text("revision") + `"`},
		})
		if err != nil {
			return err
		}
		return s.showSchedule(changed.Body)
	})
}

func newScheduleDescribe(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe ID", Short: "show a schedule, its next times and its last fires", Example: "  aion schedule describe nightly",
		Args: arguments(1, 1, "the id of one schedule"),
	}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		answer, err := s.get(ctx, s.schedule(args[0], ""), nil)
		if err != nil {
			return err
		}
		return s.showSchedule(answer)
	})
}

func (s *session) showSchedule(answer []byte) error {
	return s.show(answer, []string{"schedule_id"}, func(o object) error {
		w := &lineup{w: s.p.Out}
		for _, name := range []string{
			"schedule_id", "workflow_type", "spec", "time_zone", "overlap", "catch_up_ms", "jitter_ms", "description", "revision", "created_by",
		} {
			w.pair(name, "%s", o.text(name))
		}
		if paused := o.object("paused"); paused != nil {
			w.pair("paused", "by %s since %s %s", paused.text("by"), paused.text("since"), paused.text("reason"))
		}
		for _, at := range o.texts("next_times") {
			w.pair("next", "%s", at)
		}
		for _, r := range o.list("running") {
			w.pair("running", "%s", r.text("workflow_id"))
		}
		for _, f := range o.list("last_fires") {
			w.pair("fire", "%s %s %s %s", f.text("nominal_at"), f.text("action"), f.text("workflow_id"), f.text("reason"))
		}
		return w.err
	})
}
