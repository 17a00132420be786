package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
	"aion/domain/awl/plan"
)

type startFlags struct {
	input                                        inputFlags
	workflowID, idempotencyKey, watch, packageID string
	labels                                       map[string]string
	wait                                         bool
}

func newStartCommand(p *Program, g *globals) *cobra.Command {
	f := &startFlags{}
	cmd := &cobra.Command{
		Use:     "start TYPE",
		Short:   "start a run of a deployed workflow type",
		Example: "  aion start hello -i name=Ada\n  aion start hello --input '{\"name\": \"Ada\"}' --wait",
		Args:    arguments(1, 1, "one workflow type"),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.input.members, "input-member", "i", nil, "one input: name=value, name:=JSON or name=@FILE; repeated ones of a list append")
	flags.StringVar(&f.input.whole, "input", "", "the whole input: JSON, @FILE or - for standard input")
	flags.StringVar(&f.workflowID, "workflow-id", "", "a UUID of your own for the workflow")
	flags.StringVar(&f.idempotencyKey, "idempotency-key", "", "the same key with the same input finds the run it started before")
	flags.StringToStringVar(&f.labels, "label", nil, "a label, key=value; may be repeated")
	flags.StringVar(&f.packageID, "package", "", "a deployed version that is not routed: its hash, or a prefix of it")
	flags.BoolVar(&f.wait, "wait", false, "wait for the end and print the outcome; exit 1 unless it took a success route")
	flags.StringVar(&f.watch, "follow", "", "wait, and show what happens: steps, or all (with every line of output)")
	return asks(p, g, cmd, f.run)
}

func (f *startFlags) run(ctx context.Context, s *session, args []string) error {
	view := &view{none: true}
	if f.watch != "" {
		var err error
		if view, err = (&followFlags{follow: f.watch}).view(s.p, s.g); err != nil {
			return err
		}
	}
	declared := "/workflow-types/" + url.PathEscape(args[0])
	body := map[string]any{"workflow_type": args[0]}
	if f.packageID != "" {
		version, err := s.version(ctx, args[0], f.packageID)
		if err != nil {
			return err
		}
		body["package_id"] = version
		declared += "/versions/" + url.PathEscape(version)
	}
	input, err := f.build(ctx, s, args[0], declared)
	if err != nil {
		return err
	}
	body["input"] = input
	if f.workflowID != "" {
		body["workflow_id"] = f.workflowID
	}
	if len(f.labels) > 0 {
		body["labels"] = f.labels
	}
	answer, err := s.post(ctx, s.runs(""), body, f.idempotencyKey)
	if err != nil {
		return err
	}
	started, err := begunFrom(answer)
	if err != nil {
		return err
	}
	if !f.wait && f.watch == "" {
		return s.show(answer, []string{"workflow_id"}, func(o object) error {
			return s.p.say("%s\t%s\t%s", o.text("workflow_id"), o.text("run_id"), o.text("status"))
		})
	}
	return s.bounded(ctx, func(ctx context.Context) error {
		if f.watch == "" {
			return s.awaitOutcome(ctx, started.id)
		}
		return s.toTheEnd(ctx, view, started)
	})
}

// build makes the input. Single members are typed by the contract at the path.
func (f *startFlags) build(ctx context.Context, s *session, workflowType, path string) (json.RawMessage, error) {
	if len(f.input.members) == 0 && f.input.whole == "" {
		return json.RawMessage("{}"), nil
	}
	pl := &plan.Plan{WorkflowType: workflowType}
	if len(f.input.members) > 0 {
		answer, err := s.Do(ctx, client.Request{Path: path})
		if err != nil {
			return nil, err
		}
		var declared struct {
			Contract struct {
				InputSchema json.RawMessage `json:"input_schema"`
			} `json:"contract"`
		}
		if err := json.Unmarshal(answer.Body, &declared); err != nil {
			return nil, unreadable(err)
		}
		pl.InputSchema = declared.Contract.InputSchema
	}
	return f.input.build(s.p, pl)
}

// runs is the path of the runs of the namespace, and what stands below.
func (s *session) runs(below string) string {
	return "/namespaces/" + url.PathEscape(s.ns) + "/runs" + below
}

// run is the path of one workflow, and what stands below.
func (s *session) run(id, below string) string { return s.runs("/" + url.PathEscape(id) + below) }

// post sends a JSON body and gives the answer's.
func (s *session) post(ctx context.Context, path string, body any, idempotencyKey string) ([]byte, error) {
	text, err := marshal(body)
	if err != nil {
		return nil, err
	}
	r := client.Request{Method: http.MethodPost, Path: path, Body: text}
	if idempotencyKey != "" {
		if !visibleASCII(idempotencyKey, maxIdempotencyKey) {
			return nil, &usage{message: fmt.Sprintf("--idempotency-key takes 1 to %d visible ASCII characters; got %q", maxIdempotencyKey, cut(idempotencyKey, maxIdempotencyKey))}
		}
		r.Header = map[string]string{"Idempotency-Key": idempotencyKey}
	}
	answer, err := s.Do(ctx, r)
	return answer.Body, err
}

// get reads one resource.
func (s *session) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	answer, err := s.Do(ctx, client.Request{Path: path, Query: query})
	return answer.Body, err
}

// marshal encodes without escaping what HTML would want escaped.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	if err := printJSON(&b, v); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
