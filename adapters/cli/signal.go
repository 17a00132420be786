package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/history"
	"aion/domain/schema"
)

func newSignalCommand(p *Program, g *globals) *cobra.Command {
	var payload, signalID, run string
	cmd := &cobra.Command{
		Use:     "signal ID NAME",
		Short:   "deliver a signal to a run",
		Example: "  aion signal 019a3c1e-4f2a decision --payload '{\"approve\": true}'",
		Args:    arguments(2, 2, "the id of a run and the name of a signal"),
	}
	cmd.Flags().StringVar(&payload, "payload", "", "what is delivered: JSON, @FILE or - for standard input")
	cmd.Flags().StringVar(&signalID, "signal-id", "", "an id of your own: a second delivery under it changes nothing")
	cmd.Flags().StringVar(&run, "run", "", "the id of the generation that has to be the current one")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		body := map[string]any{"signal_name": args[1]}
		if payload != "" {
			value, err := jsonValue(p, "--payload", payload)
			if err != nil {
				return err
			}
			body["payload"] = value
		}
		return s.act(ctx, args[0], "/signals", optionally(body, "signal_id", signalID, "run_id", run), func(o object) error {
			return p.say("%s delivered to %s as event %s", o.text("signal_name"), o.text("workflow_id"), o.text("history_seq"))
		})
	})
}

// optionally adds the members that are given.
func optionally(body map[string]any, pairs ...string) map[string]any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			body[pairs[i]] = pairs[i+1]
		}
	}
	return body
}

// jsonValue reads a value from the command line: JSON, @FILE or -.
func jsonValue(p *Program, flag, given string) (json.RawMessage, error) {
	value := []byte(given)
	var err error
	name, isFile := strings.CutPrefix(given, "@")
	switch {
	case given == "-":
		value, err = readBounded(p.In, "standard input", "a value", maxInput)
	case isFile:
		value, err = readFile(name, "a value", maxInput)
	}
	if err != nil {
		return nil, err
	}
	if offset, detail, ok := schema.ValidateJSON(value); !ok {
		return nil, &usage{message: fmt.Sprintf("%s is not JSON: %s at byte %d", flag, detail, offset)}
	}
	return value, nil
}

// act posts to something of a run and shows the answer.
func (s *session) act(ctx context.Context, given, below string, body any, human func(o object) error) error {
	id, err := s.workflow(ctx, given)
	if err != nil {
		return err
	}
	answer, err := s.post(ctx, s.run(id, below), body, "")
	if err != nil {
		return err
	}
	return s.show(answer, []string{"workflow_id"}, human)
}

func newQueryCommand(p *Program, g *globals) *cobra.Command {
	var run string
	cmd := &cobra.Command{
		Use:     "query ID NAME",
		Short:   "ask a live run: state, bindings, or binding:NAME",
		Example: "  aion query 019a3c1e-4f2a state",
		Args:    arguments(2, 2, "the id of a run and the name of a query"),
	}
	cmd.Flags().StringVar(&run, "run", "", "the id of the generation that has to be the current one")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		id, err := s.workflow(ctx, args[0])
		if err != nil {
			return err
		}
		answer, err := s.post(ctx, s.run(id, "/queries"), optionally(map[string]any{"query_name": args[1]}, "run_id", run), "")
		if err != nil {
			return err
		}
		return s.show(answer, []string{"workflow_id"}, func(object) error {
			var whole struct {
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(answer, &whole); err != nil {
				return unreadable(err)
			}
			return printRaw(p.Out, whole.Result)
		})
	})
}

func newCancelCommand(p *Program, g *globals) *cobra.Command {
	var reason string
	var filters []string
	cmd := &cobra.Command{
		Use:     "cancel ID…",
		Short:   "cancel runs",
		Example: "  aion cancel 019a3c1e-4f2a --reason superseded\n  aion cancel --filter workflow_type=hello --filter label=team=docs --yes",
		Args:    arguments(0, -1, "ids of runs, or prefixes of 8 or more characters; or --filter"),
	}
	cmd.Flags().StringArrayVar(&filters, "filter", nil, "every open run that fits, as in the list of the API: workflow_type=hello; may be repeated")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the history")
	cmd.Flags().Bool("yes", false, "do not ask")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		ids, err := s.chosen(ctx, args, filters)
		if err != nil {
			return err
		}
		if len(ids) > 1 {
			if err := s.confirm(fmt.Sprintf("cancel %d runs", len(ids))); err != nil {
				return err
			}
		}
		var failed error // of one run; the others are cancelled all the same
		for _, id := range ids {
			err := s.act(ctx, id, "/cancel", optionally(map[string]any{}, "reason", reason), func(o object) error {
				return p.say("cancelled %s", o.text("workflow_id"))
			})
			if err != nil && len(ids) > 1 && ctx.Err() == nil {
				fmt.Fprintf(p.Err, "%s is not cancelled: %s\n", id, printable(err.Error()))
			}
			failed = cmp.Or(failed, err)
			if ctx.Err() != nil {
				break
			}
		}
		return failed
	})
}

// chosen are the runs that are named, or the open ones that fit filters.
func (s *session) chosen(ctx context.Context, args, filters []string) ([]string, error) {
	if (len(args) == 0) == (len(filters) == 0) {
		return nil, &usage{message: "name runs by their ids, or choose them by --filter", hint: "aion list --status Running shows what is open"}
	}
	var ids []string
	for _, given := range args {
		id, err := s.workflow(ctx, given)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if len(args) > 0 {
		return ids, nil
	}
	query := url.Values{"status": {string(history.Running), string(history.Paused)}}
	for _, f := range filters {
		name, value, found := strings.Cut(f, "=")
		if !found || name == "" || value == "" || name == "status" || name == "cursor" || name == "limit" {
			return nil, &usage{message: fmt.Sprintf("--filter is parameter=value of a list of runs, and of open ones; got %q", cut(f, 64))}
		}
		query.Add(name, value)
	}
	err := s.walk(ctx, listing{path: s.runs(""), query: query, rows: "runs"}, func(o object) { ids = append(ids, o.text("workflow_id")) })
	if err == nil && len(ids) == 0 && !s.g.quiet {
		fmt.Fprintf(s.p.Err, "no such open run in namespace %s\n", s.ns)
	}
	return ids, err
}
