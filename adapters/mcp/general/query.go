package general

import (
	"context"
	"encoding/json"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
)

type answer struct {
	wire.Address
	QueryName string          `json:"query_name"`
	Result    json.RawMessage `json:"result"`
}

func (s *Service) query(ctx context.Context, call mcp.Call) (any, error) {
	req := runs.QueryRequest{Ref: ref(call), Name: call.Arguments.Text("query_name")}
	got, err := s.runs.Query(ctx, call.Caller, req)
	if err != nil {
		return nil, err
	}
	return answer{
		Address:   wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
		QueryName: req.Name, Result: wire.Bounded(got.Result, wire.MaxValue),
	}, nil
}
