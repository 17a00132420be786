package authoring

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/document"
)

// Deploy checks, compiles, packages and deploys exactly one saved revision; it needs the deploy grant. Another hash than
// the present one is refused (RevisionMismatch), a document with errors too (CheckRefused). New runs get the new version.
func (s *Service) Deploy(ctx context.Context, who access.Caller, req DeployRequest) (Deployed, error) {
	if err := s.mayWrite(who); err != nil {
		return Deployed{}, err
	}
	p, err := document.ParsePath(req.Path)
	if err != nil {
		return Deployed{}, err
	}
	source, err := s.Documents.ReadDocument(ctx, p)
	if err != nil {
		return Deployed{}, err
	}
	imports := map[string]string{}
	resolve := s.imports(ctx, p, imports)
	if current := awl.ContentHash(source, resolve); current != req.ContentHash {
		return Deployed{}, document.RevisionMismatch(p, current)
	}
	// What was read for the hash is what is deployed, also when a file changes meanwhile.
	return s.deploy(ctx, who, pack{path: string(p), source: source, imports: imports, progress: req.Progress})
}

// DeploySource deploys a text that is in no workspace, with its imports; it needs the deploy grant. Name names it in
// refusals; the version has no document path.
func (s *Service) DeploySource(ctx context.Context, who access.Caller, req SourceRequest) (Deployed, error) {
	if err := s.mayWrite(who); err != nil {
		return Deployed{}, err
	}
	if len(req.Source) > document.MaxBytes {
		return Deployed{}, document.TooLarge(len(req.Source))
	}
	p := packed(req.Imports)
	p.title, p.source = req.Name, req.Source
	return s.deploy(ctx, who, p)
}

// packed takes the files that came with a text.
func packed(imports map[string][]byte) pack {
	p := pack{imports: make(map[string]string, len(imports))}
	for path, text := range imports {
		p.imports[path] = string(text)
	}
	return p
}

// pack is a document with everything that its plan is made of.
type pack struct {
	path     string // empty: it is in no workspace
	title    string // how its sender calls it then; may be empty
	source   []byte
	imports  map[string]string // by import path
	progress func(done int)
}

// name is the text in a refusal.
func (p pack) name() string {
	return cmp.Or(p.path, p.title, "the document")
}

func (p pack) resolve(path string) ([]byte, error) {
	text, ok := p.imports[path]
	if !ok {
		return nil, &domain.Error{
			Code: domain.CodeNotFound, Type: "DocumentNotFound",
			Message: fmt.Sprintf("no file %q came with the document", domain.Quote(path, 240)),
		}
	}
	return []byte(text), nil
}

// deploy takes the four steps; each is timed and reported when it is done.
func (s *Service) deploy(ctx context.Context, who access.Caller, p pack) (Deployed, error) {
	opts := awl.Options{Import: p.resolve}
	var d Deployed
	step := s.stepper(&d, p.progress)
	d.Report = s.check(p.source, opts)
	if !d.Report.DeploysGreen {
		return d, d.Report.Refusal(p.name())
	}
	step("check")
	compiles := s.timed()
	compiled, report, err := awl.Compile(p.source, opts)
	compiles()
	if err != nil {
		return d, report.Refusal(p.name())
	}
	step("compile")
	encoded, err := plan.Encode(compiled)
	if err != nil {
		return d, document.CompileRefused(p.name(), err.Error())
	}
	version := deployment.Version{
		DeploymentID: s.IDs.UUIDv7(), WorkflowType: compiled.WorkflowType, ContentHash: compiled.ContentHash,
		DocumentPath: p.path, Source: string(p.source), Imports: p.imports, Plan: encoded, DeployedAt: s.Clock.Now().UTC().Truncate(time.Microsecond),
		DeployedBy: who.Subject,
	}
	version.Audit = who.Audit("deploy.load", "", cmp.Or(p.path, p.title))
	version.Audit.Detail = domain.AuditDetail(map[string]any{"workflow_type": version.WorkflowType, "content_hash": version.ContentHash})
	before, routed, err := s.Deployments.Serving(ctx, compiled.WorkflowType)
	if err != nil {
		return d, err
	}
	d.RouteChanged = !routed || before.ContentHash != compiled.ContentHash
	if d.RouteChanged && routed && before.DocumentPath != p.path {
		d.Warnings = append(d.Warnings, takenOver(compiled.WorkflowType, before.DocumentPath))
	}
	if err := s.warnings(ctx, p.name(), compiled, &d); err != nil {
		return d, err
	}
	step("package")
	stored, fresh, err := s.Deployments.Deploy(ctx, version)
	if err != nil {
		return d, err
	}
	step("deploy")
	d.DeploymentID, d.DocumentPath, d.ContentHash = stored.DeploymentID, cmp.Or(stored.DocumentPath, p.path), stored.ContentHash
	d.WorkflowType, d.PackageID, d.DeployedAt, d.FreshlyLoaded = stored.WorkflowType, stored.ContentHash, stored.DeployedAt, fresh
	d.DeployedBy = stored.DeployedBy
	return d, nil
}

// stepper records how long each step took, from the end of the one before it.
func (s *Service) stepper(d *Deployed, progress func(done int)) func(name string) {
	began := s.Clock.Now()
	return func(name string) {
		now := s.Clock.Now()
		d.Steps = append(d.Steps, StepTime{Step: name, Duration: max(now.Sub(began), 0)})
		began = now
		if progress != nil {
			progress(len(d.Steps))
		}
	}
}

// maxWarnings bounds what a deploy says beside its success.
const maxWarnings = 50

// takenOver tells of another document whose type this one takes.
func takenOver(workflowType, from string) string {
	if from == "" {
		return fmt.Sprintf("new runs of %s get this version instead of another one; if that was not meant, route the type back and rename the workflow here", workflowType)
	}
	return fmt.Sprintf("new runs of %s get this version instead of the one deployed from %s; if that was not meant, deploy %s again and rename the workflow here",
		workflowType, from, from)
}

// warnings names the child types that are not deployed yet and the actions that wait for a worker, and passes the warnings
// of the check on.
func (s *Service) warnings(ctx context.Context, path string, p *plan.Plan, d *Deployed) error {
	out := d.Warnings
	for _, w := range p.Workers {
		if names := bodiless(w); len(names) > 0 && len(out) < maxWarnings {
			out = append(out, fmt.Sprintf("%s of worker %s has no `run`: it waits for a connected worker of that name, and its timeout does not end that wait; until one is connected describe_run lists it in unserved",
				domain.Quote(strings.Join(names, ", "), 200), w.Name))
		}
	}
	children, err := s.children(ctx, path, p)
	if err != nil {
		return err
	}
	out = append(out, children...)
	for _, found := range d.Report.Diagnostics {
		if found.Severity == diag.Warning && len(out) < maxWarnings {
			out = append(out, fmt.Sprintf("%d:%d %s", found.Span.Start.Line, found.Span.Start.Column, found.Message))
		}
	}
	if s.Policy != nil {
		out = append(out, s.Policy(p)...)
	}
	d.Warnings = out[:min(len(out), maxWarnings)]
	return nil
}

// children names the child types that are not deployed yet, and refuses a plan whose child does not fit the deployed one.
// A workflow that calls itself calls what this deploy makes of it.
func (s *Service) children(ctx context.Context, path string, p *plan.Plan) (warnings []string, err error) {
	for _, c := range p.Children {
		contract := &deployment.Contract{Plan: p}
		if c.Name != p.WorkflowType {
			contract, err = s.Deployments.Routed(ctx, c.Name)
		}
		switch {
		case domain.CodeOf(err) == domain.CodeNotFound:
			warnings = append(warnings, fmt.Sprintf("child workflow %s is not deployed yet; calling it before it is fails the step", c.Name))
			continue
		case err != nil:
			return nil, err
		}
		if wrong := contract.ChildMisfit(c); wrong != "" {
			return nil, document.CompileRefused(path, fmt.Sprintf("child %s does not fit the deployed workflow of that name: %s; correct the declaration, or deploy the child's new version first",
				c.Name, wrong))
		}
	}
	return warnings, nil
}

// bodiless names the actions of a worker that the server cannot execute by itself.
func bodiless(w plan.Worker) []string {
	var names []string
	for _, a := range w.Actions {
		if a.Body == nil {
			names = append(names, a.Name)
		}
	}
	return names
}
