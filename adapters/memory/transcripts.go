package memory

import (
	"cmp"
	"context"
	"slices"

	"aion/domain"
	"aion/domain/transcript"
)

// AppendRecords implements ports.TranscriptStore.
func (s *Store) AppendRecords(_ context.Context, key domain.AttemptKey, records []transcript.Record) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.transcripts[key]
	if t == nil {
		t = &stream{}
	}
	first := int64(len(t.records))
	for _, r := range records {
		if r.WorkerSeq <= t.workerSeq {
			continue
		}
		t.workerSeq = r.WorkerSeq
		r = copyRecord(r)
		r.StoreSeq = int64(len(t.records))
		t.records = append(t.records, r)
	}
	if len(t.records) > 0 {
		s.transcripts[key] = t
	}
	return first, nil
}

// Records implements ports.TranscriptStore.
func (s *Store) Records(_ context.Context, key domain.AttemptKey, from int64, limit int) ([]transcript.Record, int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.transcripts[key]
	if t == nil {
		return nil, 0, nil
	}
	head := int64(len(t.records))
	from = min(max(from, 0), head)
	var page []transcript.Record
	for _, r := range t.records[from:min(from+int64(max(limit, 0)), head)] {
		page = append(page, copyRecord(r))
	}
	return page, head, nil
}

// Heads implements ports.TranscriptStore.
func (s *Store) Heads(_ context.Context, id domain.WorkflowID, run domain.RunID) ([]transcript.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var heads []transcript.Head
	for k, t := range s.transcripts {
		if k.WorkflowID == id && k.RunID == run {
			heads = append(heads, transcript.Head{Key: k, Head: int64(len(t.records))})
		}
	}
	slices.SortFunc(heads, func(a, b transcript.Head) int {
		return cmp.Or(cmp.Compare(a.Key.ActivityID, b.Key.ActivityID), cmp.Compare(a.Key.Attempt, b.Key.Attempt))
	})
	return heads, nil
}

// Tail implements ports.TranscriptStore.
func (s *Store) Tail(_ context.Context, key domain.AttemptKey) (head, workerSeq int64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.transcripts[key]; t != nil {
		return int64(len(t.records)), t.workerSeq, nil
	}
	return 0, 0, nil
}
