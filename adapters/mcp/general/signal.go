package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain/history"
)

type signalled struct {
	wire.Address
	SignalName string      `json:"signal_name"`
	Delivered  bool        `json:"delivered"`
	HistorySeq history.Seq `json:"history_seq"`
}

func (s *Service) signal(ctx context.Context, call mcp.Call) (any, error) {
	req := runs.SignalRequest{Ref: ref(call), Name: call.Arguments.Text("signal_name"), Payload: call.Arguments["payload"]}
	got, err := s.runs.Signal(ctx, call.Caller, req)
	if err != nil {
		return nil, err
	}
	return signalled{
		Address:    wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
		SignalName: req.Name, Delivered: true, HistorySeq: got.HistorySeq,
	}, nil
}
