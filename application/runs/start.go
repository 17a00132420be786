package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/schedule"
)

// The bounds of labels and keys.
const (
	maxLabels   = 16
	maxLabel    = 256
	maxKey      = 128
	startAction = "start"
)

var labelKey = regexp.MustCompile(`^[a-z0-9._-]{1,63}$`)

// Start records a new workflow of a deployed type and answers after the commit. The same idempotency key with the same
// request answers with the workflow that it started before; with another request it is refused (IdempotencyConflict).
func (s *Service) Start(ctx context.Context, who access.Caller, req StartRequest) (Started, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return Started{}, err
	}
	asked, given, err := s.acceptStart(req)
	if err != nil {
		return Started{}, err
	}
	scope := who.Owner() + "/" + string(ns) + "/" + startAction
	var digest string
	if req.IdempotencyKey != "" {
		digest = digestOf(asked)
		if known, ok, err := s.repeated(ctx, scope, asked.IdempotencyKey, digest); ok || err != nil {
			return known, err
		}
	}
	contract, err := s.chosen(ctx, asked)
	if err != nil {
		return Started{}, err
	}
	if err := contract.AcceptInput(asked.Input); err != nil {
		return Started{}, err
	}
	var signal *history.SignalReceived
	if asked.Signal != nil {
		if signal, err = s.firstSignal(who, contract, *asked.Signal); err != nil {
			return Started{}, err
		}
	}
	if err := s.open(ctx, who, ns); err != nil {
		return Started{}, err
	}
	begin := engine.Begin{Namespace: ns, RunID: domain.RunID(s.IDs.UUIDv7()), Contract: contract}
	id, do := domain.WorkflowID(asked.WorkflowID), s.Engine.Do
	if !given {
		id, do = domain.WorkflowID(s.IDs.UUIDv7()), s.Engine.Begin
	}
	if req.IdempotencyKey != "" {
		begin.Started = &history.Idempotency{
			Scope: scope, Key: req.IdempotencyKey, Request: digest, WorkflowID: id, RunID: begin.RunID,
			ExpiresAt: s.Clock.Now().UTC().Add(s.Limits.IdempotencyRetention), Task: req.Task,
		}
	}
	receipt, err := do(ctx, id, started(who, id, asked, begin, signal))
	if engine.Conflicted(err) {
		if known, ok, err := s.repeated(ctx, scope, asked.IdempotencyKey, digest); ok || err != nil {
			return known, err
		}
	}
	if err != nil {
		return Started{}, err
	}
	sum := summary(receipt.Row, receipt.Result, receipt.Failure)
	return Started{Run: sum, First: sum}, nil
}

// chosen is the version that a start is pinned to: the one it names, or the one that its type is routed to.
func (s *Service) chosen(ctx context.Context, req StartRequest) (*deployment.Contract, error) {
	if req.PackageID == "" {
		contract, err := s.Types.Routed(ctx, req.WorkflowType)
		if err != nil {
			return nil, s.undeployed(ctx, req.WorkflowType, err)
		}
		return contract, nil
	}
	contract, err := s.Types.Contract(ctx, req.PackageID)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && contract.Plan.WorkflowType != req.WorkflowType {
		return nil, &domain.Error{
			Code: domain.CodeNotFound, Type: "VersionNotFound", Err: err,
			Message: fmt.Sprintf("no version %s of workflow type %s is loaded; leave package_id out to start the routed one",
				domain.Quote(req.PackageID, 64), domain.Quote(req.WorkflowType, 128)),
		}
	}
	return contract, err
}

// undeployed adds to the refusal of a type those that can be started, the ones with a like name first. Other errors pass.
func (s *Service) undeployed(ctx context.Context, workflowType string, cause error) error {
	const most = 20
	var refusal *domain.Error
	if !errors.As(cause, &refusal) || refusal.Type != "WorkflowTypeNotFound" {
		return cause
	}
	types, err := s.Types.Types(ctx)
	if err != nil {
		return cause // it says less, and is true
	}
	alike := func(name string) int {
		if strings.Contains(name, workflowType) || strings.Contains(workflowType, name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(types, func(a, b string) int { return alike(a) - alike(b) })
	known := "so far nothing is"
	if len(types) > 0 {
		known = "deployed are " + strings.Join(types[:min(len(types), most)], ", ")
	}
	if len(types) > most {
		known += fmt.Sprintf(" and %d more", len(types)-most)
	}
	return &domain.Error{
		Code: refusal.Code, Type: refusal.Type, Err: cause,
		Message: fmt.Sprintf("workflow type %q is not deployed; %s; deploy_document deploys a saved document and answers with its workflow_type",
			domain.Quote(workflowType, 128), known),
	}
}

// started decides on a start: the fact, its deadline by the workflow's timeout, and the signal that comes with it.
func started(who access.Caller, id domain.WorkflowID, req StartRequest, begin engine.Begin, signal *history.SignalReceived) engine.Decision {
	return func(v engine.View) (engine.Change, error) {
		if v.Run != nil {
			return engine.Change{}, exists(id, begin.Namespace, v.Run.Row())
		}
		fact := history.WorkflowStarted{
			WorkflowType: begin.Contract.Plan.WorkflowType, PackageVersion: begin.Contract.Plan.ContentHash,
			Input: req.Input, Labels: req.Labels, StartedBy: startedBy(who, req),
		}
		if ms := begin.Contract.Plan.TimeoutMS; ms > 0 {
			fact.Deadline = v.At.Add(time.Duration(ms) * time.Millisecond)
		}
		change := engine.Change{Facts: []history.Event{fact}, Begin: &begin, Audit: who.Audit("run.start", begin.Namespace, string(id))}
		change.Audit.Detail = domain.AuditDetail(map[string]any{
			"workflow_type": fact.WorkflowType, "package_id": fact.PackageVersion, "run_id": string(begin.RunID), "input_bytes": len(req.Input),
		})
		if signal != nil {
			change.Facts = append(change.Facts, *signal)
		}
		return change, nil
	}
}

// startedBy is who a history says has started it. A caller who calls itself like a schedule or a workflow is told from one.
func startedBy(who access.Caller, req StartRequest) string {
	if req.ScheduleID != "" {
		return schedule.ID(req.ScheduleID).Subject()
	}
	if kind, _, named := strings.Cut(who.Subject, ":"); named && (kind == "schedule" || kind == "workflow") {
		return "subject:" + who.Subject
	}
	return who.Subject
}

// acceptStart judges the parts of a request that need no store. given says that the caller chose the workflow id.
func (s *Service) acceptStart(req StartRequest) (asked StartRequest, given bool, err error) {
	if req.Input == nil {
		req.Input = domain.Payload("{}")
	}
	if err := s.fits("input", req.Input); err != nil {
		return req, false, err
	}
	if req.WorkflowID != "" {
		id, err := domain.ParseWorkflowID(req.WorkflowID)
		if err != nil {
			return req, false, err
		}
		req.WorkflowID, given = string(id), true
	}
	if utf8.RuneCountInString(req.IdempotencyKey) > maxKey {
		return req, given, invalid(fmt.Sprintf("idempotency_key has more than %d characters; pass a shorter one", maxKey))
	}
	if len(req.Labels) > maxLabels {
		return req, given, invalid(fmt.Sprintf("a run has at most %d labels; %d were given", maxLabels, len(req.Labels)))
	}
	for key, value := range req.Labels {
		if !labelKey.MatchString(key) || utf8.RuneCountInString(value) > maxLabel || !utf8.ValidString(value) {
			return req, given, invalid(fmt.Sprintf("label %q: a key matches [a-z0-9._-]{1,63} and a value has at most %d characters",
				domain.Quote(key, 64), maxLabel))
		}
	}
	return req, given, nil
}

// firstSignal is the signal that is recorded in the commit of the start.
func (s *Service) firstSignal(who access.Caller, c *deployment.Contract, sig StartSignal) (*history.SignalReceived, error) {
	if err := s.fits("payload", sig.Payload); err != nil {
		return nil, err
	}
	payload, err := c.AcceptSignal(sig.Name, sig.Payload)
	if err != nil {
		return nil, err
	}
	return &history.SignalReceived{SignalID: s.IDs.UUIDv7(), SignalName: sig.Name, Payload: payload, SentBy: who.Subject}, nil
}

// repeated answers a start whose key is known: with the latest run of its workflow, or with a refusal when the request is
// another one.
func (s *Service) repeated(ctx context.Context, scope, key, digest string) (Started, bool, error) {
	known, err := s.Events.Idempotent(ctx, scope, key)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && !known.ExpiresAt.After(s.Clock.Now()) {
		return Started{}, false, nil
	}
	if err != nil {
		return Started{}, false, err
	}
	if known.Request != digest {
		return Started{}, false, keyTaken(known)
	}
	rows, err := s.Index.Runs(ctx, known.WorkflowID)
	if err != nil || len(rows) == 0 {
		return Started{}, false, err
	}
	sum, err := s.ended(ctx, rows[len(rows)-1])
	return Started{Run: sum, First: begun(rows, known.RunID), Existing: true}, err == nil, err
}

// begun is a run as its start has answered: an end in the very commit of the start has its time.
func begun(rows []history.RunRow, id domain.RunID) Summary {
	for _, row := range rows {
		if row.RunID != id {
			continue
		}
		if !row.EndedAt.Equal(row.StartedAt) {
			row.Status, row.EndedAt, row.Outcome = history.Running, time.Time{}, ""
		}
		return summary(row, nil, nil)
	}
	return summary(rows[0], nil, nil)
}

func exists(id domain.WorkflowID, ns domain.Namespace, row history.RunRow) error {
	e := &domain.Error{
		Code: domain.CodeInvalidState, Type: "WorkflowExists",
		Message: fmt.Sprintf("workflow %s exists already; describe_run shows it, or start with another workflow_id", id),
	}
	if row.Namespace == ns {
		e.Details = map[string]any{"workflow_id": string(id), "run_id": string(row.RunID), "status": string(row.Status)}
	}
	return e
}

// digestOf is the same for equal requests: member order and space in the input do not matter.
func digestOf(req StartRequest) string {
	parts := []any{req.WorkflowType, canonical(req.Input), req.WorkflowID, req.Labels, nil}
	if req.Signal != nil {
		parts[4] = []any{req.Signal.Name, canonical(req.Signal.Payload)}
	}
	if req.PackageID != "" {
		parts = append(parts, req.PackageID)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic("runs: request cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical gives a value with sorted members; what is no JSON stands for itself and is refused later.
func canonical(p domain.Payload) any {
	var v any
	if p == nil || decodeExact(p, &v) != nil {
		return string(p)
	}
	return v
}

func invalid(message string) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: message}
}
