package web

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// streamSilence is how long a stream may be silent before a comment keeps proxies from closing it.
	streamSilence = 15 * time.Second
	// writeTimeout bounds one write to a client that does not read.
	writeTimeout = 30 * time.Second
)

// Stream is an answer of server-sent events. Send and SendID are safe for concurrent use; Close ends the stream and must be called.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	silence time.Duration
	comment []byte // what breaks a silence
	done    chan struct{}
	once    sync.Once
	group   sync.WaitGroup

	mu     sync.Mutex
	sent   time.Time // when the last bytes went out
	failed error
}

// NewStream sends status 200 with the headers of a stream, and keeps the connection alive until Close.
func NewStream(w http.ResponseWriter) *Stream { return newStream(w, streamSilence, ": \n\n") }

// NewFeed is NewStream for a reader that comes back: it is told when, and hears a comment after each silence (server 1.7).
func NewFeed(w http.ResponseWriter, silence time.Duration) *Stream {
	s := newStream(w, silence, fmt.Sprintf(": %d\n\n", int(silence.Seconds())))
	_ = s.write([]byte("retry: 2000\n\n")) // every later Send tells
	return s
}

func newStream(w http.ResponseWriter, silence time.Duration, comment string) *Stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := &Stream{w: w, control: http.NewResponseController(w), silence: silence, comment: []byte(comment), done: make(chan struct{}), sent: time.Now()}
	_ = s.control.SetReadDeadline(time.Time{}) // the request is read; in-process writers have no deadline
	s.group.Go(s.keepAlive)
	return s
}

// Send writes one event of one line of data and flushes it. After the first error every later Send gives it again.
func (s *Stream) Send(event string, data []byte) error { return s.SendID("", event, data) }

// SendID is Send for an event after which a reader can go on, under an id without line breaks; empty: none.
func (s *Stream) SendID(id, event string, data []byte) error {
	message := make([]byte, 0, len(id)+len(event)+len(data)+26)
	if id != "" {
		message = append(append(append(message, "id: "...), id...), '\n')
	}
	message = append(message, "event: "...)
	message = append(message, event...)
	message = append(message, "\ndata: "...)
	message = append(message, data...)
	return s.write(append(message, "\n\n"...))
}

// Close ends the keep-alive; a second call does nothing. The answer ends when the handler returns.
func (s *Stream) Close() {
	s.once.Do(func() { close(s.done) })
	s.group.Wait()
	_ = s.control.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}

func (s *Stream) write(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	s.sent = time.Now()
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // in-process writers have none
	if _, err := s.w.Write(message); err != nil {
		s.failed = err
		return err
	}
	s.failed = s.control.Flush()
	return s.failed
}

func (s *Stream) keepAlive() {
	timer := time.NewTimer(s.silence)
	defer timer.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-timer.C:
		}
		s.mu.Lock()
		wait := s.silence - time.Since(s.sent)
		s.mu.Unlock()
		if wait <= 0 {
			if s.write(s.comment) != nil {
				return
			}
			wait = s.silence
		}
		timer.Reset(wait)
	}
}
