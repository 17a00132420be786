package tools_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/run"
	"aion/domain/transcript"
)

// seeded is a workflow whose history is laid into the store by hand: its version is not deployed, so no plan is loaded.
type seeded struct {
	t     *testing.T
	store *memory.Store
	ns    domain.Namespace
	id    domain.WorkflowID
	gen   int
	run   *run.Run
	head  history.Seq
	at    time.Time
}

func seed(t *testing.T, store *memory.Store, n int) *seeded {
	t.Helper()
	return &seeded{t: t, store: store, ns: "default", id: domain.WorkflowID(uuid(n)), at: time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)}
}

// runID names a generation.
func (s *seeded) runID(generation int) domain.RunID {
	return domain.RunID(string(s.id)[:24] + fmt.Sprintf("%04d", generation) + string(s.id)[28:])
}

// generation begins the next run of the chain.
func (s *seeded) generation() history.Event {
	s.gen++
	s.run = run.New(s.ns, s.gen)
	started := history.WorkflowStarted{
		WorkflowType: "seeded", PackageVersion: "0000000000000000000000000000000000000000000000000000000000000000",
		Input: json.RawMessage(`{}`), StartedBy: "test",
	}
	if s.gen > 1 {
		started.ParentRunID = s.runID(s.gen - 1)
	}
	return started
}

// add commits events of the current run.
func (s *seeded) add(events ...history.Event) {
	s.t.Helper()
	commit := history.Commit{Namespace: s.ns, WorkflowID: s.id, ExpectedSeq: s.head}
	for _, e := range events {
		s.head++
		s.at = s.at.Add(time.Millisecond)
		recorded := history.Record(s.head, s.at, s.id, s.runID(s.gen), e)
		if err := s.run.Apply(recorded, nil); err != nil {
			s.t.Fatal(err)
		}
		commit.Events = append(commit.Events, recorded)
	}
	commit.Rows = []history.RunRow{s.run.Row()}
	if err := s.store.Append(s.t.Context(), []history.Commit{commit})[0]; err != nil {
		s.t.Fatal(err)
	}
}

// lines appends records to a stream.
func (s *seeded) lines(generation int, activity int64, attempt int, texts ...string) {
	s.t.Helper()
	key := domain.AttemptKey{WorkflowID: s.id, RunID: s.runID(generation), ActivityID: activity, Attempt: attempt}
	_, last, err := s.store.Tail(s.t.Context(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	records := make([]transcript.Record, 0, len(texts))
	for i, text := range texts {
		records = append(records, transcript.Record{
			WorkerSeq: last + int64(i) + 1, EmittedAt: s.at, AgentID: transcript.NilAgent,
			AgentRole: "command stdout", Kind: transcript.Message, Role: "tool", Text: text,
		})
	}
	if _, err := s.store.AppendRecords(s.t.Context(), key, records); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seeded) args() args { return args{"namespace": string(s.ns), "workflow_id": string(s.id)} }

func (s *seeded) stream(generation, activity, attempt int) args {
	return with(s.args(), "run_id", string(s.runID(generation)), "activity_id", activity, "attempt", attempt)
}

func scheduled(id int64) history.Event {
	return history.ActivityScheduled{ActivityID: id, ActivityType: "greet", TaskQueue: "shell", Input: json.RawMessage(`{"name":"Ada"}`), Step: "say"}
}

func signalled(n int, payload string) history.Event {
	return history.SignalReceived{SignalID: fmt.Sprint("s", n), SignalName: "go", Payload: json.RawMessage(payload), SentBy: "test"}
}

// chain is two generations: the first ran one activity whose stream has three records, the second runs one with two.
func chain(t *testing.T, store *memory.Store, n int) *seeded {
	t.Helper()
	s := seed(t, store, n)
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"},
		history.ActivityCompleted{ActivityID: 0, Attempt: 1, Result: json.RawMessage(`"x"`)},
		history.WorkflowContinuedAsNew{NewRunID: s.runID(2), WorkflowType: "seeded", ParentRunID: s.runID(1)})
	s.lines(1, 0, 1, "one", "two", "three")
	s.add(s.generation(), scheduled(0), history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"})
	s.lines(2, 0, 1, "four", "five")
	return s
}

func newStore() *memory.Store { return memory.New(system.Clock{}) }
