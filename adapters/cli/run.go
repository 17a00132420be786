package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/awl"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
)

// followFlags say where a run is followed and how, and what an interrupt does.
type followFlags struct {
	where
	follow  string
	timeout time.Duration
	drain   time.Duration
	cancel  bool
}

type runFlags struct {
	followFlags
	input          inputFlags
	ephemeral      bool
	detach         bool
	workflowID     string
	idempotencyKey string
	labels         map[string]string

	minted bool // the workflow id is this command's own: nobody else starts one with it
	asked  bool // for a start, which may be done although no answer came
}

func newRunCommand(p *Program, g *globals) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run FILE.awl",
		Short: "check, deploy and run one document, and follow it to its end",
		Long: "Checks the document, runs it on the store in AION_HOME and follows it. The outcome is one line of JSON on standard output; the exit\n" +
			"code is 0 for a success route, 1 for any other end. Ctrl-C leaves the run durable: aion resume goes on with it.\n\n" +
			"While it runs this process is the engine of the store: other open runs in it go on too, and other commands and MCP clients reach it, to\n" +
			"send a signal for example. When a process has the store open already, be it a server or another run, this one runs the document there\n" +
			"and follows it; it takes the store over when that one ends. --server names a server; --ephemeral needs no store.",
		Example: "  aion run examples/hello.awl -i name=Ada",
		Args:    arguments(1, 1, "one .awl file"),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.input.members, "input-member", "i", nil, "one input: name=value, name:=JSON or name=@FILE; repeated ones of a list append")
	flags.StringVar(&f.input.whole, "input", "", "the whole input: JSON, @FILE or - for standard input")
	flags.BoolVar(&f.ephemeral, "ephemeral", false, "keep everything in memory: nothing survives the command")
	flags.BoolVar(&f.detach, "detach", false, "print the ids after the start and end; needs a server, which goes on with the run")
	flags.StringVar(&f.workflowID, "workflow-id", "", "a UUID of your own for the workflow")
	flags.StringVar(&f.idempotencyKey, "idempotency-key", "", "the same key with the same input finds the run it started before")
	flags.StringToStringVar(&f.labels, "label", nil, "a label, key=value; may be repeated")
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.sound(cmd); err != nil {
			return err
		}
		return f.run(cmd, p, g, args[0])
	}
	return cmd
}

func (f *followFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.where.add(flags)
	flags.String("store", "", "another SQLite file")
	flags.StringVar(&f.follow, "follow", "", "steps, all (with every line of output) or none (default all on a terminal, else steps)")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop following after this long, with exit code 4")
	flags.DurationVar(&f.drain, "drain", 5*time.Second, "what running commands get on Ctrl-C before they are parked")
	flags.BoolVar(&f.cancel, "cancel-on-interrupt", false, "Ctrl-C cancels the run instead of parking it")
}

// sound refuses values that would be taken for flags that are not given.
func (f *runFlags) sound(cmd *cobra.Command) error {
	if key := f.idempotencyKey; cmd.Flags().Changed("idempotency-key") && !visibleASCII(key, maxIdempotencyKey) {
		return &usage{message: fmt.Sprintf("--idempotency-key takes 1 to %d visible ASCII characters; got %q", maxIdempotencyKey, cut(key, maxIdempotencyKey))}
	}
	return f.followFlags.sound(cmd)
}

func (f *followFlags) sound(cmd *cobra.Command) error {
	if cmd.Flags().Changed("timeout") && f.timeout <= 0 {
		return &usage{message: fmt.Sprintf("--timeout must be more than 0; got %s", f.timeout), hint: "leave it out to follow the run to its end"}
	}
	if f.drain < 0 {
		return &usage{message: fmt.Sprintf("--drain must not be negative; got %s", f.drain)}
	}
	return nil
}

const maxIdempotencyKey = 128

func visibleASCII(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// cut shortens a text for a message.
func cut(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

func (f *runFlags) run(cmd *cobra.Command, p *Program, g *globals, name string) error {
	src, err := readSource(p, name)
	if err != nil {
		return err
	}
	pl, report, err := awl.Compile(src.text, src.options())
	p.findings(g, src, report.Diagnostics)
	if !report.OK {
		return status(exitRefused)
	}
	if err != nil {
		return err
	}
	view, err := f.view(p, g)
	if err != nil {
		return err
	}
	view.note("checked", "%s   %s", src.name, counted(report.Steps, "step"))
	if err := f.input.ask(p, pl); err != nil {
		return err
	}
	input, err := f.input.build(p, pl)
	if err != nil {
		return err
	}
	if err := f.judge(pl, input); err != nil {
		return err
	}
	if err := f.mint(); err != nil {
		return err
	}
	todo := job{src, pl, input}
	e := errand{
		cmd: cmd, p: p, g: g, view: view,
		own:  func(ctx context.Context, e *Engine) (begun, error) { return f.start(ctx, e, view, todo) },
		over: func(ctx context.Context, s *session) (begun, error) { return f.startOver(ctx, s, view, todo) },
	}
	if f.detach {
		return f.leave(e)
	}
	return f.carry(e)
}

// mint names the run before anybody is asked for it: an answer that was lost is not a second run. A key is known of one
// caller only, and the process that takes the store over may be another one than the server took this command for; the id
// of a workflow is known of everybody.
func (f *runFlags) mint() error {
	if f.idempotencyKey != "" {
		return nil // it finds what another command started, under an id that is not known here
	}
	f.idempotencyKey = rand.Text()
	if f.workflowID != "" {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	f.workflowID, f.minted = id.String(), true
	return nil
}

// done reports that a start was refused because an earlier one of this command, of which no answer came, has begun the run.
func (f *runFlags) done(err error) bool {
	again := f.asked
	f.asked = true
	return again && f.minted && domain.TypeOf(err) == "WorkflowExists"
}

// judge refuses what a start would refuse, before anything is stored.
func (f *runFlags) judge(pl *plan.Plan, input []byte) error {
	if f.workflowID != "" {
		if _, err := domain.ParseWorkflowID(f.workflowID); err != nil {
			return &usage{message: fmt.Sprintf("--workflow-id takes a UUID in lower case; got %q", cut(f.workflowID, 64))}
		}
	}
	encoded, err := plan.Encode(pl)
	if err != nil {
		return err
	}
	contract, err := deployment.Load(deployment.Version{WorkflowType: pl.WorkflowType, ContentHash: pl.ContentHash, Plan: encoded})
	if err != nil {
		return err
	}
	return contract.AcceptInput(input)
}

// job is a checked document with its input.
type job struct {
	source
	plan  *plan.Plan
	input []byte
}

func (f *runFlags) start(ctx context.Context, e *Engine, v *view, j job) (begun, error) {
	who := operator()
	deployed, err := e.Authoring.DeploySource(ctx, who, authoring.SourceRequest{Name: j.name, Source: j.text, Imports: j.imported()})
	if err != nil {
		return begun{}, err
	}
	v.note("deployed", "%s   %s", deployed.WorkflowType, deployed.ContentHash[:8])
	started, err := e.Runs.Start(ctx, who, runs.StartRequest{
		Namespace: e.Namespace, WorkflowType: j.plan.WorkflowType, Input: j.input,
		WorkflowID: f.workflowID, IdempotencyKey: f.idempotencyKey, Labels: f.labels,
	})
	got := started.Run
	if f.done(err) {
		var there runs.Description
		there, err = e.Runs.Describe(ctx, who, runs.Ref{Namespace: e.Namespace, WorkflowID: f.workflowID})
		got = there.Summary
	}
	if err != nil {
		return begun{}, err
	}
	v.started(string(got.WorkflowID))
	return begun{id: string(got.WorkflowID), at: got.StartedAt, status: got.Status}, nil
}

// wireImport is a file that a document imports.
type wireImport struct {
	Path   string `json:"path"`
	Source string `json:"source"`
}

// startOver deploys and starts at a server.
func (f *runFlags) startOver(ctx context.Context, s *session, v *view, j job) (begun, error) {
	answer, err := s.post(ctx, "/deployments", sourceBody(j.source), "")
	if err != nil {
		return begun{}, err
	}
	o, err := parseObject(answer)
	if err != nil {
		return begun{}, err
	}
	deployed := o.object("deployment")
	v.note("deployed", "%s   %.8s at %s", deployed.text("workflow_type"), deployed.text("content_hash"), s.Server())
	body := map[string]any{"workflow_type": deployed.text("workflow_type"), "package_id": deployed.text("package_id"), "input": json.RawMessage(j.input)}
	if f.workflowID != "" {
		body["workflow_id"] = f.workflowID
	}
	if len(f.labels) > 0 {
		body["labels"] = f.labels
	}
	answer, err = s.post(ctx, s.runs(""), body, f.idempotencyKey)
	if f.done(err) {
		answer, err = s.get(ctx, s.run(f.workflowID, ""), nil)
	}
	if err != nil {
		return begun{}, err
	}
	began, err := begunFrom(answer)
	if err == nil {
		v.started(began.id)
	}
	return began, err
}

// sourceBody is the body that deploys a text which is in no workspace.
func sourceBody(src source) any {
	imports := []wireImport{}
	files := src.imported()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		imports = append(imports, wireImport{path, string(files[path])})
	}
	return map[string]any{"source": string(src.text), "name": src.name, "imports": imports}
}

func (v *view) started(id string) {
	v.note("run", "%s    (go on later: aion resume %s)", id, short(id))
}

// leave starts at a server and stays there no longer.
func (f *runFlags) leave(e errand) error {
	s, err := f.somewhere(e.cmd, e.p, e.g)
	if err != nil {
		return err
	}
	if s == nil {
		around, err := e.p.around(Open{Flags: e.cmd.Flags(), Home: e.g.home, File: e.g.config})
		if err != nil {
			return err
		}
		address, held, err := around.Owner()
		if err != nil {
			return err
		}
		if !held || address == "" || f.ephemeral {
			return &usage{message: "--detach leaves the run to a server, and none was found", hint: "start one with: aion server"}
		}
		if s, err = f.at(e.cmd, e.p, e.g, address); err != nil {
			return err
		}
	}
	defer s.Close()
	return e.p.interruptible(e.cmd.Context(), func(ctx context.Context) error {
		began, err := e.over(ctx, s)
		if err == nil {
			_, err = fmt.Fprintln(e.p.Out, began.id)
		}
		return err
	})
}
