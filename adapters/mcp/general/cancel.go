package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
)

type cancelled struct {
	wire.Address
	Cancelled bool    `json:"cancelled"`
	Reason    *string `json:"reason"`
}

func (s *Service) cancel(ctx context.Context, call mcp.Call) (any, error) {
	req := runs.CancelRequest{Ref: ref(call), Reason: call.Arguments.Text("reason")}
	got, err := s.runs.Cancel(ctx, call.Caller, req)
	if err != nil {
		return nil, err
	}
	out := cancelled{Address: wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)}, Cancelled: true}
	if call.Arguments.Has("reason") {
		out.Reason = &req.Reason
	}
	return out, nil
}
