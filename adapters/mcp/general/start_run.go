package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/application/runs"
)

type started struct {
	address
	WorkflowType string `json:"workflow_type"`
	PackageID    string `json:"package_id"`
	ending
}

func (s *Service) startRun(ctx context.Context, call mcp.Call) (any, error) {
	a := call.Arguments
	got, err := s.runs.Start(ctx, call.Caller, runs.StartRequest{
		Namespace: a.Text("namespace"), WorkflowType: a.Text("workflow_type"), Input: a["input"], IdempotencyKey: a.Text("idempotency_key"),
	})
	if err != nil {
		return nil, err
	}
	return started{
		address:      address{Namespace: string(got.Run.Namespace), WorkflowID: string(got.Run.WorkflowID), RunID: string(got.Run.RunID)},
		WorkflowType: got.Run.WorkflowType, PackageID: got.Run.PackageID, ending: toEnding(got.Run),
	}, nil
}
