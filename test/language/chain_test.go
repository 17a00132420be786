package language_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/transcript"
	"aion/ports"
)

const collector = `//! Signals pile up while three steps work; the last one reads them all.
workflow collector
  input slots: [Int]
  signal go: Int
  outcome done: type [Int], route success

worker w
  action hold(n: Int) -> String

step first
  hold(n: 1) -> one

step second
  hold(n: 2) -> two

step third
  hold(n: 3) -> three
  fork slot in slots sequential
    wait go -> got
  join -> all
  route done(all)
`

// holds keeps each attempt until it is let go, and writes which one it is.
type holds struct{ gates [4]chan struct{} }

func newHolds() *holds {
	h := &holds{}
	for i := range h.gates {
		h.gates[i] = make(chan struct{})
	}
	return h
}

func (h *holds) Execute(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
	var in struct{ N int }
	if err := json.Unmarshal(e.Dispatch.Input, &in); err != nil {
		return action.Fail(action.Terminal, "input", err.Error(), nil)
	}
	out.Write(transcript.Record{Kind: transcript.Message, Text: fmt.Sprint("generation ", in.N), AgentID: transcript.NilAgent, WorkerSeq: 1})
	select {
	case <-h.gates[in.N]:
		return action.Completed{Result: raw(`"held"`)}
	case <-ctx.Done():
		return action.Dropped{}
	}
}

const signalCount = 1_000

// engine 4 (continue-as-new), mcp 40, mcp 41, mcp 44: three generations at a limit of 20 events, and a thousand signals that
// arrive in all of them. Each is read once and in order, and each generation keeps its own status, transcript and events.
func TestAThousandSignalsCrossThreeGenerations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, h := compiled(t, collector), newHolds()
		s := serve(t, newStore(), options{history: 20, cache: 1}, h, p)
		defer s.stop()
		slots := "[" + strings.TrimSuffix(strings.Repeat("0,", signalCount), ",") + "]"
		started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{
			Namespace: "default", WorkflowType: "collector", Input: raw(`{"slots":` + slots + `}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		id := started.Run.WorkflowID
		for n := range 3 {
			s.send(id, n*signalCount/3, (n+1)*signalCount/3)
			if n == 2 {
				s.send(id, signalCount-1, signalCount) // the last one again: it is known
			}
			close(h.gates[n+1])
			synctest.Wait()
		}
		if err := s.follow(id); err != nil {
			t.Fatal(err)
		}
		events := s.history(id)
		replays(t, p, machine.Options{HistoryLimit: 20}, events)
		s.wantAll(id)
		s.wantChain(id, events)
	})
}

// send sends the signals from one number to another, each under its own id.
func (s *server) send(id domain.WorkflowID, from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		_, err := s.runs.Signal(context.Background(), operator, runs.SignalRequest{
			Ref: runs.Ref{Namespace: "default", WorkflowID: string(id)}, Name: "go", Payload: raw(fmt.Sprint(i)), SignalID: fmt.Sprint("signal ", i),
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// wantAll holds the result of the collector to the signals that were sent.
func (s *server) wantAll(id domain.WorkflowID) {
	s.t.Helper()
	d, err := s.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(id)})
	if err != nil || d.Status != history.Completed || !d.IsLatestRun || d.PreviousRunID == "" {
		s.t.Fatalf("%v %s %+v", err, d.Status, d.Failure)
	}
	var all []int
	if err := json.Unmarshal(d.Result, &all); err != nil || len(all) != signalCount {
		s.t.Fatalf("%d signals were read, %v", len(all), err)
	}
	for i, n := range all {
		if n != i {
			s.t.Fatalf("signal %d was read as number %d", n, i)
		}
	}
}

// wantChain holds three generations apart: what describe says of each, its events, and its transcript.
func (s *server) wantChain(id domain.WorkflowID, events []history.Recorded) {
	s.t.Helper()
	rows, err := s.store.Runs(context.Background(), id)
	if err != nil || len(rows) != 3 {
		s.t.Fatalf("%d generations, %v", len(rows), err)
	}
	for i, row := range rows {
		ref := runs.Ref{Namespace: "default", WorkflowID: string(id), RunID: string(row.RunID)}
		d, err := s.runs.Describe(context.Background(), operator, ref)
		want := map[bool]history.Status{true: history.Completed, false: history.ContinuedAsNew}[i == 2]
		if err != nil || d.Status != want || d.IsLatestRun != (i == 2) || d.RunID != row.RunID || d.EndedAt.IsZero() ||
			(i > 0) != (d.PreviousRunID != "") || i > 0 && d.PreviousRunID != rows[i-1].RunID {
			s.t.Errorf("generation %d: %v %+v", i+1, err, d.Summary)
		}
		s.wantTranscript(id, row.RunID, i+1)
		received := 0
		for _, e := range events {
			if e.RunID == row.RunID && e.Type == (history.SignalReceived{}).Type() {
				received++
			}
		}
		if received < signalCount/3 || received > signalCount/3+1 {
			s.t.Errorf("generation %d received %d signals", i+1, received)
		}
	}
	foreign := runs.Ref{Namespace: "default", WorkflowID: string(id), RunID: domain.DeriveUUID(string(rows[2].RunID), "next")}
	if _, err := s.runs.Describe(context.Background(), operator, foreign); domain.CodeOf(err) != domain.CodeNotFound {
		s.t.Errorf("a run that is none of the chain: %v", err)
	}
}

// wantTranscript reads the one attempt of a generation. Activity 0 of each is another activity.
func (s *server) wantTranscript(id domain.WorkflowID, run domain.RunID, n int) {
	s.t.Helper()
	page, err := s.read.Read(context.Background(), operator, transcripts.ReadRequest{
		Namespace: "default", WorkflowID: string(id), RunID: string(run), ActivityID: 0, Attempt: 1,
	})
	if err != nil || len(page.Records) != 1 || page.HeadSeq != 1 || page.AttemptOpen || page.Key.RunID != run ||
		page.Records[0].Text != fmt.Sprint("generation ", n) {
		s.t.Errorf("transcript of generation %d: %v %+v", n, err, page)
	}
}

// engine 4: whoever signals while generations change is answered, and the run reads what was sent in the order of the answers
// that one sender saw.
func TestSendersNeverMissTheSwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := `//! Adds what it hears to a list, until it has heard all.
workflow listener
  input total: Int
  signal go: Int
  outcome done: type [Int], route success

step listen
  loop all = [0] counting n
    wait go -> got
    all + [got] -> all
    until n == total
    max 10000

  outcome over: otherwise, route done(all)
`
		p := compiled(t, src)
		s := serve(t, newStore(), options{history: 20, cache: 1}, executor(works), p)
		defer s.stop()
		started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{
			Namespace: "default", WorkflowType: "listener", Input: raw(fmt.Sprintf(`{"total":%d}`, signalCount)),
		})
		if err != nil {
			t.Fatal(err)
		}
		id := started.Run.WorkflowID
		var wait sync.WaitGroup
		for sender := range 10 {
			wait.Go(func() { s.send(id, sender*signalCount/10, (sender+1)*signalCount/10) })
		}
		wait.Wait()
		time.Sleep(time.Minute)
		d, err := s.runs.Describe(context.Background(), operator, runs.Ref{Namespace: "default", WorkflowID: string(id)})
		var all []int
		if err != nil || json.Unmarshal(d.Result, &all) != nil || len(all) != signalCount+1 {
			t.Fatalf("%v %s %d", err, d.Status, len(all))
		}
		last := map[int]int{}
		for _, n := range all[1:] {
			sender := n / (signalCount / 10)
			if was, ok := last[sender]; ok && n != was+1 {
				t.Fatalf("sender %d: %d is read after %d", sender, n, was)
			}
			last[sender] = n
		}
		replays(t, p, machine.Options{HistoryLimit: 20}, s.history(id))
		rows, err := s.store.Runs(context.Background(), id)
		t.Logf("%d generations, %v", len(rows), err)
	})
}
