package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newDeployCommand(p *Program, g *globals) *cobra.Command {
	var document bool
	var contentHash string
	cmd := &cobra.Command{
		Use:     "deploy FILE",
		Short:   "check and compile a document, and route its workflow type to it",
		Example: "  aion deploy examples/hello.awl\n  aion deploy hello.awl --document",
		Args:    arguments(1, 1, "one .awl file, or with --document the path of a saved document"),
	}
	cmd.Flags().BoolVar(&document, "document", false, "the argument is the path of a document that is saved on the server")
	cmd.Flags().StringVar(&contentHash, "content-hash", "", "with --document: the hash that the saved document has to have (default: the one it has)")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if contentHash != "" && !document {
			return &usage{message: "--content-hash goes with --document"}
		}
		body, err := deployBody(ctx, s, args[0], document, contentHash)
		if err != nil {
			return err
		}
		answer, err := s.post(ctx, "/deployments", body, "")
		if err != nil {
			return err
		}
		return s.show(answer, nil, func(o object) error { return showDeployment(p, g, o) })
	})
}

func deployBody(ctx context.Context, s *session, name string, document bool, contentHash string) (any, error) {
	if !document {
		src, err := readSource(s.p, name)
		return sourceBody(src), err
	}
	if contentHash == "" {
		current, err := s.document(ctx, name)
		if err != nil {
			return nil, err
		}
		contentHash = current.text("content_hash")
	}
	return map[string]any{"path": name, "content_hash": contentHash}, nil
}

func showDeployment(p *Program, g *globals, o object) error {
	if !g.quiet {
		for _, step := range o.list("steps") {
			fmt.Fprintln(p.Err, printable(fmt.Sprintf("%-9s %s ms", step.text("step"), step.text("duration_ms"))))
		}
	}
	d := o.object("deployment")
	for _, warning := range d.texts("warnings") {
		fmt.Fprintf(p.Err, "warning: %s\n", printable(warning))
	}
	routed := "already routed"
	if d.flag("route_changed") {
		routed = "now routed"
	}
	return p.say("%s\t%s\t%s", d.text("workflow_type"), d.text("content_hash"), routed)
}

func newVersionsCommand(p *Program, g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "versions [TYPE]",
		Short:   "list what is deployed",
		Example: "  aion versions\n  aion versions hello",
		Args:    arguments(0, 1, "at most one workflow type"),
	}
	limitFlag(cmd, &limit)
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		return s.list(ctx, listing{
			path: "/versions", query: queryOf("workflow_type", strings.Join(args, "")), rows: "versions", id: "content_hash", limit: limit,
			columns: []column{
				text("TYPE", "workflow_type"), hash("HASH", "content_hash"), mark("ROUTED", "route_active", "routed"), text("DOCUMENT", "document_path"),
				moment("LOADED", "loaded_at"), text("OPEN RUNS", "open_runs"),
			},
			none: "nothing is deployed",
		})
	})
}

const (
	hashLength = 64
	leastHash  = 8
)

// version resolves the hash of a version, or a unique prefix of one.
func (s *session) version(ctx context.Context, workflowType, given string) (string, error) {
	h := strings.ToLower(given)
	if len(h) >= hashLength {
		return h, nil
	}
	return unique(given, leastHash, "version of "+workflowType, func(each func(string)) error {
		return s.walk(ctx, listing{path: "/versions", query: queryOf("workflow_type", workflowType), rows: "versions"}, func(o object) {
			if full := o.text("content_hash"); strings.HasPrefix(full, h) {
				each(full)
			}
		})
	})
}

func newRouteCommand(p *Program, g *globals) *cobra.Command {
	var previous bool
	cmd := &cobra.Command{
		Use:     "route TYPE HASH",
		Short:   "let new runs of a type begin with another deployed version; running ones keep theirs",
		Example: "  aion route hello 9f2c41d0\n  aion route hello --previous",
		Args:    arguments(1, 2, "a workflow type, and the hash of one of its versions or --previous"),
	}
	cmd.Flags().BoolVar(&previous, "previous", false, "the version that was routed before this one")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		if previous == (len(args) == 2) {
			return &usage{message: "name the version by its hash or by --previous", hint: "aion versions " + args[0] + " lists them"}
		}
		h, err := s.routeTo(ctx, args)
		if err != nil {
			return err
		}
		answer, err := s.post(ctx, "/workflow-types/"+url.PathEscape(args[0])+"/route", map[string]any{"content_hash": h}, "")
		if err != nil {
			return err
		}
		return s.show(answer, []string{"content_hash"}, func(o object) error {
			if !o.flag("route_changed") {
				return p.say("%s: %s is routed already", o.text("workflow_type"), o.text("content_hash"))
			}
			return p.say("%s: %s -> %s (running runs keep their version)", o.text("workflow_type"), o.text("previous"), o.text("content_hash"))
		})
	})
}

// routeTo is the version that a route is moved to: the one that is named, else the one that was routed before.
func (s *session) routeTo(ctx context.Context, args []string) (string, error) {
	if len(args) == 2 {
		return s.version(ctx, args[0], args[1])
	}
	answer, err := s.get(ctx, "/workflow-types/"+url.PathEscape(args[0]), nil)
	if err != nil {
		return "", err
	}
	o, err := parseObject(answer)
	if err != nil {
		return "", err
	}
	before := o.text("previous")
	if before == "" {
		return "", &usage{message: fmt.Sprintf("no version of %s was routed before this one", cut(args[0], 64)), hint: "aion versions " + args[0] + " lists them"}
	}
	return before, nil
}

func newUnloadCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unload TYPE HASH",
		Short:   "take away a version that is neither routed nor used by an open run",
		Example: "  aion unload hello 9f2c41d0 --yes",
		Args:    arguments(2, 2, "a workflow type and the hash of one of its versions"),
	}
	cmd.Flags().Bool("yes", false, "do not ask")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		h, err := s.version(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		if err := s.confirm(fmt.Sprintf("unload %s of %s", h, args[0])); err != nil {
			return err
		}
		path := "/workflow-types/" + url.PathEscape(args[0]) + "/versions/" + url.PathEscape(h)
		answer, err := s.Do(ctx, client.Request{Method: http.MethodDelete, Path: path})
		if err != nil {
			return err
		}
		return s.show(answer.Body, []string{"content_hash"}, func(o object) error {
			return p.say("unloaded %s of %s", o.text("content_hash"), o.text("workflow_type"))
		})
	})
}
