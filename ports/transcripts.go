package ports

import (
	"context"

	"aion/domain"
	"aion/domain/transcript"
)

// TranscriptStore keeps the streams of attempts.
type TranscriptStore interface {
	// AppendRecords stores records at the end of a stream and returns the store_seq of the first one. Store_seq is dense
	// from 0 per key; records whose WorkerSeq is not above the highest stored one are dropped as duplicates.
	AppendRecords(ctx context.Context, key domain.AttemptKey, records []transcript.Record) (first int64, err error)
	// Records returns at most limit records from store_seq on, and the number of stored ones.
	Records(ctx context.Context, key domain.AttemptKey, from int64, limit int) ([]transcript.Record, int64, error)
	// Heads returns the streams of one run by (activity, attempt).
	Heads(ctx context.Context, id domain.WorkflowID, run domain.RunID) ([]transcript.Head, error)
	// Tail returns the number of stored records and the highest WorkerSeq of a stream; zeros when there is none.
	Tail(ctx context.Context, key domain.AttemptKey) (head, workerSeq int64, err error)
}
