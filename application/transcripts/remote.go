package transcripts

import (
	"context"
	"sync"

	"aion/domain"
	"aion/domain/transcript"
)

// Taken is what became of records that a remote worker sent.
type Taken struct {
	Accepted      int
	Duplicates    int
	NextWorkerSeq int64
	Head          int64 // stored records of the attempt
}

// Take stores records of a remote attempt before it returns. What is not above the highest stored worker_seq is a duplicate.
// Beyond the share of its attempt a record goes to live readers only, and one status event says so.
func (p *Publisher) Take(ctx context.Context, key domain.AttemptKey, records []transcript.Record) (Taken, error) {
	head, last, err := p.store.Tail(ctx, key)
	if err != nil {
		return Taken{}, err
	}
	taken := Taken{Head: head}
	var kept, beyond []transcript.Record
	size := p.remote.of(key)
	for _, r := range records {
		if r.EmittedAt.IsZero() {
			r.EmittedAt = p.clock.Now().UTC()
		}
		switch {
		case r.Ephemeral:
			beyond = append(beyond, r)
		case r.WorkerSeq <= last:
			taken.Duplicates++
			continue
		case head+int64(len(kept)) < p.bounds.MaxEvents && size+int64(weight(r)) <= p.bounds.MaxBytes:
			kept, last, size = append(kept, r), r.WorkerSeq, size+int64(weight(r))
		default:
			if size <= p.bounds.MaxBytes { // the first one
				full := status(map[string]any{"status": "full", "events": head + int64(len(kept))})
				full.EmittedAt, full.WorkerSeq = r.EmittedAt, r.WorkerSeq
				kept, last, size = append(kept, full), r.WorkerSeq, p.bounds.MaxBytes+1
			}
			p.lost.Add(1)
			beyond = append(beyond, r)
		}
		taken.Accepted++
	}
	if len(kept) > 0 {
		if _, err := p.store.AppendRecords(ctx, key, kept); err != nil {
			return Taken{}, err
		}
		p.kept.Add(int64(len(kept)))
		p.watch.Changed(key.WorkflowID)
	}
	p.remote.set(key, size)
	for _, r := range beyond {
		r.Ephemeral = true
		p.live.show(key, r)
	}
	taken.NextWorkerSeq, taken.Head = last+1, head+int64(len(kept))
	return taken, nil
}

// sizes are the bytes that remote attempts have stored, as far as this server took them.
type sizes struct {
	mu    sync.Mutex
	bytes map[domain.AttemptKey]int64
}

// remoteAttempts bounds the attempts whose bytes are counted.
const remoteAttempts = 10_000

func (s *sizes) of(key domain.AttemptKey) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes[key]
}

func (s *sizes) set(key domain.AttemptKey, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes == nil || len(s.bytes) >= remoteAttempts {
		s.bytes = map[domain.AttemptKey]int64{}
	}
	s.bytes[key] = n
}
