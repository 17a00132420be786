package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain/history"
)

type runPage struct {
	Namespace  string   `json:"namespace"`
	Runs       []run    `json:"runs"`
	NextCursor nullable `json:"next_cursor"`
}

type run struct {
	WorkflowID       string   `json:"workflow_id"`
	RunID            string   `json:"run_id"`
	WorkflowType     string   `json:"workflow_type"`
	Status           string   `json:"status"`
	StartedAt        stamp    `json:"started_at"`
	EndedAt          stamp    `json:"ended_at"`
	ParentWorkflowID nullable `json:"parent_workflow_id"`
}

func (s *Service) listRuns(ctx context.Context, call mcp.Call) (any, error) {
	a := call.Arguments
	req := runs.ListRequest{
		Namespace: a.Text("namespace"), WorkflowType: a.Text("workflow_type"),
		StartedAfter: a.Time("started_after"), StartedBefore: a.Time("started_before"), Limit: int(a.Int("limit")), Cursor: a.Text("cursor"),
	}
	if status := a.Text("status"); status != "" {
		req.Statuses = []history.Status{history.Status(status)}
	}
	read, err := s.runs.List(ctx, call.Caller, req)
	if err != nil {
		return nil, err
	}
	out := runPage{Namespace: string(read.Namespace), Runs: []run{}, NextCursor: nullable(read.NextCursor)}
	pageBytes, _ := s.bounds(a.Has("limit"))
	const frame = 600 // namespace and cursor at their longest
	fill := wire.NewPage(pageBytes, frame)
	for i, row := range read.Runs {
		entry, err := mcp.Encode(toRun(row))
		if err != nil {
			return nil, err
		}
		if !fill.Add(entry) {
			out.NextCursor = nullable(runs.CursorAfter(req, read.Runs[i-1].RunRow))
			break
		}
		out.Runs = append(out.Runs, toRun(row))
	}
	return out, nil
}

func toRun(row history.ListedRun) run {
	out := run{
		WorkflowID: string(row.WorkflowID), RunID: string(row.RunID), WorkflowType: row.WorkflowType, Status: string(row.Status),
		StartedAt: stamp(row.StartedAt), EndedAt: stamp(row.EndedAt),
	}
	if row.Parent != nil {
		out.ParentWorkflowID = nullable(row.Parent.WorkflowID)
	}
	return out
}
