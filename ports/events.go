package ports

import (
	"context"

	"aion/domain"
	"aion/domain/history"
)

// EventStore keeps the histories.
type EventStore interface {
	// Append makes each commit durable whole or not at all before it returns; errs[i] belongs to commits[i]. A commit that
	// does not follow its workflow's head fails alone with CodeSequenceConflict; one whose idempotency key is known and
	// not expired fails alone with CodeIdempotencyConflict, type IdempotencyTaken; one of its claims whose task is not started
	// with that attempt and token fails it alone with CodeSequenceConflict, type ClaimLost. A store that cannot write fails all with
	// CodeUnavailable and keeps nothing.
	Append(ctx context.Context, commits []history.Commit) (errs []error)
	// History returns at most limit events from seq on, oldest first; an unknown workflow has none.
	History(ctx context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error)
	// Head returns the newest seq; 0 when the workflow does not exist.
	Head(ctx context.Context, id domain.WorkflowID) (history.Seq, error)
	// Idempotent returns the record of a live key, or CodeNotFound. The store's clock decides what has expired.
	Idempotent(ctx context.Context, scope, key string) (history.Idempotency, error)
}
