package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// keyed is a change of a workflow under an idempotency key; without a key it is kept nowhere.
type keyed struct {
	scope, key, request string
	ended               bool // the change may go on with a run that has ended
}

// keyedBy names a change by who makes it, where and how; request is all that two equal requests share.
func keyedBy(who access.Caller, l located, action, key string, request ...any) (keyed, error) {
	if utf8.RuneCountInString(key) > maxKey {
		return keyed{}, invalid(fmt.Sprintf("the idempotency key has more than %d characters; pass a shorter one", maxKey))
	}
	if key == "" {
		return keyed{}, nil
	}
	text, err := json.Marshal(append(request, string(l.run)))
	if err != nil {
		return keyed{}, fmt.Errorf("digest of a request: %w", err)
	}
	sum := sha256.Sum256(text)
	return keyed{
		scope: who.Owner() + "/" + string(l.namespace) + "/" + action + "/" + string(l.id), key: key, request: hex.EncodeToString(sum[:]),
	}, nil
}

// record is what the store keeps with the change: the request, and behind a colon the seq of the event that it is about to
// record.
func (s *Service) record(k keyed, l located, v engine.View) *history.Idempotency {
	if k.key == "" {
		return nil
	}
	return &history.Idempotency{
		Scope: k.scope, Key: k.key, Request: k.request + ":" + strconv.FormatInt(v.Run.Head()+1, 10), WorkflowID: l.id, RunID: v.Run.ID(),
		ExpiresAt: s.Clock.Now().UTC().Add(s.Limits.IdempotencyRetention),
	}
}

// before gives the event that the first request with this key has recorded; false when there was none. Another request
// with the key is refused (IdempotencyConflict).
func (s *Service) before(ctx context.Context, k keyed) (history.Recorded, bool, error) {
	if k.key == "" {
		return history.Recorded{}, false, nil
	}
	known, err := s.Events.Idempotent(ctx, k.scope, k.key)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && !known.ExpiresAt.After(s.Clock.Now()) {
		return history.Recorded{}, false, nil
	}
	if err != nil {
		return history.Recorded{}, false, err
	}
	request, place, _ := strings.Cut(known.Request, ":")
	if request != k.request {
		return history.Recorded{}, false, keyTaken(known)
	}
	seq, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		return history.Recorded{}, false, fmt.Errorf("place of a keyed change: %w", err)
	}
	events, err := s.Events.History(ctx, known.WorkflowID, seq, 1)
	if err != nil || len(events) == 0 {
		return history.Recorded{}, false, err
	}
	return events[0], true, nil
}

// changed is the answer to a keyed change. First is the event of the change, with seq 0 when nothing had to be recorded;
// repeated says that an earlier request with the key has recorded it. The receipt is empty then.
type changed struct {
	receipt  engine.Receipt
	first    history.Recorded
	repeated bool
}

// change records what decide wants under the key.
func (s *Service) change(ctx context.Context, l located, k keyed, decide engine.Decision) (c changed, err error) {
	if c.first, c.repeated, err = s.before(ctx, k); c.repeated || err != nil {
		return c, err
	}
	do := s.Engine.Do
	if k.ended {
		do = s.Engine.DoEnded
	}
	c.receipt, err = do(ctx, l.id, func(v engine.View) (engine.Change, error) {
		change, err := decide(v)
		if err == nil && len(change.Facts) > 0 {
			change.Key = s.record(k, l, v)
		}
		return change, err
	})
	if k.key != "" && (err != nil || len(c.receipt.Events) == 0) { // another one with the key may have been faster
		if first, repeated, again := s.before(ctx, k); repeated || again != nil {
			return changed{first: first, repeated: repeated}, again
		}
	}
	if err == nil && len(c.receipt.Events) > 0 {
		c.first = c.receipt.Events[0]
	}
	return c, err
}

func keyTaken(known history.Idempotency) error {
	return &domain.Error{
		Code: domain.CodeIdempotencyConflict, Type: "IdempotencyConflict",
		Details: map[string]any{"workflow_id": string(known.WorkflowID)},
		Message: fmt.Sprintf("this idempotency key was used for workflow %s with other arguments; repeat them exactly, or pass a new key",
			known.WorkflowID),
	}
}
