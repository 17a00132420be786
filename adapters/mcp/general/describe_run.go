package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
)

func ref(call mcp.Call) runs.Ref {
	a := call.Arguments
	return runs.Ref{Namespace: a.Text("namespace"), WorkflowID: a.Text("workflow_id"), RunID: a.Text("run_id")}
}

func (s *Service) describeRun(ctx context.Context, call mcp.Call) (any, error) {
	d, err := s.runs.Describe(ctx, call.Caller, ref(call))
	if err != nil {
		return nil, err
	}
	out := wire.DescriptionOf(d)
	return out, fitTranscripts(&out)
}

// fitTranscripts keeps the newest handles that fit a default page beside the other members; the result of the run has its
// own bound.
func fitTranscripts(out *wire.Description) error {
	handles := out.Transcripts
	out.Transcripts = []wire.Transcript{}
	frame, err := mcp.Encode(out)
	if err != nil {
		return err
	}
	room := wire.NewPage(maxPageDefault, len(frame)-len(out.Result))
	first := len(handles)
	for first > 0 {
		entry, err := mcp.Encode(handles[first-1])
		if err != nil {
			return err
		}
		if !room.Add(entry) {
			break
		}
		first--
	}
	out.Transcripts = append(out.Transcripts, handles[first:]...)
	out.Omitted += first
	return nil
}
