package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/auth"
	"aion/adapters/httpapi"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/domain/action"
	"aion/domain/transcript"
	"aion/ports"
)

// seqs are those of a page.
func seqs(page map[string]any) []string {
	var out []string
	for _, e := range page["events"].([]any) {
		out = append(out, e.(map[string]any)["seq"].(json.Number).String())
	}
	return out
}

func TestHistoryIsReadInPagesFromBothEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":true,"n":2}}`).ok(200)
	w.ended(run)
	whole := w.get(run + "/history").ok(200)
	page := whole.object()
	all := seqs(page)
	if page["more"] != false || page["page_is_immutable"] != false || all[len(all)-1] != page["head_seq"].(json.Number).String() {
		t.Errorf("the whole history: %s", whole.body)
	}
	for _, order := range []string{"asc", "desc"} {
		var got []string
		path := run + "/history?limit=2&order=" + order
		for more := true; more; {
			r := w.get(path).ok(200)
			page := r.object()
			got = append(got, seqs(page)...)
			if cached := strings.Contains(r.header.Get("Cache-Control"), "immutable"); cached != page["page_is_immutable"].(bool) {
				t.Errorf("%s: Cache-Control %q", path, r.header.Get("Cache-Control"))
			}
			more = page["more"].(bool)
			path = fmt.Sprintf("%s/history?limit=2&order=%s&from_seq=%s", run, order, page["next_from_seq"])
		}
		want := append([]string{}, all...)
		if order == "desc" {
			for i := range want {
				want[i] = all[len(all)-1-i]
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", order, d)
		}
	}
	only := w.get(run + "/history?type=SignalReceived&type=WorkflowStarted&limit=1").ok(200).object()
	next := w.get(fmt.Sprintf("%s/history?type=SignalReceived&from_seq=%s", run, only["next_from_seq"])).ok(200).object()
	if len(seqs(only)) != 1 || only["more"] != true || len(seqs(next)) != 1 || next["more"] != false {
		t.Errorf("by type: %v, then %v", only, next)
	}
	lines := strings.Split(strings.TrimSpace(string(w.get(run+"/history", "Accept", "application/x-ndjson").ok(200).body)), "\n")
	if len(lines) != len(all) {
		t.Errorf("%d lines of %d events", len(lines), len(all))
	}
	behind := w.get(run + "/history?from_seq=99").ok(200).object()
	if len(seqs(behind)) != 0 || behind["more"] != false {
		t.Errorf("behind the end: %v", behind)
	}
}

// event is one of a stream.
type event struct{ id, name, data string }

func events(text string) []event {
	var out []event
	for block := range strings.SplitSeq(text, "\n\n") {
		var e event
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			}
		}
		if e.name != "" {
			out = append(out, e)
		}
	}
	return out
}

// server 17
func TestAStreamGoesOnAfterEveryRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":true,"n":2}}`).ok(200)
	w.ended(run)
	text := w.stream(run + "/history/stream")
	if !strings.HasPrefix(text, "retry: 2000\n") {
		t.Errorf("the stream begins %.40q", text)
	}
	whole := events(text)
	last := whole[len(whole)-1]
	if last.name != "close" || last.data != `{"reason":"ended","status":"Completed"}` || last.id != "" {
		t.Fatalf("it ends with %v", last)
	}
	recorded := whole[:len(whole)-1]
	for i, e := range recorded {
		if e.id != fmt.Sprint(i+1) || e.name != "history" {
			t.Fatalf("event %d is %v", i, e)
		}
		r := w.get(run+"/history/stream?from_seq=1", "Accept", "text/event-stream", "Last-Event-ID", e.id)
		if i == len(recorded)-1 {
			r.ok(http.StatusNoContent)
			continue
		}
		if d := cmp.Diff(recorded[i+1:], events(string(r.ok(200).body))[:len(recorded)-1-i], cmp.AllowUnexported(event{})); d != "" {
			t.Errorf("after %s: %s", e.id, d)
		}
	}
	if got := events(w.stream(run+"/history/stream", "Last-Event-ID", "99")); len(got) != 1 || got[0].name != "resync" {
		t.Errorf("a cursor of another store: %v", got)
	}
}

// live opens a stream and gives its events as they come.
func (w *world) live(ctx context.Context, path string, headers ...string) <-chan event {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := w.client.Do(req) //nolint:bodyclose // the reader below closes it
	if err != nil {
		w.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		w.t.Fatalf("the stream was answered with %d", res.StatusCode)
	}
	out := make(chan event, 100)
	go func() {
		defer close(out)
		defer func() { _ = res.Body.Close() }()
		var text strings.Builder
		buffer := make([]byte, 4096)
		for {
			n, err := res.Body.Read(buffer)
			text.Write(buffer[:n])
			if whole, rest, found := cutLast(text.String(), "\n\n"); found {
				for _, e := range events(whole) {
					out <- e
				}
				text.Reset()
				text.WriteString(rest)
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// next is the next event of a stream.
func (w *world) next(stream <-chan event) event {
	w.t.Helper()
	select {
	case e := <-stream:
		return e
	case <-time.After(30 * time.Second):
		w.t.Fatal("nothing came")
		return event{}
	}
}

// server 17
func TestAStreamGivesWhatIsRecordedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	head := w.get(run).object()["history_head_seq"].(json.Number)
	n, _ := head.Int64()
	stream := w.live(t.Context(), fmt.Sprintf("%s/history/stream?from_seq=%d", run, n+1))
	w.post(run+"/signals", `{"signal_name":"go","payload":{"ok":true,"n":2}}`).ok(200)
	if e := w.next(stream); e.id != fmt.Sprint(n+1) || !strings.Contains(e.data, "SignalReceived") {
		t.Errorf("first came %v", e)
	}
	for e := w.next(stream); e.name != "close"; e = w.next(stream) {
		if e.name != "history" {
			t.Fatalf("then %v", e)
		}
	}
}

// server 18, server 22
func TestStreamsAreBoundedAndEndWithTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	api := httpapi.New(httpapi.Options{
		Runs: w.app.Runs, Callers: web.NewCallers(web.Door{Auth: auth.Off{}}), Clock: system.Clock{}, Limits: httpapi.Limits{StreamsPerSubject: 2},
	})
	host := web.New(web.Config{}, web.NewHealth(), system.IDs{}, slog.New(slog.DiscardHandler))
	api.Mount(host.Router())
	w.url = w.serve(host)
	one, two := w.live(t.Context(), run+"/history/stream"), w.live(t.Context(), run+"/history/stream")
	w.next(one)
	w.next(two)
	if api.Readers() != 2 {
		t.Errorf("%d readers, want 2", api.Readers())
	}
	refused := w.get(run+"/history/stream").refused(429, "resource_exhausted", "TooManyStreams")
	if refused.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	api.Drain()
	for _, stream := range []<-chan event{one, two} {
		e := w.next(stream)
		for e.name == "history" {
			e = w.next(stream)
		}
		if e.name != "close" || e.data != `{"reason":"draining","status":null}` {
			t.Errorf("it ends with %v", e)
		}
	}
}

// shown gives each attempt three lines before it completes.
func shown(w *world) {
	w.hands.show = func(out ports.TranscriptWriter) {
		for i, text := range []string{"plain\n", "\x1b[31mred\x1b[0m\n", "\x1b]8;;http://x\x07link\x1b]8;;\x07\n"} {
			out.Write(transcript.Record{
				WorkerSeq: int64(i + 1), EmittedAt: time.Now().UTC(), AgentID: transcript.NilAgent, AgentRole: "command stdout",
				Kind: transcript.Message, Role: "tool", Text: text,
			})
		}
	}
}

// server 17, report 51
func TestATranscriptIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown(w)
	w.deploy(one)
	run := w.start("one", `{"n":1}`)
	w.ended(run)
	handles := w.get(run + "/transcripts").ok(200).object()["transcripts"].([]any)
	if len(handles) != 1 || handles[0].(map[string]any)["attempt_open"] != false {
		t.Fatalf("handles %v", handles)
	}
	handle := "run_id=" + handles[0].(map[string]any)["run_id"].(string) + "&activity_id=0&attempt=1"
	page := w.get(run + "/transcript?limit=2&" + handle).ok(200).object()
	rest := w.get(fmt.Sprintf("%s/transcript?%s&from_seq=%s", run, handle, page["next_from_seq"])).ok(200).object()
	if len(page["events"].([]any)) != 2 || page["more"] != true || len(rest["events"].([]any)) != 1 || rest["more"] != false {
		t.Errorf("pages %v, %v", page, rest)
	}
	if got := string(w.get(run+"/transcript?"+handle, "Accept", "text/plain").ok(200).body); got != "plain\nred\nlink\n" {
		t.Errorf("as text: %q", got)
	}
	if got := strings.Count(string(w.get(run+"/transcript?"+handle, "Accept", "application/x-ndjson").ok(200).body), "\n"); got != 3 {
		t.Errorf("%d lines", got)
	}
	all := events(w.stream(run + "/transcript/stream?" + handle))
	if len(all) != 4 || all[0].id != "0" || all[2].id != "2" || all[3].name != "close" {
		t.Errorf("the stream: %v", all)
	}
	if after := events(w.stream(run+"/transcript/stream?"+handle, "Last-Event-ID", "1")); len(after) != 2 || after[0].id != "2" {
		t.Errorf("after 1: %v", after)
	}
	w.get(run+"/transcript/stream?"+handle, "Last-Event-ID", "2").ok(http.StatusNoContent)
	w.get(run+"/transcript/stream?from_seq=9&"+handle).refused(400, "invalid_input", "CursorAheadOfHistory")
	activities := w.get(run + "/activities").ok(200).object()["activities"].([]any)
	first := activities[0].(map[string]any)
	try := first["attempts"].([]any)[0].(map[string]any)
	if len(activities) != 1 || first["state"] != "completed" || fmt.Sprint(first["result"]) != "ok" || fmt.Sprint(try["transcript_head_seq"]) != "3" {
		t.Errorf("activities %v", activities)
	}
	if got := w.get(run + "/activities?open=true").ok(200).object()["activities"].([]any); len(got) != 0 {
		t.Errorf("open are %v", got)
	}
}

func TestAFailedActivityTellsItsAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hands.say(func(context.Context, ports.Execution) action.Verdict {
		return action.Fail(action.Terminal, "exit_3", "it did not work", nil)
	})
	w.deploy(one)
	run := w.start("one", `{"n":1}`)
	w.ended(run)
	got := w.get(run + "/activities/0").ok(200).object()
	if got["state"] != "failed" || got["failure"].(map[string]any)["code"] != "exit_3" || got["failure"].(map[string]any)["class"] != "terminal" {
		t.Errorf("the activity is %v", got)
	}
}
