package httpapi

import (
	"context"

	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain/access"
	"aion/domain/history"
)

func (a *API) runChangeRoutes() []route {
	return []route{
		{method: "POST", path: runPath + "/signals", grant: namespaced, keyed: true, action: "run.signal", serve: a.signalRun, body: []string{
			"signal_name", "payload?", "signal_id?", "run_id?",
		}},
		{method: "POST", path: runPath + "/queries", grant: namespaced, serve: a.queryRun, body: []string{"query_name", "run_id?"}},
		{method: "POST", path: runPath + "/cancel", grant: namespaced, keyed: true, action: "run.cancel", serve: a.cancelRun, body: []string{"reason?", "run_id?"}},
		{method: "POST", path: runPath + "/pause", grant: namespaced, keyed: true, action: "run.pause", serve: a.hold(a.Runs.Pause), body: []string{"reason?", "run_id?"}},
		{method: "POST", path: runPath + "/resume", grant: namespaced, keyed: true, action: "run.resume", serve: a.hold(a.Runs.Resume), body: []string{"reason?", "run_id?"}},
		{method: "POST", path: runPath + "/reopen", grant: namespaced, keyed: true, action: "run.reopen", serve: a.hold(a.Runs.Reopen), body: []string{"reason", "run_id?"}},
	}
}

// bodyRef is the run that the path and the body name.
func (q *request) bodyRef() runs.Ref {
	return runs.Ref{Namespace: q.param("ns"), WorkflowID: q.param("wid"), RunID: q.body.text("run_id")}
}

type signalled struct {
	wire.Address
	SignalName string      `json:"signal_name"`
	SignalID   string      `json:"signal_id"`
	Delivered  bool        `json:"delivered"`
	HistorySeq history.Seq `json:"history_seq"`
}

func (a *API) signalRun(ctx context.Context, q *request) (answer, error) {
	req := runs.SignalRequest{
		Ref: q.bodyRef(), Name: q.body.text("signal_name"), Payload: q.body.payload("payload"), SignalID: q.body.text("signal_id"),
		IdempotencyKey: q.key,
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Runs.Signal(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return answer{replayed: got.Repeated, value: signalled{
		Address:    wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
		SignalName: req.Name, SignalID: got.SignalID, Delivered: true, HistorySeq: got.HistorySeq,
	}}, nil
}

type answered struct {
	wire.Address
	QueryName string      `json:"query_name"`
	Result    any         `json:"result"`
	AtSeq     history.Seq `json:"at_seq"`
}

func (a *API) queryRun(ctx context.Context, q *request) (answer, error) {
	req := runs.QueryRequest{Ref: q.bodyRef(), Name: q.body.text("query_name")}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Runs.Query(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return answer{value: answered{
		Address:   wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
		QueryName: req.Name, Result: wire.Bounded(got.Result, wire.Whole), AtSeq: got.AtSeq,
	}}, nil
}

type cancelled struct {
	wire.Address
	Cancelled  bool          `json:"cancelled"`
	Reason     wire.Nullable `json:"reason"`
	HistorySeq history.Seq   `json:"history_seq"`
}

func (a *API) cancelRun(ctx context.Context, q *request) (answer, error) {
	req := runs.CancelRequest{Ref: q.bodyRef(), Reason: q.body.free("reason"), IdempotencyKey: q.key}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Runs.Cancel(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return answer{replayed: got.Repeated, value: cancelled{
		Address:   wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
		Cancelled: true, Reason: wire.Nullable(req.Reason), HistorySeq: got.HistorySeq,
	}}, nil
}

type held struct {
	wire.Address
	Status     string       `json:"status"`
	Changed    bool         `json:"changed"`
	HistorySeq *history.Seq `json:"history_seq"` // null when nothing was recorded
}

// hold pauses, resumes or reopens.
func (a *API) hold(change func(context.Context, access.Caller, runs.HoldRequest) (runs.Held, error)) handler {
	return func(ctx context.Context, q *request) (answer, error) {
		req := runs.HoldRequest{Ref: q.bodyRef(), Reason: q.body.free("reason"), IdempotencyKey: q.key}
		if err := q.whole(); err != nil {
			return answer{}, err
		}
		got, err := change(ctx, q.who, req)
		if err != nil {
			return answer{}, err
		}
		out := held{
			Address: wire.Address{Namespace: req.Namespace, WorkflowID: string(got.WorkflowID), RunID: string(got.RunID)},
			Status:  string(got.Status), Changed: got.Changed,
		}
		if got.Changed {
			out.HistorySeq = &got.HistorySeq
		}
		return answer{value: out, replayed: got.Repeated}, nil
	}
}
