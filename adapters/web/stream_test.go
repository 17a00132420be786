package web_test

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/web"
)

// locked is a recorder that may be read while it is written.
type locked struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ResponseRecorder.Write(b)
}

func (l *locked) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Body.String()
}

func TestStreamIsKeptAliveInSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &locked{ResponseRecorder: httptest.NewRecorder()}
		s := web.NewStream(w)
		time.Sleep(10 * time.Second)
		if err := s.Send("message", []byte(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Second)
		synctest.Wait()
		const event = "event: message\ndata: {\"a\":1}\n\n"
		if got := w.text(); got != event {
			t.Errorf("before 15 s of silence: %q", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.text(); got != event+": \n\n" {
			t.Errorf("after 15 s of silence: %q", got)
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if got := strings.Count(w.text(), ": \n\n"); got != 2 {
			t.Errorf("%d comments after 31 s", got)
		}
		s.Close()
		s.Close()
		if !w.Flushed || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("headers %v", w.Header())
		}
	})
}
