package cli

import (
	"context"
	"encoding/json"
	"time"

	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
)

// host is where one run is followed and cancelled: the engine of this process, or a server.
type host interface {
	// events gives every event from a seq on, until the chain has ended.
	events(ctx context.Context, id string, from history.Seq, each func(history.Recorded) error) error
	// lines gives the transcript of one attempt from a position on, until the attempt has ended.
	lines(ctx context.Context, k domain.AttemptKey, from int64, each func(transcript.Record) error) error
	// describe tells what the run waits for: WaitingOn and Unserved.
	describe(ctx context.Context, id string) (runs.Description, error)
	// outcome is how the chain ended: the outcome as JSON, and its status.
	outcome(ctx context.Context, id string) (text []byte, status history.Status, err error)
	cancel(ctx context.Context, id, reason string) error
}

// begun is the run that a command follows.
type begun struct {
	id     string
	at     time.Time
	status history.Status
}

// own is the engine of this process.
type own struct{ *Engine }

func (o own) ref(id string) runs.Ref { return runs.Ref{Namespace: o.Namespace, WorkflowID: id} }

func (o own) events(ctx context.Context, id string, from history.Seq, each func(history.Recorded) error) error {
	return o.Runs.Follow(ctx, operator(), runs.HistoryRequest{Namespace: o.Namespace, WorkflowID: id, FromSeq: from}, each)
}

func (o own) lines(ctx context.Context, k domain.AttemptKey, from int64, each func(transcript.Record) error) error {
	return o.Transcripts.Follow(ctx, operator(), transcripts.ReadRequest{
		Namespace: o.Namespace, WorkflowID: string(k.WorkflowID), RunID: string(k.RunID), ActivityID: k.ActivityID, Attempt: k.Attempt, FromSeq: from,
	}, each)
}

func (o own) describe(ctx context.Context, id string) (runs.Description, error) {
	return o.Runs.Describe(ctx, operator(), o.ref(id))
}

func (o own) outcome(ctx context.Context, id string) ([]byte, history.Status, error) {
	ended, err := o.Runs.Latest(ctx, operator(), o.ref(id))
	if err != nil {
		return nil, "", err
	}
	text, err := marshal(outcomeOf(ended))
	return json.RawMessage(text), ended.Status, err
}

func (o own) cancel(ctx context.Context, id, reason string) error {
	_, err := o.Runs.Cancel(ctx, operator(), runs.CancelRequest{Ref: o.ref(id), Reason: reason})
	return err
}
