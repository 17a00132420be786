package action_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"aion/domain/action"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func output(limit int, chunks ...string) *action.Output {
	o := action.NewOutput(limit)
	for _, c := range chunks {
		_, _ = o.Write([]byte(c)) // never fails
	}
	return o
}

func result(t *testing.T, c action.Capture, stdout *action.Output, maxResult int) string {
	t.Helper()
	raw, f := action.Result(c, false, stdout, output(100, "warned\n"), maxResult)
	if f != nil {
		if f.Class != action.Terminal {
			t.Errorf("class %s", f.Class)
		}
		return f.Code
	}
	return string(raw)
}

// actions 24
func TestEachCaptureOfEachKindOfOutput(t *testing.T) {
	t.Parallel()
	const cut = "abcdefghijklmnopqrstuvwxyz"
	for _, c := range []struct{ name, out, text, lines, json string }{
		{"empty", "", `""`, `[]`, action.CodeOutputNotJSON},
		{"only breaks", "\n\n", `""`, `[]`, action.CodeOutputNotJSON},
		{"one line", "one\n", `"one"`, `["one"]`, action.CodeOutputNotJSON},
		{"blank inside", "a\n\nb\n\n", `"a\n\nb"`, `["a","","b"]`, action.CodeOutputNotJSON},
		{"CR is text", "a\r\nb\r", `"a\r\nb\r"`, "[\"a\\r\",\"b\\r\"]", action.CodeOutputNotJSON},
		{"cut", cut, `"abcdefgh\n[aion: stdout cut: 16 of 26 bytes kept]\nstuvwxyz"`, action.CodeOutputTooLarge, action.CodeOutputTooLarge},
		{"no UTF-8", "a\xff\xfeb", "\"a\uFFFD\uFFFDb\"", "[\"a\uFFFD\uFFFDb\"]", action.CodeOutputNotJSON},
		{"NUL", "a\x00b", "\"a\uFFFDb\"", "[\"a\uFFFDb\"]", action.CodeOutputNotJSON},
		{"json", ` { "a": [1.0]}` + "\n", `" { \"a\": [1.0]}"`, `[" { \"a\": [1.0]}"]`, `{"a":[1.0]}`},
		{"JSON, no UTF-8", "\"a\xff\"", "\"\\\"a\uFFFD\\\"\"", "[\"\\\"a\uFFFD\\\"\"]", "\"a\uFFFD\""},
		{"html", `"<&>"`, `"\"<&>\""`, `["\"<&>\""]`, `"<&>"`},
		{"trailing", `{} 1`, `"{} 1"`, `["{} 1"]`, action.CodeOutputNotJSON},
	} {
		for capture, want := range map[action.Capture]string{
			action.CaptureText: c.text, action.CaptureLines: c.lines, action.CaptureJSON: c.json,
			action.CaptureOutcome: `{"exit_code":0,"stdout":` + c.text + `,"stderr":"warned"}`,
		} {
			if got := result(t, capture, output(16, c.out), 0); got != want {
				t.Errorf("%s, %s: got %s", c.name, capture, got)
			}
		}
		if raw, f := action.Result(action.CaptureJSON, true, output(16, c.out), output(16), 0); f != nil || string(raw) != "null" {
			t.Errorf("%s: a Nil result is %s, %v", c.name, raw, f)
		}
	}
}

func TestOutputThatIsNoJSONNamesItsByte(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		`{"a":x}`: "byte offset 5", `{} 1`: "byte offset 3", `{"a":`: "byte offset 5", "": "byte offset 0", "\x00": "byte offset 0",
		"nul": "byte offset 3", "nulx": "byte offset 3", "-": "byte offset 1", "1.": "byte offset 2", `"a`: "byte offset 2", "1 \n 2": "byte offset 4",
	} {
		if _, f := action.Result(action.CaptureJSON, false, output(100, out), output(2), 0); f == nil || !strings.HasSuffix(f.Message, want) &&
			!strings.Contains(f.Message, want+":") {
			t.Errorf("%q: %v", out, f)
		}
	}
}

func TestAResultThatIsTooLargeIsCutOrRefused(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x\n", 400)
	for _, capture := range []action.Capture{action.CaptureText, action.CaptureOutcome} {
		got := result(t, capture, output(1000, many), 500)
		if len(got) > 500 || !strings.Contains(got, "[aion: stdout cut: 250 of 800 bytes kept]") {
			t.Errorf("%s: %d bytes: %s", capture, len(got), got)
		}
	}
	// Both streams are halved until the whole fits, and each is named in its own marker.
	raw, f := action.Result(action.CaptureOutcome, false, output(1000, many), output(400, many), 500)
	if got := string(raw); f != nil || len(got) > 500 || !strings.Contains(got, "[aion: stdout cut: 125 of 800 bytes kept]") ||
		!strings.Contains(got, "[aion: stderr cut: 50 of 800 bytes kept]") {
		t.Errorf("%d bytes: %s, %v", len(got), got, f)
	}
	if got := result(t, action.CaptureLines, output(1000, many), 500); got != action.CodeOutputTooLarge {
		t.Errorf("got %s", got)
	}
	if got := result(t, action.CaptureJSON, output(1000, `"`+strings.Repeat("x", 600)+`"`), 500); got != action.CodeOutputTooLarge {
		t.Errorf("got %s", got)
	}
	if got := result(t, action.CaptureText, output(1000, many), 10); got != action.CodeOutputTooLarge {
		t.Errorf("got %s", got)
	}
}

func TestAnOutputKeepsItsHeadAndItsTail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(t, "limit")
		chunks := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "日本", "\U0001F600x", "0123456789", strings.Repeat("z", 50)})).Draw(t, "chunks")
		all := strings.Join(chunks, "")
		o := output(limit, chunks...)
		if o.Total() != int64(len(all)) || o.Cut() != (len(all) > limit) {
			t.Fatalf("total %d, cut %v", o.Total(), o.Cut())
		}
		got := o.Text("stdout", limit)
		if !o.Cut() {
			if got != all {
				t.Fatalf("got %q", got)
			}
			return
		}
		head, rest, ok := strings.Cut(got, "[aion: stdout cut: ")
		_, tail, ok2 := strings.Cut(rest, " bytes kept]")
		head, tail = strings.TrimSuffix(head, "\n"), strings.TrimPrefix(tail, "\n")
		if !ok || !ok2 || !strings.HasPrefix(all, head) || !strings.HasSuffix(all, tail) || strings.ContainsRune(got, utf8.RuneError) ||
			len(head)+len(tail) > limit || len(head)+len(tail) < limit-6 {
			t.Fatalf("limit %d: %q became %q", limit, all, got)
		}
	})
}

// actions 5, 57
// report 49: the message says how much was left out, and the details how much was written.
func TestTheMessageOfAnExitShowsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	exit := func(stdout, stderr *action.Output) action.Exit {
		return action.Exit{Ended: true, Code: 7, Program: "sh", Line: 1, Lines: 1, Stdout: stdout, Stderr: stderr}
	}
	f := action.ExitFailure(exit(output(100, "out\n"), output(100, "boom\n\n")))
	if f.Error() != "retryable:exited with code 7: boom" || f.Code != action.CodeExitNonzero {
		t.Error(f.Error())
	}
	f = action.ExitFailure(exit(output(100, "out\n"), output(100)))
	if f.Message != "exited with code 7: stdout: out" {
		t.Error(f.Message)
	}
	f = action.ExitFailure(exit(output(100), output(100)))
	if f.Message != "exited with code 7" {
		t.Error(f.Message)
	}
	e := exit(output(100), output(100, "of the line before"))
	e.StderrFrom, e.Command, e.Line, e.Lines, e.Program = 18, "build", 2, 5, "make"
	e.Code = 2
	_, _ = e.Stderr.Write([]byte("this line")) // never fails
	f = action.ExitFailure(e)
	if f.Message != "command `build` line 2 of 5 (`make`) exited with code 2: this line" {
		t.Error(f.Message)
	}
	want := `{"exit_code":2,"line":2,"lines":5,"program":"make","stderr_bytes":27,"stdout_bytes":0}`
	if diff := cmp.Diff(want, string(f.Details)); diff != "" {
		t.Error(diff)
	}
	e = exit(output(100), output(256<<10, strings.Repeat("0123456789", 1<<20)))
	e.Code, e.Signal = 137, 9
	f = action.ExitFailure(e)
	if f.Code != action.CodeExitSignal || !strings.HasPrefix(f.Message, "exited with code 137 (signal 9): [… 10481664 bytes omitted]") ||
		!strings.HasSuffix(f.Message, "0123456789") || len(f.Message) > action.MaxMessage {
		t.Errorf("%d bytes: %.80s", len(f.Message), f.Message)
	}
	if !strings.Contains(string(f.Details), `"cut":true`) {
		t.Error(string(f.Details))
	}
}

// actions 44, 57: what is known of the process is in the details of every failure that is about it, and nothing else.
func TestDetailsHoldWhatIsKnown(t *testing.T) {
	t.Parallel()
	e := action.Exit{Command: "build", Program: "make", Line: 2, Lines: 5, Stdout: output(4, "one two"), Stderr: output(100)}
	ended := e
	ended.Ended, ended.Code, ended.Signal = true, 143, 15
	for want, f := range map[string]action.Failed{
		`{"line":2,"lines":5,"program":"make","stderr_bytes":0,"stdout_bytes":7,"cut":true,"bound_ms":1500}`: action.DeadlineFailure(1500*time.Millisecond, e),
		`{"exit_code":143,"signal":15,"line":2,"lines":5,"program":"make","stderr_bytes":0,"stdout_bytes":7,"cut":true,"bound_ms":1500}`: action.DeadlineFailure(
			1500*time.Millisecond, ended),
		`{"exit_code":143,"signal":15,"line":2,"lines":5,"program":"make","stderr_bytes":0,"stdout_bytes":7,"cut":true}`: action.OutOfMemory(ended, 5),
		`{"bound_ms":2000}`:  action.DeadlineFailure(2*time.Second, action.Exit{}),
		`{"program":"make"}`: action.Fail(action.Terminal, "x", "m", nil).With(action.Exit{Program: "make"}.Details()),
		``:                   action.Fail(action.Terminal, "x", "m", nil).With(action.Exit{}.Details()),
	} {
		if got := string(f.Details); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := action.OutOfMemory(ended, 5).Error(); !strings.HasPrefix(got, "retryable:the command needed more memory") ||
		!strings.Contains(got, "command `build` line 2 of 5 (`make`) exited with code 143 (signal 15)") {
		t.Error(got)
	}
}

// actions 57
func TestMessagesAndDetailsAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20000).Draw(t, "n")
		text := strings.Repeat(rapid.SampledFrom([]string{"x", "é", "日", "\xff", "\x00"}).Draw(t, "unit"), n) + "end"
		got := action.BoundMessage(text)
		if len(got) > action.MaxMessage || !utf8.ValidString(got) || strings.ContainsRune(got, 0) || !strings.HasSuffix(got, "end") {
			t.Fatalf("%d bytes", len(got))
		}
	})
	f := action.Fail(action.Terminal, "x", "m", &action.Details{Program: strings.Repeat("\x01", 1<<20)})
	if len(f.Details) > action.MaxDetails || !json.Valid(f.Details) {
		t.Errorf("%d bytes", len(f.Details))
	}
}
