package runs

import (
	"context"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
	"aion/domain/transcript"
	"aion/domain/worker"
)

// How much describe lists.
const (
	listedSteps       = 50
	listedTranscripts = 200
)

// Describe shows where one run stands: a projection of what is committed at the time of the call.
func (s *Service) Describe(ctx context.Context, who access.Caller, req Ref) (Description, error) {
	l, err := s.locate(ctx, who, req)
	if err != nil {
		return Description{}, err
	}
	var d Description
	judge := s.judge(ctx)
	names := map[int64]string{}
	var heads []transcript.Head
	// A stream that began between the two readings belongs to what the second one shows, so both are read again: once
	// while the run goes on, and until none is missing once it has ended.
	for tries, seen := 0, -1; tries < 2 || d.Status.Terminal(); tries++ {
		if heads, err = s.Transcripts.Heads(ctx, l.id, l.row.RunID); err != nil || len(heads) <= seen {
			break
		}
		seen = len(heads)
		err = s.Reader.Run(ctx, l.row, func(v engine.View) error {
			d = s.describe(v, judge)
			for _, h := range heads {
				names[h.Key.ActivityID] = v.Run.Attempt(h.Key.ActivityID, h.Key.Attempt).ActivityType
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	if err != nil {
		return Description{}, err
	}
	d.IsLatestRun = l.latest
	d.TranscriptsOmitted = max(len(heads)-listedTranscripts, 0)
	d.Transcripts = handles(heads[d.TranscriptsOmitted:], names)
	return d, nil
}

func (s *Service) describe(v engine.View, unserved judge) Description {
	row := v.Run.Row()
	d := Description{Summary: summary(row, v.Run.Result(), v.Run.Failure()), PausedReason: row.PausedReason, HeadSeq: v.Run.Head(), Live: v.State != nil && !v.Run.Ended()}
	if current, ok := v.Run.Current(); ok {
		step := openStep(current)
		d.CurrentStep = &step
	}
	for _, a := range v.Run.Open() {
		if len(d.OpenSteps) < listedSteps {
			d.OpenSteps = append(d.OpenSteps, openStep(a))
		}
		if a.Started || len(d.Unserved) >= listedSteps {
			continue
		}
		if why := unserved(row.Namespace, v.Contract, a); why != worker.Served {
			step := openStep(a)
			step.Unserved = why
			d.Unserved = append(d.Unserved, step)
		}
	}
	d.WaitingOn = waits(v)
	return d
}

// judge tells why nothing could take an open activity now.
type judge = func(domain.Namespace, *deployment.Contract, run.Activity) worker.Reason

func (s *Service) judge(ctx context.Context) judge {
	if s.Unserved != nil {
		return s.Unserved(ctx)
	}
	return func(_ domain.Namespace, c *deployment.Contract, a run.Activity) worker.Reason {
		if c != nil && s.Served(c, a.TaskQueue, a.Type) {
			return worker.Served
		}
		return worker.NoWorker
	}
}

func openStep(a run.Activity) OpenStep {
	state := "scheduled"
	if a.Started {
		state = "started"
	}
	return OpenStep{ActivityID: a.ID, ActivityType: a.Type, Attempt: a.Attempt, Step: a.Step, TaskQueue: a.TaskQueue, Node: a.Node, State: state, Since: a.Since}
}

// waits lists what the run waits for besides activities. Without a folded state the waits for signals are not known: they
// are no events.
func waits(v engine.View) []Wait {
	var out []Wait
	if v.State != nil {
		for _, w := range v.State.Waits() {
			name := w.Name
			if w.Kind == machine.WaitTimer {
				name = "sleep"
			}
			out = append(out, Wait{Kind: w.Kind, Name: name, Since: w.Since, DueAt: w.DueAt})
			if len(out) == listedSteps {
				break
			}
		}
		return out
	}
	for _, t := range v.Run.Timers() {
		if t.Purpose == "sleep" && len(out) < listedSteps {
			out = append(out, Wait{Kind: machine.WaitTimer, Name: "sleep", Since: t.Since, DueAt: t.FireAt})
		}
	}
	for _, c := range v.Run.Children() {
		if len(out) < listedSteps {
			out = append(out, Wait{Kind: machine.WaitChild, Name: c.WorkflowType, Since: c.Since})
		}
	}
	return out
}

func handles(heads []transcript.Head, names map[int64]string) []TranscriptHandle {
	out := make([]TranscriptHandle, 0, len(heads))
	for _, h := range heads {
		out = append(out, TranscriptHandle{Key: h.Key, ActivityType: names[h.Key.ActivityID], HeadSeq: h.Head})
	}
	return out
}

// summary shows a run from its projection. A success route completes a run and a failure route fails it, so the route
// follows from the status.
func summary(row history.RunRow, result domain.Payload, failure *history.Failure) Summary {
	s := Summary{
		Namespace: row.Namespace, WorkflowID: row.WorkflowID, RunID: row.RunID, WorkflowType: row.WorkflowType,
		PackageID: row.PackageVersion, Status: row.Status, StartedAt: row.StartedAt, EndedAt: row.EndedAt, Outcome: row.Outcome, Result: result,
		Failure: failure, PreviousRunID: row.PreviousRunID, Parent: row.Parent, Labels: row.Labels, ScheduleID: row.ScheduleID,
	}
	if row.Outcome != "" {
		s.Route = plan.Success
		if row.Status == history.Failed {
			s.Route = plan.Failure
		}
	}
	return s
}
