package wire

import (
	"encoding/json"

	"aion/application/runs"
	"aion/domain/history"
)

// Address names a run.
type Address struct {
	Namespace  string `json:"namespace"`
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}

// AddressOf is the address of a run.
func AddressOf(s runs.Summary) Address {
	return Address{Namespace: string(s.Namespace), WorkflowID: string(s.WorkflowID), RunID: string(s.RunID)}
}

// Failure is why a run failed.
type Failure struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Step       Nullable `json:"step"`
	ActivityID *int64   `json:"activity_id"`
}

func toFailure(f *history.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Code: f.Code, Message: f.Message, Step: Nullable(f.Step), ActivityID: f.ActivityID}
}

// Ending is how a run stands, the members that several answers share.
type Ending struct {
	Status    string          `json:"status"`
	StartedAt Stamp           `json:"started_at"`
	EndedAt   Stamp           `json:"ended_at"`
	Outcome   Nullable        `json:"outcome"`
	Result    json.RawMessage `json:"result"`
	Failure   *Failure        `json:"failure"`
}

// EndingOf is how a run stands; a result over MaxValue is cut.
func EndingOf(r runs.Summary) Ending {
	return Ending{
		Status: string(r.Status), StartedAt: Stamp(r.StartedAt), EndedAt: Stamp(r.EndedAt),
		Outcome: Nullable(r.Outcome), Result: Bounded(r.Result, MaxValue), Failure: toFailure(r.Failure),
	}
}

// Description is everything that a surface shows of where one run stands.
type Description struct {
	Address
	IsLatestRun   bool         `json:"is_latest_run"`
	PreviousRunID Nullable     `json:"previous_run_id"`
	Parent        *Parent      `json:"parent"`
	WorkflowType  string       `json:"workflow_type"`
	PackageID     string       `json:"package_id"`
	PausedReason  Nullable     `json:"paused_reason"`
	CurrentStep   *OpenStep    `json:"current_step"`
	OpenSteps     []OpenStep   `json:"open_steps"`
	WaitingOn     []Wait       `json:"waiting_on"`
	Unserved      []OpenStep   `json:"unserved"`
	Transcripts   []Transcript `json:"transcripts"`
	Omitted       int          `json:"transcripts_omitted"`
	HistoryHead   history.Seq  `json:"history_head_seq"`
	Ending
}

// Parent is the run that started a child.
type Parent struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}

// OpenStep is an open activity.
type OpenStep struct {
	ActivityID   int64  `json:"activity_id"`
	ActivityType string `json:"activity_type"`
	Attempt      int    `json:"attempt"`
	Step         string `json:"step"`
	TaskQueue    string `json:"task_queue"`
	State        string `json:"state"`
	Since        Stamp  `json:"since"`
}

// Wait is what a run waits for besides activities.
type Wait struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Since Stamp  `json:"since"`
	DueAt Stamp  `json:"due_at"`
}

// Transcript is the handle of a stored stream.
type Transcript struct {
	Address
	ActivityID   int64  `json:"activity_id"`
	Attempt      int    `json:"attempt"`
	ActivityType string `json:"activity_type"`
	HeadSeq      int64  `json:"head_seq"`
}

// DescriptionOf shows a description with all of its transcripts.
func DescriptionOf(d runs.Description) Description {
	out := Description{
		Address: AddressOf(d.Summary), IsLatestRun: d.IsLatestRun, PreviousRunID: Nullable(d.PreviousRunID),
		WorkflowType: d.WorkflowType, PackageID: d.PackageID, PausedReason: Nullable(d.PausedReason), OpenSteps: toOpenSteps(d.OpenSteps),
		WaitingOn: []Wait{}, Unserved: toOpenSteps(d.Unserved), Transcripts: []Transcript{}, Omitted: d.TranscriptsOmitted,
		HistoryHead: d.HeadSeq, Ending: EndingOf(d.Summary),
	}
	if d.Parent != nil {
		out.Parent = &Parent{WorkflowID: string(d.Parent.WorkflowID), RunID: string(d.Parent.RunID)}
	}
	if d.CurrentStep != nil {
		current := toOpenSteps([]runs.OpenStep{*d.CurrentStep})[0]
		out.CurrentStep = &current
	}
	for _, w := range d.WaitingOn {
		out.WaitingOn = append(out.WaitingOn, Wait{Kind: w.Kind, Name: w.Name, Since: Stamp(w.Since), DueAt: Stamp(w.DueAt)})
	}
	for _, h := range d.Transcripts {
		out.Transcripts = append(out.Transcripts, TranscriptOf(out.Namespace, h))
	}
	return out
}

// TranscriptOf is the handle of a stream in its namespace.
func TranscriptOf(namespace string, h runs.TranscriptHandle) Transcript {
	return Transcript{
		Address:    Address{Namespace: namespace, WorkflowID: string(h.Key.WorkflowID), RunID: string(h.Key.RunID)},
		ActivityID: h.Key.ActivityID, Attempt: h.Key.Attempt, ActivityType: h.ActivityType, HeadSeq: h.HeadSeq,
	}
}

func toOpenSteps(steps []runs.OpenStep) []OpenStep {
	out := make([]OpenStep, 0, len(steps))
	for _, step := range steps {
		out = append(out, OpenStep{
			ActivityID: step.ActivityID, ActivityType: step.ActivityType, Attempt: step.Attempt, Step: step.Step,
			TaskQueue: step.TaskQueue, State: step.State, Since: Stamp(step.Since),
		})
	}
	return out
}
