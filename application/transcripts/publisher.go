package transcripts

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"aion/domain"
	"aion/domain/transcript"
	"aion/ports"
)

// Bounds of a stream (actions 7.4). A zero member is its default.
type Bounds struct {
	BatchEvents  int           // events in one commit: 256
	Hold         time.Duration // wait to fill a batch: 50 ms; negative: none
	QueueEvents  int           // per attempt, in memory: 8,192
	QueueBytes   int           // 8 MiB
	Stall        time.Duration // a full queue that does not move for so long drops lines: 5 s
	FlushTimeout time.Duration // at the end of an attempt: 10 s
	MaxEvents    int64         // stored of one attempt: 200,000
	MaxBytes     int64         // 64 MiB
}

func (b Bounds) orDefaults() Bounds {
	set := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	set(&b.BatchEvents, 256)
	set(&b.QueueEvents, 8192)
	set(&b.QueueBytes, 8<<20)
	for d, def := range map[*time.Duration]time.Duration{&b.Stall: 5 * time.Second, &b.FlushTimeout: 10 * time.Second} {
		if *d <= 0 {
			*d = def
		}
	}
	if b.Hold == 0 {
		b.Hold = 50 * time.Millisecond
	}
	for n, def := range map[*int64]int64{&b.MaxEvents: 200_000, &b.MaxBytes: 64 << 20} {
		if *n <= 0 {
			*n = def
		}
	}
	return b
}

// Publisher opens the streams of attempts. It is safe for concurrent use.
type Publisher struct {
	store  ports.TranscriptStore
	watch  ports.Watch
	clock  ports.Clock
	logger *slog.Logger
	bounds Bounds
	live   *live
	remote sizes

	kept, lost, waiting atomic.Int64
}

// Counts is what became of the records of all streams so far. Dropped ones found no room, came after the share of their
// attempt, or could not be stored at its end.
type Counts struct {
	Stored  int64
	Dropped int64
	Queued  int64 // wait in memory now
}

// Counts tells what became of records.
func (p *Publisher) Counts() Counts {
	return Counts{Stored: p.kept.Load(), Dropped: p.lost.Load(), Queued: p.waiting.Load()}
}

// NewPublisher gives a publisher over a store; stored records wake the watchers of their workflow.
func NewPublisher(store ports.TranscriptStore, watch ports.Watch, clock ports.Clock, logger *slog.Logger, b Bounds) *Publisher {
	return &Publisher{store: store, watch: watch, clock: clock, logger: logger, bounds: b.orDefaults(), live: newLive()}
}

// Open gives the stream of an attempt. A resumed one goes on behind what is stored, after a status event that says so.
// Close must be called; it ends the stream's goroutine.
func (p *Publisher) Open(ctx context.Context, key domain.AttemptKey, resumed bool) *Stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{
		p: p, key: key, ctx: ctx, cancel: cancel, resumed: resumed, moved: make(chan struct{}), filled: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	if resumed {
		_ = s.goOn() // a store that is away is asked again with the first batch
		s.Write(status(map[string]any{"status": "resumed_after_drain"}))
	}
	return s
}

// status is an event of the server about an attempt.
func status(detail map[string]any) transcript.Record {
	return transcript.Record{AgentID: transcript.NilAgent, AgentRole: "command", Kind: transcript.Progress, Detail: encode(detail)}
}
