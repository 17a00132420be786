package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newNamespacesCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "namespaces", Short: "list, create, change or delete namespaces"}
	return group(cmd, newNamespacesList(p, g), newNamespacesCreate(p, g), newNamespacesDescribe(p, g), newNamespacesUpdate(p, g), newNamespacesDelete(p, g))
}

func namespacePath(name string) string { return "/namespaces/" + url.PathEscape(name) }

func newNamespacesList(p *Program, g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "list the namespaces that you may reach", Example: "  aion namespaces list", Args: arguments(0, 0, "no arguments")}
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, _ []string) error {
		return s.list(ctx, listing{
			path: "/namespaces", rows: "namespaces", id: "name", limit: limit, none: "there is no namespace that you may reach",
			columns: []column{
				text("NAME", "name"), text("OPEN RUNS", "open_runs"), text("MAX IN FLIGHT", "max_in_flight_activities"), moment("CREATED", "created_at"),
				text("DESCRIPTION", "description"),
			},
		})
	})
}

// namespaceFlags are the settings of a namespace.
type namespaceFlags struct {
	description string
	inFlight    int
	retention   string
}

func (f *namespaceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.description, "description", "", "what it is for")
	flags.IntVar(&f.inFlight, "max-in-flight", 0, "attempts that run at the same time; 0: as the server says")
	flags.StringVar(&f.retention, "retention", "", "how long ended runs are kept, such as 720h; default: as the server says")
}

// settings are the members that were given.
func (f *namespaceFlags) settings(cmd *cobra.Command) (map[string]any, error) {
	body := map[string]any{}
	if cmd.Flags().Changed("description") {
		body["description"] = f.description
	}
	if cmd.Flags().Changed("max-in-flight") {
		body["max_in_flight_activities"] = f.inFlight
		if f.inFlight == 0 {
			body["max_in_flight_activities"] = nil
		}
	}
	if !cmd.Flags().Changed("retention") {
		return body, nil
	}
	if f.retention == "default" {
		body["retention_ms"] = nil
		return body, nil
	}
	d, err := time.ParseDuration(f.retention)
	if err != nil || d < 0 {
		return nil, &usage{message: fmt.Sprintf("--retention takes a duration such as 720h, or default; got %q", cut(f.retention, 64))}
	}
	body["retention_ms"] = d.Milliseconds()
	return body, nil
}

func newNamespacesCreate(p *Program, g *globals) *cobra.Command {
	f := &namespaceFlags{}
	cmd := &cobra.Command{Use: "create NAME", Short: "create a namespace", Example: "  aion namespaces create team-a --max-in-flight 64", Args: arguments(1, 1, "one name")}
	f.add(cmd)
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		body, err := f.settings(cmd)
		if err != nil {
			return err
		}
		body["name"] = args[0]
		answer, err := s.post(ctx, "/namespaces", body, "")
		if err != nil {
			return err
		}
		return s.showNamespace(answer)
	})
}

func (s *session) showNamespace(answer []byte) error {
	return s.show(answer, []string{"name"}, func(o object) error {
		w := &lineup{w: s.p.Out}
		for _, name := range []string{"name", "description", "open_runs", "max_in_flight_activities", "retention_ms", "created_at", "created_by"} {
			w.pair(name, "%s", o.text(name))
		}
		return w.err
	})
}

func newNamespacesDescribe(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "describe NAME", Short: "show a namespace and its settings", Example: "  aion namespaces describe default", Args: arguments(1, 1, "one name")}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		answer, err := s.get(ctx, namespacePath(args[0]), nil)
		if err != nil {
			return err
		}
		return s.showNamespace(answer)
	})
}

func newNamespacesUpdate(p *Program, g *globals) *cobra.Command {
	f := &namespaceFlags{}
	cmd := &cobra.Command{Use: "update NAME", Short: "change the settings that are given", Example: "  aion namespaces update team-a --max-in-flight 128", Args: arguments(1, 1, "one name")}
	f.add(cmd)
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		body, err := f.settings(cmd)
		if err != nil {
			return err
		}
		if len(body) == 0 {
			return &usage{message: "there is nothing to change; give a setting", hint: "aion namespaces update --help lists them"}
		}
		text, err := marshal(body)
		if err != nil {
			return err
		}
		answer, err := s.Do(ctx, client.Request{Method: http.MethodPatch, Path: namespacePath(args[0]), Body: text})
		if err != nil {
			return err
		}
		return s.showNamespace(answer.Body)
	})
}

func newNamespacesDelete(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "delete NAME", Short: "delete a namespace that holds no run", Example: "  aion namespaces delete team-a", Args: arguments(1, 1, "one name")}
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if _, err := s.Do(ctx, client.Request{Method: http.MethodDelete, Path: namespacePath(args[0])}); err != nil {
			return err
		}
		return p.say("deleted %s", args[0])
	})
}
