package transcripts

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/transcript"
	"aion/ports"
)

// The pauses between two tries to store a batch.
const (
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
)

// Stream takes the records of one attempt and stores them in batches, in order. While the store moves a full queue makes
// the writer wait; when it does not, lines are dropped and counted, and a gap event says so before the next one.
type Stream struct {
	p       *Publisher
	key     domain.AttemptKey
	ctx     context.Context //nolint:containedctx // of the flushing goroutine, ended by Close
	cancel  context.CancelFunc
	resumed bool
	filled  chan struct{} // the queue has something to store
	closing chan struct{}
	done    chan struct{} // the flushing goroutine has ended
	flusher sync.WaitGroup

	mu        sync.Mutex
	running   bool
	queue     []transcript.Record
	size      int           // bytes in the queue
	moved     chan struct{} // closed at every commit
	lastMoved time.Time
	stalled   bool
	dropped   loss  // since the last gap event
	events    int64 // taken for storing
	bytes     int64
	full      bool // over the bounds of an attempt: nothing but status events is stored
	overflow  loss
	seq       int64 // worker_seq of the last record that was numbered
}

// loss counts lines that are not stored.
type loss struct{ lines, bytes int64 }

func (l *loss) add(r transcript.Record) {
	l.lines++
	l.bytes += int64(len(r.Text))
}

var _ ports.TranscriptWriter = (*Stream)(nil)

// Write implements ports.TranscriptWriter.
func (s *Stream) Write(r transcript.Record) {
	if r.EmittedAt.IsZero() {
		r.EmittedAt = s.p.clock.Now().UTC()
	}
	if r.Ephemeral {
		s.p.live.show(s.key, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.overBounds(r) {
		s.overflow.add(r)
		s.p.lost.Add(1)
		r.Ephemeral = true
		s.p.live.show(s.key, r)
		return
	}
	if !s.room() {
		s.dropped.add(r)
		s.p.lost.Add(1)
		return
	}
	if s.dropped.lines > 0 {
		s.push(gap(s.dropped, "store_stalled"))
		s.dropped = loss{}
	}
	s.events++
	s.bytes += int64(weight(r))
	s.push(r)
}

// overBounds reports whether the attempt has had its share of the store; the first time an event says so.
func (s *Stream) overBounds(r transcript.Record) bool {
	if s.full {
		return true
	}
	if s.events < s.p.bounds.MaxEvents && s.bytes+int64(weight(r)) <= s.p.bounds.MaxBytes {
		return false
	}
	s.full = true
	s.push(status(map[string]any{"status": "full", "events": s.events, "bytes": s.bytes}))
	return true
}

// room waits until the queue can take one more; false: the store does not move and the line is dropped.
func (s *Stream) room() bool {
	for len(s.queue) >= s.p.bounds.QueueEvents || s.size >= s.p.bounds.QueueBytes {
		still := s.p.clock.Now().Sub(s.lastMoved)
		if s.stalled || still >= s.p.bounds.Stall {
			s.stalled = true
			return false
		}
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
		case <-s.p.clock.After(s.p.bounds.Stall - still):
		}
		s.mu.Lock()
	}
	return true
}

// push adds to the queue; the flushing goroutine starts with the first record, so that a silent attempt costs nothing.
func (s *Stream) push(r transcript.Record) {
	if r.EmittedAt.IsZero() {
		r.EmittedAt = s.p.clock.Now().UTC()
	}
	if len(s.queue) == 0 {
		s.lastMoved = s.p.clock.Now()
	}
	s.queue = append(s.queue, r)
	s.p.waiting.Add(1)
	s.size += weight(r)
	if !s.running {
		s.running = true
		s.flusher.Go(s.flush)
	}
	select {
	case s.filled <- struct{}{}:
	default:
	}
}

// Close stores what is left, for at most the flush timeout, and ends the stream. It tells how many records could not be
// stored, and so does the log.
func (s *Stream) Close() (lost int) {
	s.mu.Lock()
	if s.dropped.lines > 0 {
		s.push(gap(s.dropped, "store_stalled"))
	}
	if s.overflow.lines > 0 {
		s.push(gap(s.overflow, "full"))
	}
	running := s.running
	s.mu.Unlock()
	close(s.closing)
	if running {
		select {
		case <-s.done:
		case <-s.p.clock.After(s.p.bounds.FlushTimeout):
			s.cancel()
			<-s.done
		}
	}
	s.cancel()
	s.flusher.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := len(s.queue); left > 0 {
		s.p.waiting.Add(-int64(left))
		s.p.lost.Add(int64(left))
		s.p.logger.Warn("transcript lines were lost", "workflow_id", s.key.WorkflowID, "run_id", s.key.RunID, "activity_id", s.key.ActivityID,
			"attempt", s.key.Attempt, "events", left, "dropped", s.dropped.lines)
	}
	return len(s.queue)
}

// flush is the goroutine that stores.
func (s *Stream) flush() {
	defer close(s.done)
	for {
		batch, more := s.batch()
		if len(batch) > 0 && !s.store(batch) {
			return
		}
		if !more {
			return
		}
	}
}

// batch waits for records and gives the ones at the head of the queue; more is false when the stream closes and they are
// the last.
func (s *Stream) batch() (batch []transcript.Record, more bool) {
	var closing bool
	select {
	case <-s.closing:
		closing = true
	case <-s.filled:
		closing = s.hold()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.queue), s.p.bounds.BatchEvents)
	if n < len(s.queue) {
		select {
		case s.filled <- struct{}{}:
		default:
		}
	}
	return slices.Clone(s.queue[:n]), !closing || n < len(s.queue) // a copy, because it is numbered while the queue grows
}

// hold waits for a batch to fill; true: the stream closes.
func (s *Stream) hold() bool {
	if s.p.bounds.Hold < 0 {
		return false
	}
	full := s.p.clock.After(s.p.bounds.Hold)
	for {
		s.mu.Lock()
		enough := len(s.queue) >= s.p.bounds.BatchEvents
		s.mu.Unlock()
		if enough {
			return false
		}
		select {
		case <-s.closing:
			return true
		case <-full:
			return false
		case <-s.filled:
		}
	}
}

// store makes one batch durable and takes it from the queue; it tries again until the stream is cancelled. Worker_seq is
// given here, once, so that a batch whose answer was lost is not stored twice.
func (s *Stream) store(batch []transcript.Record) bool {
	wait, warned := retryFirst, false
	for {
		err := s.append(batch)
		if err == nil {
			s.stored(len(batch))
			s.p.watch.Changed(s.key.WorkflowID)
			return true
		}
		if !warned {
			warned = true
			s.p.logger.Warn("a transcript batch was refused and is tried again", "workflow_id", s.key.WorkflowID, "run_id", s.key.RunID,
				"activity_id", s.key.ActivityID, "attempt", s.key.Attempt, "error", err)
		}
		select {
		case <-s.ctx.Done():
			return false
		case <-s.p.clock.After(wait):
		}
		wait = min(2*wait, retryMost)
	}
}

func (s *Stream) append(batch []transcript.Record) error {
	if err := s.goOn(); err != nil {
		return err
	}
	for i := range batch {
		if batch[i].WorkerSeq == 0 {
			s.seq++
			batch[i].WorkerSeq = s.seq
		}
	}
	_, err := s.p.store.AppendRecords(s.ctx, s.key, batch)
	return err
}

// goOn finds out where a resumed stream goes on. What the attempt has stored before it was parked counts: it has one share
// of the store, and is told once when that is used up.
func (s *Stream) goOn() error {
	if !s.resumed {
		return nil
	}
	head, last, err := s.p.store.Tail(s.ctx, s.key)
	if err != nil {
		return err
	}
	s.seq, s.resumed = last, false
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events += head
	s.full = s.full || head >= s.p.bounds.MaxEvents
	return nil
}

func (s *Stream) stored(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		s.size -= weight(s.queue[i])
		s.queue[i] = transcript.Record{}
	}
	s.p.waiting.Add(-int64(n))
	s.p.kept.Add(int64(n))
	s.queue = s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil
	}
	s.stalled, s.lastMoved = false, s.p.clock.Now()
	close(s.moved)
	s.moved = make(chan struct{})
}

// weight is the memory of a record, about.
func weight(r transcript.Record) int {
	return 128 + len(r.Text) + len(r.Detail) + len(r.Input) + len(r.Output) + len(r.Value)
}

func gap(l loss, reason string) transcript.Record {
	return status(map[string]any{"status": "gap", "lines": l.lines, "bytes": l.bytes, "reason": reason})
}

func encode(detail map[string]any) json.RawMessage {
	b, err := json.Marshal(detail)
	if err != nil {
		panic("transcripts: status cannot be encoded: " + err.Error())
	}
	return b
}
