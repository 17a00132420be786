package language_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/actions"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/runs"
	"aion/application/timers"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/ports"
	"aion/test/fake"
)

// bubble is the clock of a synctest bubble: it stands still until everybody waits.
type bubble struct{}

func (bubble) Now() time.Time                         { return time.Now() }
func (bubble) After(d time.Duration) <-chan time.Time { return time.After(d) }

var operator = access.Operator("")

// executor does what an attempt asks for.
type executor func(ctx context.Context, e ports.Execution) action.Verdict

// Execute implements ports.Executor.
func (x executor) Execute(ctx context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	return x(ctx, e)
}

// server is the whole application over a memory store that outlives it.
type server struct {
	t      testing.TB
	store  *fake.Store
	engine *engine.Engine
	runs   *runs.Service
	read   *transcripts.Service
	stop   func()
}

type options struct {
	history  int
	cache    int
	inFlight int
}

var servers atomic.Int64

// serve starts a server with plans deployed. stop ends it as kill -9 does, except that goroutines end.
func serve(t testing.TB, backend fake.Backend, o options, run ports.Executor, plans ...*plan.Plan) *server {
	t.Helper()
	s := &server{t: t, store: fake.NewStore(backend)}
	clock, ids, watch, logger := bubble{}, system.IDs{}, system.NewWatch(), slog.New(slog.DiscardHandler)
	gate := actions.NewGate(actions.BodiesOn, actions.Limits{InFlight: o.inFlight, PerNamespace: o.inFlight})
	catalogue := deployments.New(deployments.Deps{Store: backend, Index: backend, Clock: clock})
	for _, p := range plans {
		deploy(t, catalogue, p)
	}
	s.engine = engine.New(engine.Deps{
		Events: s.store, Index: s.store, Plans: catalogue, Admission: gate, Watch: watch, Clock: clock, Logger: logger,
		Owner: fmt.Sprint("server ", servers.Add(1)), CacheRuns: o.cache, HistoryLimit: o.history,
	})
	reader := engine.NewReader(s.engine, s.store)
	dispatcher := actions.New(actions.Deps{
		Engine: s.engine, Gate: gate, Tasks: s.store, Events: s.store, Plans: catalogue, Index: s.store, Executor: run, IDs: ids, Logger: logger,
		Transcript: transcripts.NewPublisher(s.store, watch, clock, logger, transcripts.Bounds{}), Clock: clock, LostAttempts: 100,
	})
	s.runs = runs.New(runs.Deps{
		Engine: s.engine, Reader: reader, Events: s.store, Index: s.store, Transcripts: s.store, Types: catalogue, Watch: watch, Clock: clock,
		IDs: ids, Served: func(*deployment.Contract, string, string) bool { return true },
	})
	s.read = transcripts.New(transcripts.Deps{Store: s.store, Index: s.store, Attempts: reader, Watch: watch, Clock: clock})
	s.stop = begin(s, dispatcher, timers.New(s.engine, s.store, clock, logger, 0), engine.NewCouriers(s.engine, s.store, catalogue, ids, 0))
	return s
}

func deploy(t testing.TB, catalogue *deployments.Service, p *plan.Plan) {
	t.Helper()
	text, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	v := deployment.Version{
		DeploymentID: system.IDs{}.UUIDv7(), WorkflowType: p.WorkflowType, ContentHash: p.ContentHash, Plan: text,
		DocumentPath: p.WorkflowType + ".awl", DeployedAt: time.Now().UTC(),
	}
	if _, _, err := catalogue.Deploy(context.Background(), v); err != nil {
		t.Fatal(err)
	}
}

// constructs reads the documents that show one construct each. Their actions get a body, so that the server executes them.
func construct(t testing.TB, names ...string) []*plan.Plan {
	t.Helper()
	var plans []*plan.Plan
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join("testdata", "constructs", name+".awl"))
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, compiled(t, string(src)))
	}
	return plans
}

// compiled makes the plan of a document that must be green.
func compiled(t testing.TB, src string) *plan.Plan {
	t.Helper()
	doc, parsed := syntax.Parse([]byte(src))
	res, found := check.Check(doc, parsed, nil)
	if diag.HasErrors(found) {
		t.Fatalf("%v\n%s", found, src)
	}
	p, err := compile.Compile(doc, res, domain.DeriveUUID(string(machineRun), src))
	if err != nil {
		t.Fatal(err)
	}
	p.ContentHash = strings.Repeat(strings.ReplaceAll(p.ContentHash, "-", ""), 2)
	for i := range p.Workers {
		for j := range p.Workers[i].Actions {
			p.Workers[i].Actions[j].Body = &action.Body{Run: &action.RunBody{Command: "true", Capture: action.CaptureJSON}}
		}
	}
	return p
}

const machineRun domain.RunID = "0198a000-0000-7000-8000-00000000000a"

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func (s *server) history(id domain.WorkflowID) []history.Recorded {
	s.t.Helper()
	events, err := s.store.History(context.Background(), id, 1, 10_000_000)
	if err != nil {
		s.t.Fatal(err)
	}
	return events
}

// follow waits until a workflow has ended.
func (s *server) follow(id domain.WorkflowID) error {
	return s.runs.Follow(context.Background(), operator, runs.HistoryRequest{Namespace: "default", WorkflowID: string(id)},
		func(history.Recorded) error { return nil })
}

// replays holds a history to its plan.
func replays(t testing.TB, p *plan.Plan, o machine.Options, events []history.Recorded) {
	t.Helper()
	rep := machine.NewReplayerWith(p, o)
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d", i+1, e.Seq)
		}
		if err := rep.Feed(e); err != nil {
			t.Fatalf("replay of event %d (%s): %v", e.Seq, e.Type, err)
		}
	}
	if _, err := rep.Done(); err != nil {
		t.Fatal(err)
	}
}

func newStore() fake.Backend { return memory.New(bubble{}) }
