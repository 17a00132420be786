package language_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/ports"
	"aion/test/fake"
)

// works answers the actions of the construct documents: the same input gets the same answer in every life of a server.
func works(ctx context.Context, e ports.Execution) action.Verdict {
	var in map[string]any
	if err := json.Unmarshal(e.Dispatch.Input, &in); err != nil {
		return action.Fail(action.Terminal, "input", err.Error(), nil)
	}
	pause := 20 * time.Millisecond
	part, _ := in["part"].(string)
	answer := any(part + "'")
	switch e.Dispatch.Name {
	case "broken":
		return action.Fail(action.Retryable, "exit_nonzero", "exited with code 1", nil)
	case "picky":
		if strings.HasPrefix(part, "broken") {
			return action.Fail(action.Terminal, "picky", "not this one", nil)
		}
		pause = 5 * time.Minute // what fails is first to end
	case "make":
		if part == "broken" {
			pause = time.Minute // and last to begin
		}
	case "slow":
		pause = 10 * time.Second
	case "echo":
		return action.Completed{Result: raw(string(e.Dispatch.Input[len(`{"odd":`) : len(e.Dispatch.Input)-1]))}
	case "look":
		answer = map[string]any{"word": in["word"]}
	case "size":
		answer = len(in["word"].(string))
	case "work":
		answer = false
	case "next":
		answer = in["s"].(string) + "1"
	case "reserve":
		answer = "seat"
	case "release":
		answer = in["what"].(string) + " free"
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return action.Dropped{}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return action.Fail(action.Terminal, "answer", err.Error(), nil)
	}
	return action.Completed{Result: text}
}

// life brings one workflow to its end over a store that may die: whoever calls repeats the call on the next server.
type life struct {
	t       *testing.T
	plans   []*plan.Plan
	backend fake.Backend
	id      domain.WorkflowID
	struck  int
}

func (l *life) run(faults ...fake.Fault) []history.Recorded {
	l.t.Helper()
	l.backend = newStore()
	for n := 0; ; n++ {
		if n > 20 {
			l.t.Fatal("the run does not end")
		}
		s := serve(l.t, l.backend, options{}, executor(works), l.plans...)
		if n == 0 {
			s.store.Script(faults...)
		}
		ended := l.live(s)
		l.struck += s.store.Struck()
		if ended {
			time.Sleep(time.Minute) // spawned children end, and nothing more happens
			events := s.history(l.id)
			replays(l.t, l.plans[0], machine.Options{}, events)
			s.stop()
			return events
		}
		s.stop()
	}
}

// live is one life of the server and its client; false when the server died before the run ended.
func (l *life) live(s *server) bool {
	l.t.Helper()
	ok := persist(s, func() error {
		started, err := s.runs.Start(context.Background(), operator, runs.StartRequest{
			Namespace: "default", WorkflowType: l.plans[0].WorkflowType, IdempotencyKey: "once",
		})
		if err == nil {
			l.id = started.Run.WorkflowID
		}
		return err
	})
	if !ok {
		return false
	}
	if l.plans[0].Signal("go") != nil {
		for i, word := range []string{"first", "second"} {
			ok := persist(s, func() error {
				_, err := s.runs.Signal(context.Background(), operator, runs.SignalRequest{
					Ref: runs.Ref{Namespace: "default", WorkflowID: string(l.id)}, Name: "go", SignalID: fmt.Sprint("signal ", i),
					Payload: raw(fmt.Sprintf(`{"word":%q}`, word)),
				})
				return err
			})
			if !ok {
				return false
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return persist(s, func() error { return s.follow(l.id) })
}

// persist calls until the answer is not that the store is away; false when the process is dead.
func persist(s *server, call func() error) bool {
	for {
		err := call()
		switch {
		case err == nil || domain.CodeOf(err) == domain.CodeNotRunning:
			return true
		case s.store.Dead():
			return false
		case domain.CodeOf(err) != domain.CodeUnavailable:
			s.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// effects is what a history says that has happened, without when, by whom and under which ordinal.
func (l *life) effects(events []history.Recorded) map[string]int {
	l.t.Helper()
	all := map[string]int{}
	inputs := map[string]string{}
	for _, e := range events {
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			l.t.Fatal(err)
		}
		id := fmt.Sprint(data["activity_id"])
		switch e.Type {
		case "ActivityScheduled":
			inputs[id] = fmt.Sprint(data["activity_type"], data["scope"], data["input"])
		case "ActivityStarted":
			continue
		case "ActivityFailed":
			if data["class"] == "lost" {
				continue
			}
			data["activity"] = inputs[id]
		case "ActivityCompleted", "ActivityCancelled":
			data["activity"] = inputs[id]
		case "WorkflowStarted", "TimerStarted", "TimerFired", "TimerCancelled":
			data = map[string]any{"purpose": data["purpose"], "step": data["step"]}
		}
		for _, volatile := range []string{"activity_id", "attempt", "retry_at", "child_workflow_id", "child", "timer_id", "failure"} {
			delete(data, volatile)
		}
		text, err := json.Marshal(data)
		if err != nil {
			l.t.Fatal(err)
		}
		all[e.Type+" "+string(text)]++
	}
	return all
}

// engine 21, awl 7: whatever construct a run is in and whatever commit the server dies at, the run ends as it would have,
// and everything that is recorded of it has happened once.
func TestAKillAtEveryCommitChangesNothing(t *testing.T) {
	t.Parallel()
	cases := [][]string{
		{"routes"},
		{"failure"},
		{"visits"},
		{"after"},
		{"forks"},
		{"fork_failed"},
		{"loop"},
		{"region_strict"},
		{"region_tolerant"},
		{"subflow"},
		{"substeps"},
		{"signals"},
		{"children", "child_ok", "child_bad"},
		{"values"},
	}
	for _, names := range cases {
		t.Run(names[0], func(t *testing.T) {
			t.Parallel()
			plans := construct(t, names...)
			var want map[string]int
			synctest.Test(t, func(t *testing.T) {
				l := &life{t: t, plans: plans}
				want = l.effects(l.run())
			})
			kills := 0
			for _, when := range []fake.Moment{fake.Before, fake.Inside, fake.After} {
				for n, over := 1, false; !over && !t.Failed(); n++ {
					synctest.Test(t, func(t *testing.T) {
						l := &life{t: t, plans: plans}
						events := l.run(fake.Fault{Op: "Append", Call: n, When: when})
						over = l.struck == 0
						kills += l.struck
						if diff := cmp.Diff(want, l.effects(events)); diff != "" {
							t.Errorf("moment %d of append %d (-undisturbed +killed): %s\n%s", when, n, diff, listing(events))
						}
					})
				}
			}
			t.Logf("%d events, %d kills", total(want), kills)
			if kills < 9 {
				t.Errorf("only %d kills", kills)
			}
		})
	}
}

func total(effects map[string]int) int {
	n := 0
	for _, k := range slices.Sorted(maps.Keys(effects)) {
		n += effects[k]
	}
	return n
}

func listing(events []history.Recorded) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %s\n", e.Seq, e.Type, e.Data)
	}
	return b.String()
}
