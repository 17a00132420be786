package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/application/runs"
	"aion/domain/history"
)

type description struct {
	address
	IsLatestRun   bool         `json:"is_latest_run"`
	PreviousRunID nullable     `json:"previous_run_id"`
	Parent        *parent      `json:"parent"`
	WorkflowType  string       `json:"workflow_type"`
	PackageID     string       `json:"package_id"`
	PausedReason  nullable     `json:"paused_reason"`
	CurrentStep   *openStep    `json:"current_step"`
	OpenSteps     []openStep   `json:"open_steps"`
	WaitingOn     []wait       `json:"waiting_on"`
	Unserved      []openStep   `json:"unserved"`
	Transcripts   []transcript `json:"transcripts"`
	Omitted       int          `json:"transcripts_omitted"`
	HistoryHead   history.Seq  `json:"history_head_seq"`
	ending
}

type parent struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}

type openStep struct {
	ActivityID   int64  `json:"activity_id"`
	ActivityType string `json:"activity_type"`
	Attempt      int    `json:"attempt"`
	Step         string `json:"step"`
	TaskQueue    string `json:"task_queue"`
	State        string `json:"state"`
	Since        stamp  `json:"since"`
}

type wait struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Since stamp  `json:"since"`
	DueAt stamp  `json:"due_at"`
}

type transcript struct {
	address
	ActivityID   int64  `json:"activity_id"`
	Attempt      int    `json:"attempt"`
	ActivityType string `json:"activity_type"`
	HeadSeq      int64  `json:"head_seq"`
}

func ref(call mcp.Call) runs.Ref {
	a := call.Arguments
	return runs.Ref{Namespace: a.Text("namespace"), WorkflowID: a.Text("workflow_id"), RunID: a.Text("run_id")}
}

func (s *Service) describeRun(ctx context.Context, call mcp.Call) (any, error) {
	d, err := s.runs.Describe(ctx, call.Caller, ref(call))
	if err != nil {
		return nil, err
	}
	out := description{
		address:     address{Namespace: string(d.Namespace), WorkflowID: string(d.WorkflowID), RunID: string(d.RunID)},
		IsLatestRun: d.IsLatestRun, PreviousRunID: nullable(d.PreviousRunID), WorkflowType: d.WorkflowType, PackageID: d.PackageID,
		PausedReason: nullable(d.PausedReason), OpenSteps: toOpenSteps(d.OpenSteps), WaitingOn: []wait{}, Unserved: toOpenSteps(d.Unserved),
		Transcripts: []transcript{}, Omitted: d.TranscriptsOmitted, HistoryHead: d.HeadSeq, ending: toEnding(d.Summary),
	}
	if d.Parent != nil {
		out.Parent = &parent{WorkflowID: string(d.Parent.WorkflowID), RunID: string(d.Parent.RunID)}
	}
	if d.CurrentStep != nil {
		current := toOpenSteps([]runs.OpenStep{*d.CurrentStep})[0]
		out.CurrentStep = &current
	}
	for _, w := range d.WaitingOn {
		out.WaitingOn = append(out.WaitingOn, wait{Kind: w.Kind, Name: w.Name, Since: stamp(w.Since), DueAt: stamp(w.DueAt)})
	}
	return out, s.listTranscripts(&out, d.Transcripts)
}

// listTranscripts keeps the newest handles that fit a default page beside the other members; the result of the run has
// its own bound.
func (s *Service) listTranscripts(out *description, handles []runs.TranscriptHandle) error {
	frame, err := mcp.Encode(out)
	if err != nil {
		return err
	}
	room := newPage(maxPageDefault, len(frame)-len(out.Result))
	first := len(handles)
	for first > 0 {
		full, err := room.add(toTranscript(out.Namespace, handles[first-1]))
		if err != nil {
			return err
		}
		if full {
			break
		}
		first--
	}
	for _, handle := range handles[first:] {
		out.Transcripts = append(out.Transcripts, toTranscript(out.Namespace, handle))
	}
	out.Omitted += first
	return nil
}

func toTranscript(namespace string, h runs.TranscriptHandle) transcript {
	return transcript{
		address:    address{Namespace: namespace, WorkflowID: string(h.Key.WorkflowID), RunID: string(h.Key.RunID)},
		ActivityID: h.Key.ActivityID, Attempt: h.Key.Attempt, ActivityType: h.ActivityType, HeadSeq: h.HeadSeq,
	}
}

func toOpenSteps(steps []runs.OpenStep) []openStep {
	out := make([]openStep, 0, len(steps))
	for _, step := range steps {
		out = append(out, openStep{
			ActivityID: step.ActivityID, ActivityType: step.ActivityType, Attempt: step.Attempt, Step: step.Step,
			TaskQueue: step.TaskQueue, State: step.State, Since: stamp(step.Since),
		})
	}
	return out
}
