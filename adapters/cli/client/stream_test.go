package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/adapters/cli/client"
	"aion/domain"
)

func streaming(t *testing.T, text string) *client.Client {
	t.Helper()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	})
	return open(t, client.Target{URL: url})
}

// server 17: records come whole and in order, whatever their lines; comments and unknown fields are none.
func TestRecordsAreTakenApart(t *testing.T) {
	t.Parallel()
	c := streaming(t, "retry: 2000\n\n: 15\n\nid: 1\nevent: history\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\nother: z\nevent: empty\n\nid:3\nevent: close\ndata: {\"reason\":\"ended\",\"status\":\"Completed\"}\n\nid: 4\ndata: late\n\n")
	var got []string
	closed, err := c.Stream(t.Context(), client.Request{Path: "/s"}, "", func(e client.Event) error {
		got = append(got, fmt.Sprintf("%s|%s|%s", e.ID, e.Name, e.Data))
		return nil
	})
	if err != nil || closed != (client.Closed{Reason: "ended", Status: "Completed"}) {
		t.Errorf("%+v, %v", closed, err)
	}
	if diff := cmp.Diff([]string{`1|history|{"a":1}`, "||x\ny"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHowAStreamEnds(t *testing.T) {
	t.Parallel()
	const problem = `{"code":"unauthenticated","error_type":"InvalidCredential","message":"expired","instance":"urn:aion:request:r"}`
	each := func(client.Event) error { return nil }
	for text, want := range map[string]string{
		"event: resync\ndata: {\"reason\":\"x\"}\n\n": "ChangesExpired",
		"event: error\ndata: " + problem + "\n\n":     "InvalidCredential",
		"event: error\ndata: ?\n\n":                   "NoAionServer",
		"event: close\ndata: ?\n\n":                   "NoAionServer",
	} {
		if _, err := streaming(t, text).Stream(t.Context(), client.Request{Path: "/s"}, "", each); domain.TypeOf(err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "id: 1\n", "data: x", "data: x\n"} {
		if _, err := streaming(t, text).Stream(t.Context(), client.Request{Path: "/s"}, "", each); !errors.Is(err, client.ErrCut) {
			t.Errorf("%q: %v", text, err)
		}
	}
	mine := errors.New("mine")
	if _, err := streaming(t, "data: x\n\n").Stream(t.Context(), client.Request{Path: "/s"}, "", func(client.Event) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
}

func TestAStreamIsResumedAndTold(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "text/event-stream" || r.Header.Get("Last-Event-ID") != "41" {
			t.Errorf("%v", r.Header)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	closed, err := open(t, client.Target{URL: url}).Stream(t.Context(), client.Request{Path: "/s"}, "41", nil)
	if err != nil || closed.Reason != client.Ended {
		t.Errorf("%+v, %v", closed, err)
	}
	refused := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":"resource_exhausted","error_type":"TooManyStreams","message":"m"}`)
	})
	if _, err := open(t, client.Target{URL: refused}).Stream(t.Context(), client.Request{Path: "/s"}, "", nil); domain.TypeOf(err) != "TooManyStreams" {
		t.Errorf("%v", err)
	}
}

// A comment shows that the server lives; nothing at all ends the stream.
func TestASilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": begun\n\n")
		w.(http.Flusher).Flush()
		<-let
	})
	defer close(let)
	_, err := open(t, client.Target{URL: url, Patience: 50 * time.Millisecond}).Stream(t.Context(), client.Request{Path: "/s"}, "", nil)
	if domain.TypeOf(err) != "ServerAway" {
		t.Errorf("%v", err)
	}
}

// A record without an end is given up before it fills the memory.
func TestARecordHasABound(t *testing.T) {
	t.Parallel()
	block := strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 1)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 40 {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	})
	_, err := open(t, client.Target{URL: url}).Stream(t.Context(), client.Request{Path: "/s"}, "", nil)
	if domain.TypeOf(err) != "NoAionServer" {
		t.Errorf("%v", err)
	}
}

// Whatever a server sends, the reader ends without a panic, and gives nothing that has no data.
func TestAnyBytesAreRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("idataevnt: \n\r{}0\x00é"))).Draw(r, "text")
		c := streaming(t, text)
		_, err := c.Stream(t.Context(), client.Request{Path: "/s"}, "", func(e client.Event) error {
			if e.Data == nil {
				r.Fatalf("%q gives a record without data", text)
			}
			return nil
		})
		if err == nil && !strings.Contains(text, "close") {
			r.Fatalf("%q ends as if it were announced", text)
		}
	})
}
