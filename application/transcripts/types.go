package transcripts

import (
	"aion/domain"
	"aion/domain/transcript"
)

// ReadRequest is the whole handle of one stream and a cursor.
type ReadRequest struct {
	Namespace  string
	WorkflowID string
	RunID      string
	ActivityID int64
	Attempt    int
	FromSeq    int64
	Limit      int // 1..500; 0: 100
}

// Page is one page of a stream in store_seq order. HeadSeq is the number of stored records, whatever the cursor.
type Page struct {
	Key          domain.AttemptKey
	ActivityType string
	AttemptOpen  bool
	Records      []transcript.Record
	HeadSeq      int64
}
