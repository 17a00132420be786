package machine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/history"
	"aion/domain/machine"
)

var update = flag.Bool("update", false, "rewrite the golden histories")

const (
	workflowID domain.WorkflowID = "0198a000-0000-7000-8000-000000000001"
	runID      domain.RunID      = "0198a000-0000-7000-8000-000000000002"
)

// compiled makes the plan of a document as a deployment does, but also when it uses what the engine cannot run yet.
func compiled(tb testing.TB, src string) *plan.Plan {
	tb.Helper()
	doc, parsed := syntax.Parse([]byte(src))
	importer := func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(valid, path)) }
	res, found := check.Check(doc, parsed, importer)
	for _, d := range found {
		if d.Severity == diag.Error {
			tb.Fatalf("%d:%d %s %s", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message)
		}
	}
	p, err := compile.Compile(doc, res, strings.Repeat("ab", 32))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

const valid = "../awl/testdata/valid"

func document(tb testing.TB, name string) *plan.Plan {
	tb.Helper()
	src, err := os.ReadFile(filepath.Join(valid, name+".awl"))
	if err != nil {
		tb.Fatal(err)
	}
	return compiled(tb, string(src))
}

// run drives one run the way an engine does, and keeps its history.
type run struct {
	t    testing.TB
	p    *plan.Plan
	s    *machine.State
	hist []history.Recorded
	at   time.Time
	run  domain.RunID
	opts machine.Options
	text strings.Builder
}

func newRun(tb testing.TB, p *plan.Plan) *run {
	tb.Helper()
	return &run{t: tb, p: p, s: machine.New(), run: runID, at: time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)}
}

// start begins the run and starts what it schedules.
func start(tb testing.TB, p *plan.Plan, input string) *run {
	tb.Helper()
	r := newRun(tb, p)
	r.begin(input)
	return r
}

func (r *run) begin(input string) {
	r.t.Helper()
	deadline := time.Time{}
	if r.p.TimeoutMS > 0 {
		deadline = r.at.Add(time.Duration(r.p.TimeoutMS) * time.Millisecond)
	}
	r.fact(history.WorkflowStarted{
		WorkflowType: r.p.WorkflowType, PackageVersion: r.p.ContentHash, Input: domain.Payload(input),
		Deadline: deadline, StartedBy: "operator",
	})
}

// try offers one fact, and records it with what it derives.
func (r *run) try(e history.Event) (machine.Result, error) {
	r.t.Helper()
	fact := history.Record(int64(len(r.hist))+1, r.at, workflowID, r.run, e)
	res, err := machine.Advance(r.p, r.s, fact)
	if err != nil || res.Ignored {
		return res, err
	}
	r.record(fact)
	for _, d := range res.Derived {
		if next, ok := d.(history.WorkflowStarted); ok { // the next generation, in the same commit
			r.run = domain.RunID(domain.DeriveUUID(string(r.run), "next"))
			r.s = machine.NewWith(r.opts)
			return r.try(next)
		}
		r.record(history.Record(int64(len(r.hist))+1, r.at, workflowID, r.run, d))
	}
	return res, nil
}

func (r *run) record(e history.Recorded) {
	r.hist = append(r.hist, e)
	if ev, err := e.Event(); err == nil && history.Fact(ev) {
		r.text.WriteByte('\n')
	}
	fmt.Fprintf(&r.text, "%-3d %-20s %s\n", e.Seq, e.Type, e.Data)
}

// fact offers a fact that must be taken.
func (r *run) fact(e history.Event) []history.Event {
	r.t.Helper()
	res, err := r.try(e)
	if err != nil || res.Ignored {
		r.t.Fatalf("%s %s: ignored %v, %v\n%s", e.Type(), history.EncodeEvent(e), res.Ignored, err, r.text.String())
	}
	return res.Derived
}

func (r *run) after(d time.Duration) *run { r.at = r.at.Add(d); return r }

// id finds the open activity of a type; the oldest one when there are several.
func (r *run) id(typ string) machine.OpenActivity {
	r.t.Helper()
	for _, a := range r.s.OpenActivities() {
		if a.Type == typ {
			return a
		}
	}
	r.t.Fatalf("no open activity %s\n%s", typ, r.text.String())
	return machine.OpenActivity{}
}

// done completes an activity of a type, after starting its attempt.
func (r *run) done(typ, result string) []history.Event {
	r.t.Helper()
	return r.doneID(r.id(typ).ID, result)
}

func (r *run) doneID(id int64, result string) []history.Event {
	r.t.Helper()
	attempt := r.started(id)
	return r.fact(history.ActivityCompleted{ActivityID: id, Attempt: attempt, Result: domain.Payload(result)})
}

// started starts the coming attempt of an activity unless it runs.
func (r *run) started(id int64) int {
	r.t.Helper()
	for _, a := range r.s.OpenActivities() {
		if a.ID != id {
			continue
		}
		if !a.Started {
			r.fact(history.ActivityStarted{ActivityID: id, Attempt: a.Attempt, Executor: "server"})
		}
		return a.Attempt
	}
	r.t.Fatalf("activity %d is not open", id)
	return 0
}

// failed fails an activity of a type for good.
func (r *run) failed(typ, message string) []history.Event {
	r.t.Helper()
	id := r.id(typ).ID
	attempt := r.started(id)
	return r.fact(history.ActivityFailed{ActivityID: id, Attempt: attempt, Class: "retryable", Code: "exit_nonzero", Message: message})
}

func (r *run) fires(timer int64) []history.Event {
	r.t.Helper()
	return r.fact(history.TimerFired{TimerID: timer})
}

func (r *run) signal(id, name, payload string) []history.Event {
	r.t.Helper()
	return r.fact(history.SignalReceived{SignalID: id, SignalName: name, Payload: domain.Payload(payload), SentBy: "operator"})
}

// ends checks the end of the run, and that its history folds and replays.
func (r *run) ends(status history.Status, outcome string) {
	r.t.Helper()
	if r.s.Status() != status || r.s.Outcome() != outcome {
		r.t.Errorf("the run is %s, outcome %q; want %s, %q\n%s", r.s.Status(), r.s.Outcome(), status, outcome, r.text.String())
	}
	r.refolds()
}

// refolds checks engine 2: folding the stored history gives the same state and the same derived events.
func (r *run) refolds() {
	r.t.Helper()
	s, err := replayedWith(r.p, r.opts, stored(r.hist))
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.text.String())
	}
	if !reflect.DeepEqual(s, r.s) {
		r.t.Errorf("the folded state differs from the incremental one\n%s", r.text.String())
	}
}

// stored gives the events as a store gives them back: undecoded.
func stored(hist []history.Recorded) []history.Recorded {
	out := make([]history.Recorded, len(hist))
	for i, e := range hist {
		out[i] = history.Recorded{
			Seq: e.Seq, At: e.At, WorkflowID: e.WorkflowID, RunID: e.RunID, Type: e.Type,
			Data: append(json.RawMessage(nil), e.Data...),
		}
	}
	return out
}

func replayed(p *plan.Plan, hist []history.Recorded) (*machine.State, error) {
	return replayedWith(p, machine.Options{}, hist)
}

func replayedWith(p *plan.Plan, o machine.Options, hist []history.Recorded) (*machine.State, error) {
	rep := machine.NewReplayerWith(p, o)
	for _, e := range hist {
		if err := rep.Feed(e); err != nil {
			return nil, err
		}
	}
	return rep.Done()
}

// golden compares the history with testdata/golden/<name>.txt.
func (r *run) golden(name string) {
	r.t.Helper()
	r.refolds()
	path := filepath.Join("testdata", "golden", name+".txt")
	got := strings.TrimPrefix(r.text.String(), "\n")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		r.t.Errorf("history differs (-want +got):\n%s", diff)
	}
}
