package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// Signal records a signal durably and tells where it stands in history. The name must be declared and the payload must
// fit. A signal id that the workflow has seen is acknowledged again and recorded once.
func (s *Service) Signal(ctx context.Context, who access.Caller, req SignalRequest) (Signalled, error) {
	answer, err := s.deliver(ctx, who, req)
	if s.Meter != nil {
		s.Meter.Signalled(resultOf(err))
	}
	return answer, err
}

func (s *Service) deliver(ctx context.Context, who access.Caller, req SignalRequest) (Signalled, error) {
	l, err := s.locate(ctx, who, req.Ref)
	if err != nil {
		return Signalled{}, err
	}
	if err := s.fits("payload", req.Payload); err != nil {
		return Signalled{}, err
	}
	if utf8.RuneCountInString(req.SignalID) > maxKey {
		return Signalled{}, invalid(fmt.Sprintf("signal_id has more than %d characters; pass a shorter one", maxKey))
	}
	key, err := keyedBy(who, l, "signal", req.IdempotencyKey, req.Name, canonical(req.Payload), req.SignalID)
	if err != nil {
		return Signalled{}, err
	}
	given := req.SignalID != ""
	if !given {
		req.SignalID = s.IDs.UUIDv7()
	}
	var answer Signalled
	done, err := s.change(ctx, l, key, func(v engine.View) (engine.Change, error) {
		r, err := l.live(v)
		if err != nil {
			return engine.Change{}, err
		}
		if v.State == nil || v.Contract == nil {
			return engine.Change{}, r.NoLiveExecution()
		}
		payload, err := v.Contract.AcceptSignal(req.Name, req.Payload)
		if err != nil {
			return engine.Change{}, err
		}
		answer = Signalled{WorkflowID: l.id, RunID: r.ID(), SignalID: req.SignalID}
		if given && v.State.SignalSeen(req.SignalID) {
			return engine.Change{}, nil
		}
		if v.State.PendingSignals() >= s.Limits.PendingSignals {
			return engine.Change{}, s.pending(l.id)
		}
		audit := who.Audit("run.signal", l.namespace, string(l.id))
		audit.Detail = domain.AuditDetail(map[string]any{"run_id": string(r.ID()), "signal_name": req.Name, "payload_bytes": len(payload)})
		return engine.Change{Audit: audit, Facts: []history.Event{history.SignalReceived{
			SignalID: req.SignalID, SignalName: req.Name, Payload: payload,
			SentBy: who.Subject,
		}}}, nil
	})
	if err != nil {
		return Signalled{}, err
	}
	if done.repeated {
		return repeatedSignal(l.id, done.first)
	}
	if done.first.Seq > 0 {
		answer.HistorySeq = done.first.Seq
		return answer, nil
	}
	answer.HistorySeq, answer.RunID, err = s.recordedSignal(ctx, l.id, req.SignalID)
	return answer, err
}

// repeatedSignal acknowledges again what an earlier request with the same key has recorded.
func repeatedSignal(id domain.WorkflowID, r history.Recorded) (Signalled, error) {
	ev, err := r.Event()
	if err != nil {
		return Signalled{}, err
	}
	signal, _ := ev.(history.SignalReceived)
	return Signalled{WorkflowID: id, RunID: r.RunID, SignalID: signal.SignalID, HistorySeq: r.Seq, Repeated: true}, nil
}

func (s *Service) pending(id domain.WorkflowID) error {
	return &domain.Error{
		Code: domain.CodeResourceExhausted, Type: "PendingSignals",
		Message: fmt.Sprintf("workflow %s has %d signals that it has not taken yet (limits.pending_signals); wait until it takes some",
			id, s.Limits.PendingSignals),
	}
}

// recordedSignal finds the event of a signal that was delivered before.
func (s *Service) recordedSignal(ctx context.Context, id domain.WorkflowID, signalID string) (history.Seq, domain.RunID, error) {
	needle := domain.AppendText(nil, signalID)
	for from := history.Seq(1); ; {
		page, err := s.Events.History(ctx, id, from, walkPortion)
		if err != nil {
			return 0, "", err
		}
		for _, rec := range page {
			if rec.Type != (history.SignalReceived{}).Type() || !bytes.Contains(rec.Data, needle) {
				continue
			}
			if ev, err := rec.Event(); err == nil && ev.(history.SignalReceived).SignalID == signalID {
				return rec.Seq, rec.RunID, nil
			}
		}
		if len(page) < walkPortion {
			return 0, "", &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: "the signal is known but its event is not found"}
		}
		from = page[len(page)-1].Seq + 1
	}
}

// decodeExact reads one JSON value and keeps its numbers.
func decodeExact(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
