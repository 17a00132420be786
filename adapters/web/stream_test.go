package web_test

import (
	"bytes"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/web"
)

func TestStreamIsKeptAliveInSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		s := web.NewStream(w)
		time.Sleep(10 * time.Second)
		if err := s.Send("message", []byte(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Second)
		synctest.Wait()
		const event = "event: message\ndata: {\"a\":1}\n\n"
		if got := w.Body.String(); got != event {
			t.Errorf("before 15 s of silence: %q", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.Body.String(); got != event+": \n\n" {
			t.Errorf("after 15 s of silence: %q", got)
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if got := bytes.Count(w.Body.Bytes(), []byte(": \n\n")); got != 2 {
			t.Errorf("%d comments after 31 s", got)
		}
		s.Close()
		s.Close()
		if !w.Flushed || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("headers %v", w.Header())
		}
	})
}
