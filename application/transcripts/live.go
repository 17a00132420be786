package transcripts

import (
	"sync"

	"aion/domain"
	"aion/domain/transcript"
)

// liveBuffer is how many records a live reader may lag behind before it misses those that are not stored.
const liveBuffer = 1024

// live hands records that are not stored to whoever follows their stream now. It is safe for concurrent use.
type live struct {
	mu      sync.Mutex
	readers map[domain.AttemptKey]map[*tail]struct{}
}

// tail is one live reader.
type tail struct{ records chan transcript.Record }

func newLive() *live { return &live{readers: map[domain.AttemptKey]map[*tail]struct{}{}} }

func (l *live) follow(key domain.AttemptKey) (t *tail, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = &tail{records: make(chan transcript.Record, liveBuffer)}
	if l.readers[key] == nil {
		l.readers[key] = map[*tail]struct{}{}
	}
	l.readers[key][t] = struct{}{}
	return t, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers[key], t)
		if len(l.readers[key]) == 0 {
			delete(l.readers, key)
		}
	}
}

// show gives a record to the readers of a stream; one that lags misses it.
func (l *live) show(key domain.AttemptKey, r transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t := range l.readers[key] {
		select {
		case t.records <- r:
		default:
		}
	}
}
