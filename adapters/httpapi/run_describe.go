package httpapi

import (
	"context"
	"encoding/json"

	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/machine"
)

// inspected is the whole view of a run.
type inspected struct {
	wire.Description
	Generation       int               `json:"generation"`
	Generations      int               `json:"generations"`
	NextRunID        wire.Nullable     `json:"next_run_id"`
	ParentWorkflowID wire.Nullable     `json:"parent_workflow_id"`
	ScheduleID       wire.Nullable     `json:"schedule_id"`
	Labels           map[string]string `json:"labels"`
	StartedBy        string            `json:"started_by"`
	EndedBy          wire.Nullable     `json:"ended_by"`
	Paused           *pausedBy         `json:"paused"`
	DeadlineAt       wire.Stamp        `json:"deadline_at"`
	Input            json.RawMessage   `json:"input"`
	Document         *pinnedDocument   `json:"document"`
	Contract         *pinnedContract   `json:"contract"` // null: the version is not loaded
	Children         []childRun        `json:"children"`
	ChildrenTotal    int               `json:"children_total"`
	Actions          map[string]permit `json:"actions"`
	Unserved         []unservedStep    `json:"unserved"`
}

// unservedStep is an open step that nothing could take now.
type unservedStep struct {
	wire.OpenStep
	Node   wire.Nullable `json:"node"`
	Reason string        `json:"reason"`
}

type pausedBy struct {
	By     string     `json:"by"`
	Reason string     `json:"reason"`
	Since  wire.Stamp `json:"since"`
}

type pinnedDocument struct {
	Path        string `json:"path"`
	ContentHash string `json:"content_hash"`
}

type pinnedContract struct {
	InputSchema json.RawMessage `json:"input_schema"`
	Outcomes    []plan.Outcome  `json:"outcomes"`
	Signals     []plan.Port     `json:"signals"`
	Queries     []string        `json:"queries"`
}

type childRun struct {
	WorkflowID   string        `json:"workflow_id"`
	RunID        wire.Nullable `json:"run_id"`
	WorkflowType string        `json:"workflow_type"`
	Status       wire.Nullable `json:"status"`
	Step         string        `json:"step"`
}

type permit struct {
	Allowed bool          `json:"allowed"`
	Reason  wire.Nullable `json:"reason"`
}

func (a *API) describeRun(ctx context.Context, q *request) (answer, error) {
	d, err := a.Runs.Inspect(ctx, q.who, q.ref())
	if err != nil {
		return answer{}, err
	}
	out := toInspected(d)
	v, c, err := a.Deployments.DescribeVersion(ctx, q.who, d.WorkflowType, d.PackageID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound: // it was unloaded after the run had ended
	case err != nil:
		return answer{}, err
	default:
		out.Contract = &pinnedContract{
			InputSchema: c.Plan.InputSchema, Outcomes: list(c.Plan.Outcomes), Signals: list(c.Plan.Signals), Queries: machine.Queries(),
		}
		if v.DocumentPath != "" {
			out.Document = &pinnedDocument{v.DocumentPath, v.ContentHash}
		}
	}
	return answer{value: out}, nil
}

func toInspected(d runs.Inspection) inspected {
	out := inspected{
		Description: wire.DescriptionOf(d.Description), Generation: d.Generation, Generations: d.Generations, NextRunID: wire.Nullable(d.NextRunID),
		Labels: labels(d.Labels), StartedBy: d.StartedBy, EndedBy: wire.Nullable(d.EndedBy), DeadlineAt: wire.Stamp(d.Deadline),
		ScheduleID: wire.Nullable(d.ScheduleID), Input: wire.Bounded(d.Input, wire.MaxValue), Children: []childRun{}, ChildrenTotal: d.ChildrenTotal, Actions: map[string]permit{},
	}
	out.Unserved = make([]unservedStep, 0, len(d.Unserved))
	for i, step := range d.Unserved {
		out.Unserved = append(out.Unserved, unservedStep{out.Description.Unserved[i], wire.Nullable(step.Node), string(step.Unserved)})
	}
	if d.Parent != nil {
		out.ParentWorkflowID = wire.Nullable(d.Parent.WorkflowID)
	}
	if d.Paused != nil {
		out.Paused = &pausedBy{d.Paused.By, d.Paused.Reason, wire.Stamp(d.Paused.Since)}
	}
	for _, c := range d.Children {
		out.Children = append(out.Children, childRun{
			WorkflowID: string(c.WorkflowID), RunID: wire.Nullable(c.RunID), WorkflowType: c.WorkflowType, Status: wire.Nullable(c.Status), Step: c.Step,
		})
	}
	for _, p := range d.Permits {
		out.Actions[p.Action] = permit{p.Allowed, wire.Nullable(p.Reason)}
	}
	return out
}
