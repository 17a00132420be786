package runs

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
)

// listedChildren is how many children an inspection lists.
const listedChildren = 50

// Inspection is a description with what the history tells besides: the whole view of one run.
type Inspection struct {
	Description
	Generation    int
	Generations   int          // of the chain
	NextRunID     domain.RunID // empty: this is the last
	StartedBy     string
	EndedBy       string     // who cancelled it; else empty
	Paused        *run.Pause // nil: nobody holds it
	Deadline      time.Time  // when the timeout of the workflow fires; zero: never
	Input         domain.Payload
	Children      []InspectedChild // the first 50
	ChildrenTotal int
	Permits       []Permit
}

// InspectedChild is a child with where its latest run stands; RunID and Status are empty before it has begun.
type InspectedChild struct {
	run.ChildAccount
	RunID  domain.RunID
	Status history.Status
}

// Permit tells whether a caller who may see the run can do something to it now, and why not.
type Permit struct {
	Action  string // signal, query, cancel, pause, resume or reopen
	Allowed bool
	Reason  string // empty when it is allowed
}

// Inspect shows everything that is known of one run.
func (s *Service) Inspect(ctx context.Context, who access.Caller, ref Ref) (Inspection, error) {
	d, err := s.Describe(ctx, who, ref)
	if err != nil {
		return Inspection{}, err
	}
	rows, err := s.Index.RunsIn(ctx, d.Namespace, d.WorkflowID)
	if err != nil {
		return Inspection{}, err
	}
	out := Inspection{Description: d, Generations: len(rows)}
	for i, row := range rows {
		if row.RunID != d.RunID {
			continue
		}
		out.Generation = row.Generation
		if i+1 < len(rows) {
			out.NextRunID = rows[i+1].RunID
		}
		a, err := s.account(ctx, row, d.HeadSeq)
		if err != nil {
			return Inspection{}, err
		}
		out.StartedBy, out.EndedBy, out.Paused = a.Started.StartedBy, a.EndedBy, a.Pause
		out.Deadline, out.Input = a.Deadline, a.Started.Input
		reopen, err := s.unreopenable(ctx, row)
		if err != nil {
			return Inspection{}, err
		}
		out.Permits = permits(d, reopen)
		out.ChildrenTotal = len(a.Children)
		out.Children, err = s.children(ctx, a.Children[:min(len(a.Children), listedChildren)])
		return out, err
	}
	return Inspection{}, run.NotFound(d.WorkflowID, d.RunID)
}

// goesOn is why nothing can be done to a generation that another one follows.
const goesOn = "the workflow goes on in a later run"

func (s *Service) children(ctx context.Context, list []run.ChildAccount) ([]InspectedChild, error) {
	out := make([]InspectedChild, 0, len(list))
	for _, c := range list {
		rows, err := s.Index.Runs(ctx, c.WorkflowID)
		if err != nil {
			return nil, err
		}
		child := InspectedChild{ChildAccount: c}
		if len(rows) > 0 {
			child.RunID, child.Status = rows[len(rows)-1].RunID, rows[len(rows)-1].Status
		}
		out = append(out, child)
	}
	return out, nil
}

// permits judges what can be done to a run by where it stands. reopen says why it cannot be reopened.
func permits(d Description, reopen string) []Permit {
	over := ""
	switch {
	case d.Status == history.ContinuedAsNew:
		over = goesOn
	case d.Status.Terminal():
		over = "the run has ended"
	}
	live := over
	if live == "" && !d.Live {
		live = "its plan is not loaded"
	}
	pause, resume := over, live
	if pause == "" && d.Status == history.Paused {
		pause = "it is paused already"
	}
	if resume == "" && d.Status != history.Paused {
		resume = "it is not paused"
	}
	if pause == "" {
		pause = live
	}
	list := []Permit{
		{Action: "signal", Reason: live},
		{Action: "query", Reason: live},
		{Action: "cancel", Reason: over},
		{Action: "pause", Reason: pause},
		{Action: "resume", Reason: resume},
		{Action: "reopen", Reason: reopen},
	}
	for i := range list {
		list[i].Allowed = list[i].Reason == ""
	}
	return list
}
