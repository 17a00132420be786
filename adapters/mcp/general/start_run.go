package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
)

type started struct {
	wire.Address
	WorkflowType string `json:"workflow_type"`
	PackageID    string `json:"package_id"`
	wire.Ending
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
		Address:      wire.Address{Namespace: string(run.Namespace), WorkflowID: string(run.WorkflowID), RunID: string(run.RunID)},
		WorkflowType: run.WorkflowType, PackageID: run.PackageID, Ending: wire.EndingOf(run),
	}
}
