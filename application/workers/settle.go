package workers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/worker"
)

// Settled is the answer to a verdict. Duplicate says that it was recorded before.
type Settled struct {
	Duplicate bool
	RetryAt   time.Time // of a failure: when the next attempt follows; zero: none does
}

// verdictTries is how often a verdict is put again after the lease was found changed.
const verdictTries = 3

// Complete records the result of a task. One that does not fit its declared type fails the attempt for good, and is refused
// with the findings.
func (s *Service) Complete(ctx context.Context, who access.Caller, task, token string, result domain.Payload) (Settled, error) {
	if len(result) > s.MaxPayload {
		return Settled{}, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "PayloadTooLarge",
			Message: fmt.Sprintf("the result has %d bytes and may have %d (limits.payload_bytes); store it elsewhere and return where", len(result), s.MaxPayload),
		}
	}
	l, err := s.lease(ctx, who, task, token)
	if err != nil {
		return Settled{}, err
	}
	dispatch, version, err := s.declared(ctx, l)
	if err != nil {
		return Settled{}, err
	}
	var verdict action.Verdict = action.Completed{Result: result}
	if v := s.version(ctx, version); v != nil && dispatch.Name != "" {
		verdict = v.JudgeResult(dispatch.TaskQueue, dispatch.Name, result)
	}
	digest := digest("complete", result)
	if f, misfit := verdict.(action.Failed); misfit {
		settled, err := s.settle(ctx, l, verdict, misfits+digest)
		if err == nil {
			err = resultInvalid(f.Message)
		}
		return settled, err
	}
	if l.Verdict == misfits+digest { // the attempt is over, so what it was of is not read any more
		return Settled{Duplicate: true}, resultInvalid("the result does not fit its declared type")
	}
	return s.settle(ctx, l, verdict, digest)
}

// misfits begins the digest of a result that did not fit.
const misfits = "misfit "

func resultInvalid(why string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "ResultInvalid", Message: why + "; the attempt has failed with that, so go on with the next task",
		Details: map[string]any{"errors": []map[string]any{{"pointer": "/result", "message": why}}},
	}
}

// Failure is what a worker says of an attempt that failed.
type Failure struct {
	Class   action.Class // retryable, terminal or policy_refused
	Code    string       // empty: worker_error
	Message string
	Details domain.Payload
}

// Fail records the failure of a task.
func (s *Service) Fail(ctx context.Context, who access.Caller, task, token string, f Failure) (Settled, error) {
	l, err := s.lease(ctx, who, task, token)
	if err != nil {
		return Settled{}, err
	}
	if f.Code == "" {
		f.Code = action.CodeWorkerError
	}
	verdict := action.Fail(f.Class, f.Code, f.Message, nil)
	verdict.Details = f.Details
	return s.settle(ctx, l, verdict, digest("fail", []byte(f.Class), []byte(f.Code), []byte(f.Message), f.Details))
}

// digest tells verdicts apart.
func digest(kind string, parts ...[]byte) string {
	h := sha256.New()
	text, _ := json.Marshal(append([][]byte{[]byte(kind)}, parts...)) // bytes have an encoding
	_, _ = h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// declared gives what an open attempt is of, and its version. Of one that is over the name is empty.
func (s *Service) declared(ctx context.Context, l history.Lease) (action.Dispatch, string, error) {
	g := Given{Lease: l}
	if err := s.describe(ctx, &g); err != nil {
		return action.Dispatch{}, "", err
	}
	dispatch, _ := s.Attempts.Runs(ctx, l)
	return dispatch, g.Version, nil
}

// settle records a verdict, once: the same one gets the same answer again.
func (s *Service) settle(ctx context.Context, l history.Lease, verdict action.Verdict, digest string) (Settled, error) {
	for range verdictTries {
		switch {
		case l.State == history.LeaseEnded && l.End == history.LeaseSettled && l.Verdict == digest:
			return Settled{Duplicate: true, RetryAt: l.RetryAt}, nil
		case l.State == history.LeaseEnded && l.End == history.LeaseSettled:
			return Settled{}, worker.AlreadySettled()
		case l.State != history.LeaseHeld:
			return Settled{}, s.lost(ctx, l)
		}
		over := history.LeaseOver{Hash: l.Hash, End: history.LeaseSettled, Verdict: digest}
		receipt, err := s.Engine.Do(ctx, l.Key.WorkflowID, s.Attempts.Settles(l.Claim(), verdict, over))
		if err == nil && len(receipt.Events) > 0 {
			s.dropProgress(l.TaskID)
			s.Attempts.Ended(verdict, receipt.Events[0].At.Sub(l.GrantedAt))
			s.Wake()
			return Settled{RetryAt: retryOf(receipt.Events[0])}, nil
		}
		if err != nil && domain.TypeOf(err) != "ClaimLost" {
			return Settled{}, err
		}
		if l, err = s.again(ctx, l); err != nil {
			return Settled{}, err
		}
	}
	return Settled{}, s.lost(ctx, l)
}

// again reads a lease whose verdict was not taken.
func (s *Service) again(ctx context.Context, l history.Lease) (history.Lease, error) {
	found, err := s.Store.Leases(ctx, l.TaskID)
	if err != nil {
		return l, err
	}
	for _, other := range found {
		if other.Hash == l.Hash {
			l = other
		}
	}
	if l.State != history.LeaseHeld {
		return l, nil
	}
	return s.ended(ctx, l)
}

func retryOf(e history.Recorded) time.Time {
	ev, err := e.Event()
	if f, ok := ev.(history.ActivityFailed); ok && err == nil {
		return f.RetryAt
	}
	return time.Time{}
}

func (s *Service) dropProgress(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.progress, task)
}
