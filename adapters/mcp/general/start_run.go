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
	got, err := s.runs.Start(ctx, call.Caller, startRequest(call.Arguments))
	if err != nil {
		return nil, err
	}
	return toStarted(got.Run), nil
}

func toStarted(run runs.Summary) started {
	return started{
		address:      address{Namespace: string(run.Namespace), WorkflowID: string(run.WorkflowID), RunID: string(run.RunID)},
		WorkflowType: run.WorkflowType, PackageID: run.PackageID, ending: toEnding(run),
	}
}
