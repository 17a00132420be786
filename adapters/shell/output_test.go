package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"aion/adapters/shell"
	"aion/domain/action"
	"aion/domain/transcript"
	"aion/ports"

	"github.com/google/go-cmp/cmp"
)

// counter counts what it is given and keeps nothing.
type counter struct {
	bytes, records, longest atomic.Int64
	peak                    atomic.Uint64
}

func (c *counter) Write(r transcript.Record) {
	c.bytes.Add(int64(len(r.Text)))
	if n := c.records.Add(1); n%512 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.peak.Store(max(c.peak.Load(), m.HeapAlloc))
	}
	c.longest.Store(max(c.longest.Load(), int64(len(r.Text))))
}

// actions 31, 33; report 48
//
//nolint:paralleltest // it measures the heap
func TestHugeOutputIsCutInBoundedMemory(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		bytes   int64
	}{
		"300 MB of lines":    {`sh -c 'yes $(head -c 999 /dev/zero | tr "\\0" x) | head -c 300000000'`, 300000000},
		"one line of 256 MB": {`sh -c 'head -c 268435456 /dev/zero | tr "\0" x'`, 268435456},
	} {
		t.Run(name, func(t *testing.T) {
			x, count := open(t), &counter{}
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			v, ok := x.Execute(t.Context(), run(c.command, action.CaptureText), count).(action.Completed)
			var got string
			if !ok || json.Unmarshal(v.Result, &got) != nil {
				t.Fatalf("got %s", text(v))
			}
			if want := fmt.Sprintf("\n[aion: stdout cut: 1048576 of %d bytes kept]\n", c.bytes); !strings.Contains(got, want) {
				t.Errorf("no marker %q in %d bytes", want, len(got))
			}
			if count.longest.Load() > 65536 {
				t.Errorf("a record of %d bytes", count.longest.Load())
			}
			// The collector lets the heap double before it runs.
			if grown := int64(count.peak.Load()) - int64(before.HeapAlloc); grown > 16<<20 {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

// actions 33
func TestTextWithoutALineBreakIsShownWhileTheCommandRuns(t *testing.T) {
	t.Parallel()
	x, rec := open(t), &recorder{}
	done := make(chan string, 1)
	go func() {
		done <- text(x.Execute(t.Context(), run(`sh -c 'printf "name? "; sleep 3; echo Ada'`, action.CaptureText), rec))
	}()
	if got := <-done; got != `completed:"name? Ada"` {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff([]string{"name? ~", "Ada"}, rec.texts("command stdout")); diff != "" {
		t.Error(diff)
	}
}

// actions 33: it is due a second after it was read, and what may be the middle of a rune or of a line break waits on.
func TestWaitingTextIsDueAfterASecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	due := at.Add(time.Second)
	for text, want := range map[string]string{
		"name? ": `["name? "]`, "a\nname?": `["a" "name?"]`, "50 %\r": `["50 %"]`, "caf\xc3": `["caf"]`, "a\n": `["a"]`, "\r": "[]", "": "[]",
	} {
		when, shown := shell.Waiting(text, at, at, due.Add(-1), due, due)
		if got := fmt.Sprintf("%q", shown); got != want {
			t.Errorf("%q: shown %s", text, got)
		}
		if waits := want != "[]" && !strings.HasSuffix(text, "\n"); waits && !when.Equal(due) || !waits && !when.IsZero() {
			t.Errorf("%q is due at %s", text, when)
		}
		if _, early := shell.Waiting(text, at, at, due.Add(-1)); len(early) != strings.Count(text, "\n") {
			t.Errorf("%q: shown early %q", text, early)
		}
	}
}

// A pipe that was passed to a foreign process does not end with the tree: the attempt does, and says so.
func TestAPipeThatAForeignProcessHoldsIsIncomplete(t *testing.T) {
	t.Parallel()
	x := open(t)
	e := run(`sh -c 'echo up $$; while [ ! -e go ]; do sleep 0.02; done; echo end'`, action.CaptureText)
	_, verdict, rec := start(t, x, e)
	pid := strings.Fields(rec.texts("command stdout")[0])[1]
	pipe, err := os.OpenFile("/proc/"+pid+"/fd/1", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pipe.Close() }()
	write(t, "/proc/"+pid+"/cwd/go", "", 0o600)
	if got := <-verdict; got != `completed:"up `+pid+`\nend"` {
		t.Errorf("got %s", got)
	}
	if got := rec.statuses(); got != `{"status":"output_incomplete"}` {
		t.Errorf("statuses: %s", got)
	}
}

// report 48: while one line goes on without end, a look at the executor is answered and a stop is obeyed.
func TestALineWithoutEndHoldsBackNeitherALookNorAStop(t *testing.T) {
	t.Parallel()
	x, seen := open(t), &counter{}
	e := run(`sh -c 'cat /dev/zero | tr "\0" x'`)
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(ctx, e, seen)) }()
	eventually(t, "16 MB of the line are shown", func() bool { return seen.bytes.Load() > 16<<20 })
	if c := x.Counts(); c.Busy != 1 || x.Stuck() != "" {
		t.Errorf("counted %+v", c)
	}
	stop(ports.StopCancelled)
	if got := <-done; got != "dropped" {
		t.Errorf("got %s", got)
	}
	if left := holders(t, string(e.Dispatch.Key.RunID)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// actions 24; report 51
func TestOddBytesBecomeTextAndColoursStay(t *testing.T) {
	t.Parallel()
	x, rec := open(t), &recorder{}
	e := run(`sh -c 'printf "a\\000b\\377\\r\\n\\033[31mred\\033[0m\\n\\nlast\\n\\n"'`, action.CaptureText)
	got := text(x.Execute(t.Context(), e, rec))
	if want := "completed:\"a\uFFFDb\uFFFD\\r\\n\\u001b[31mred\\u001b[0m\\n\\nlast\""; got != want {
		t.Errorf("got %s", got)
	}
	want := []string{"a\uFFFDb\uFFFD", "\x1b[31mred\x1b[0m", "", "last", ""}
	if diff := cmp.Diff(want, rec.texts("command stdout")); diff != "" {
		t.Error(diff)
	}
}

// actions 24; report 49: each stream has its own bound, exactly, and its own marker.
func TestEachStreamIsCutAtItsOwnBound(t *testing.T) {
	t.Parallel()
	x := open(t, func(o *shell.Options) { o.MaxStdout, o.MaxStderr = 1000, 100 })
	for _, c := range []struct {
		out, err       int
		wantOut, wantE string
	}{
		{1000, 100, strings.Repeat("x", 1000), strings.Repeat("x", 100)},
		{
			1001, 101, strings.Repeat("x", 500) + "\n[aion: stdout cut: 1000 of 1001 bytes kept]\n" + strings.Repeat("x", 500),
			strings.Repeat("x", 50) + "\n[aion: stderr cut: 100 of 101 bytes kept]\n" + strings.Repeat("x", 50),
		},
	} {
		e := run(fmt.Sprintf(`sh -c 'head -c %d /dev/zero | tr "\0" x; head -c %d /dev/zero | tr "\0" x >&2'`, c.out, c.err))
		want, err := json.Marshal(map[string]any{"exit_code": 0, "stdout": c.wantOut, "stderr": c.wantE})
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		done, _ := x.Execute(t.Context(), e, nil).(action.Completed)
		if json.Unmarshal(want, &wanted) != nil || json.Unmarshal(done.Result, &got) != nil {
			t.Fatalf("got %s", done.Result)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
	}
}

// slow is a transcript that does not move.
type slow struct{ release chan struct{} }

func (s slow) Write(transcript.Record) { <-s.release }

func TestAStalledTranscriptDoesNotHoldBackAStop(t *testing.T) {
	t.Parallel()
	x, s, rec := open(t), slow{make(chan struct{})}, &recorder{}
	e := run("yes")
	e.Bound = 100 * time.Millisecond
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(t.Context(), e, both{s, rec})) }()
	eventually(t, "the command starts", func() bool { return len(rec.all()) > 0 })
	eventually(t, "the command is gone", func() bool { return len(holders(t, string(e.Dispatch.Key.RunID))) == 0 })
	close(s.release)
	if got := <-done; !strings.HasPrefix(got, "deadline_exceeded") {
		t.Errorf("got %s", got)
	}
}

func TestASlowTranscriptLosesNoOutput(t *testing.T) {
	t.Parallel()
	x, s, rec := open(t), slow{make(chan struct{})}, &recorder{}
	e := run("seq 1 5000", action.CaptureText)
	done := make(chan string, 1)
	go func() { done <- text(x.Execute(t.Context(), e, both{s, rec})) }()
	eventually(t, "the command came and went", func() bool { return len(rec.all()) > 0 })
	time.AfterFunc(1500*time.Millisecond, func() { close(s.release) }) // longer than pipes are given
	got := <-done
	if !strings.HasSuffix(got, `\n5000"`) || len(rec.texts("command stdout")) != 5000 || rec.statuses() != "" {
		t.Errorf("%d lines, %s, …%s", len(rec.texts("command stdout")), rec.statuses(), got[max(0, len(got)-20):])
	}
}

type both struct {
	slow
	rec *recorder
}

func (b both) Write(r transcript.Record) {
	b.rec.Write(r)
	b.slow.Write(r)
}

func TestJSONOutputIsTheResult(t *testing.T) {
	t.Parallel()
	x := open(t)
	for command, want := range map[string]string{
		`echo '{ "a" : [1, 2.50] }'`: `completed:{"a":[1,2.50]}`,
		`echo '{"a":1} x'`:           "output_not_json terminal:standard output is not one JSON value",
		"true":                       "output_not_json terminal:standard output is empty, at byte offset 0",
	} {
		if got := execute(t, x, run(command, action.CaptureJSON)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", command, got)
		}
	}
}

// actions 33
func TestLinesAreCutOnRunesAndNothingIsLost(t *testing.T) {
	t.Parallel()
	x := open(t)
	const most = 65536
	for name, content := range map[string]string{
		"exactly one piece":      strings.Repeat("x", most) + "\n",
		"one byte more":          strings.Repeat("x", most+1) + "\n",
		"a rune across the edge": strings.Repeat("x", most-1) + "日本\n",
		"only runes":             strings.Repeat("日", most) + "\nend",
		"CR at the edge":         strings.Repeat("x", most-1) + "\r\nb\r\n\r\r\n",
		"no rune":                strings.Repeat("\x80", most+5) + "\n\xe6\n\xe6\x97",
		"only breaks":            strings.Repeat("\n", 1000),
		"three pieces, no end":   strings.Repeat("é", most+most/2),
	} {
		file, rec := filepath.Join(t.TempDir(), "out"), &recorder{}
		write(t, file, content, 0o600)
		if got := text(x.Execute(t.Context(), run("cat "+file), rec)); !strings.HasPrefix(got, "completed:") {
			t.Fatal(got)
		}
		var want []string
		for line := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
			want = append(want, action.Repair([]byte(strings.TrimSuffix(line, "\r"))))
		}
		var got []string
		open := false
		for _, r := range rec.all() {
			if len(r.Text) > 3*most || !utf8.ValidString(r.Text) || r.Partial && r.Text == "" {
				t.Errorf("%s: a record of %d bytes", name, len(r.Text))
			}
			if open {
				got[len(got)-1] += r.Text
			} else {
				got = append(got, r.Text)
			}
			open = r.Partial
		}
		if open || !slices.Equal(got, want) {
			t.Errorf("%s: %d lines instead of %d, open %v", name, len(got), len(want), open)
		}
	}
}
