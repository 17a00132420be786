package machine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// The documents of the language's own fixtures, each run to an end; the whole history is the golden file.

func TestAgentDevLoopLands(t *testing.T) {
	t.Parallel()
	brief := `{"brief":{"id":"b1","title":"t","objective":"o","acceptance":[]},"settings":{"repo":"/r","base_branch":"main",
		"lenses":["style","bugs"],"max_item_rounds":2,"max_fix_rounds":3,"require_approval":true}}`
	r := start(t, document(t, "agent_dev_loop"), brief)
	r.done("open_branch", `"c0ffee"`)
	r.done("survey", `{"notes":"n","risks":[]}`)
	r.done("plan", `{"items":[{"id":"i1","goal":"g1","files":[]},{"id":"i2","goal":"g2","files":[]}],"summary":"s"}`)
	r.done("develop", `{"item_id":"i1","summary":"s","commit":"c1"}`)
	r.failed("develop", "no patch") // the second item leaves a hole
	r.done("review", `{"lens":"style","findings":[{"file":"f","severity":"Blocking","text":"x"}]}`)
	r.done("review", `{"lens":"bugs","findings":[]}`)
	r.done("develop", `{"item_id":"i1","summary":"s","commit":"c2"}`)
	r.done("review", `{"lens":"style","findings":[]}`)
	r.done("review", `{"lens":"bugs","findings":[]}`)
	r.done("gate", `{"passed":false,"log":"l1"}`)
	r.done("fix", `{"item_id":"i1","summary":"s","commit":"c3"}`)
	r.done("gate", `{"passed":true,"log":"l2"}`)
	r.signal("s1", "approval", `{"approve":true,"by":"Bo"}`)
	r.after(5 * time.Second).fires(2)
	r.done("land_branch", `"c4"`)
	r.fact(history.ChildCompleted{Child: 0, Outcome: "done", Result: []byte(`{"text":"note"}`)})
	r.ends(history.Completed, "landed")
	r.golden("agent_dev_loop")
}

// A backward route counts visits; the fourth review ends it.
func TestBackwardRouteIsBoundedByItsVisits(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "backward_route"), `{"topic":"x","max_reviews":2}`)
	r.done("draft", `"one"`)
	r.done("review", `{"approved":false,"notes":"longer"}`)
	r.done("draft", `"two"`)
	r.done("review", `{"approved":false,"notes":"no"}`)
	r.ends(history.Failed, "stuck")
	r.golden("backward_route")
}

// awl 7.9: the failure goes to the handler, which runs in the environment of the step's start.
func TestCompensationRunsTheHandler(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "compensation"), `{"seat":"1A","card":"bad"}`)
	r.done("reserve", `"r1"`)
	id := r.id("charge").ID
	r.started(id)
	r.fact(history.ActivityFailed{
		ActivityID: id, Attempt: 1, Class: "retryable", Code: "exit_nonzero", Message: "exit 1",
		RetryAt: r.at.Add(50 * time.Millisecond),
	})
	r.after(50*time.Millisecond).failed("charge", "exit 1")
	r.done("release", `"released 1A"`)
	r.ends(history.Failed, "cancelled")
	r.golden("compensation")
}

// awl 7.3: both branches start with one token each, the last step with one token of each.
func TestDiamondJoins(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "dag"), `{"target":"x"}`)
	r.done("prepare", `null`)
	r.done("test_all", `"tests"`)
	r.done("lint", `"lint"`)
	r.after(20 * time.Millisecond).fires(1)
	r.done("bundle", `"b"`)
	r.ends(history.Completed, "built")
	r.golden("dag")
}

func TestTolerantRegionLeavesHoles(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "distribute_tolerant"), `{"hosts":["a","down","c"]}`)
	r.doneID(0, `null`)
	r.doneID(2, `null`)
	r.failed("probe", "exit 1")
	r.done("describe", `"a is up"`)
	r.done("describe", `"c is up"`)
	r.ends(history.Completed, "surveyed")
	r.golden("distribute_tolerant")
}

func TestFanOutJoinsInItemOrder(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "fan_out"), `{"words":["a","bb","ccc"]}`)
	r.doneID(2, `"3"`)
	r.doneID(0, `"1"`)
	r.doneID(1, `"2"`)
	r.ends(history.Completed, "measured")
	r.golden("fan_out")
}

func TestNamedForkJoinsItsBindings(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "fork_named"), `{"path":"/x"}`)
	for i, name := range []string{"lint", "unit", "format"} {
		r.done(name, fmt.Sprintf(`{"name":%q,"passed":%v}`, name, i != 1))
	}
	r.ends(history.Failed, "dirty")
	r.golden("fork_named")
}

func TestSequentialForkRunsOneBranchAtATime(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "fork_sequential"), `{"lines":["a","b"]}`)
	if n := len(r.s.OpenActivities()); n != 1 {
		t.Errorf("%d branches run at once", n)
	}
	r.done("append", `null`)
	r.done("append", `null`)
	r.done("read_back", `"a\nb"`)
	r.ends(history.Completed, "written")
	r.golden("fork_sequential")
}

func TestLoopCountsItsPasses(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "loop_counting"), `{"max_polls":3}`)
	r.done("poll", `{"done":false,"percent":25}`)
	r.done("poll", `{"done":true,"percent":100}`)
	r.ends(history.Completed, "finished")
	r.golden("loop_counting")
}

func TestLoopWithoutAPassKeepsItsSeed(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "loop_counting"), `{"max_polls":-1}`)
	r.ends(history.Failed, "gave_up")
	if got := string(r.s.Result()); got != `{"percent":0,"polls":0}` {
		t.Errorf("result %s", got)
	}
}

func TestParentCallsAndSpawnsChildren(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "order_parent"), `{"order_id":"o1","quantity":2}`)
	w := r.s.Waits()
	if len(w) != 1 || w[0].Kind != "child" || w[0].Name != "order_child" || w[0].Child != 0 {
		t.Errorf("waits: %+v", w)
	}
	r.fact(history.ChildCompleted{Child: 0, Outcome: "priced", Result: []byte(`{"order_id":"o1","affordable":true}`)})
	r.ends(history.Completed, "accepted")
	r.golden("order_parent")
}

// The failure of the step names the child and what it said, so that its reader need not search for either.
func TestFailedChildFailsItsStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fact history.ChildFailed
		want string
	}{
		{history.ChildFailed{Failure: &history.Failure{Code: "timed_out", Message: "after 1h"}}, "failed: timed_out: after 1h"},
		{history.ChildFailed{Outcome: "short", Result: []byte(`"too many"`)}, `ended in outcome short with "too many"`},
		{history.ChildFailed{Outcome: "short"}, "ended in outcome short"},
		{history.ChildFailed{}, "failed"},
	} {
		r := start(t, document(t, "order_parent"), `{"order_id":"o1","quantity":2}`)
		want := fmt.Sprintf("order_child (workflow %s) %s", domain.DeriveUUID(string(r.s.RunID()), "child:0"), c.want)
		r.fact(c.fact)
		r.ends(history.Failed, "")
		if f := r.s.Failure(); f == nil || f.Code != "child_failed" || f.Message != want || f.Step != "price" {
			t.Errorf("failure %+v, want %q", f, want)
		}
	}
	r := start(t, document(t, "order_parent"), `{"order_id":"o1","quantity":2}`)
	r.fact(history.ChildFailed{Outcome: "short", Failure: &history.Failure{Code: "c", Message: strings.Repeat("x", 1<<20)}})
	if f := r.s.Failure(); len(f.Message) > 4096 {
		t.Errorf("a message of %d bytes", len(f.Message))
	}
}

func TestSequenceVisitsCountPerInstance(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "sequence_chapters"), `{"chapters":[{"number":1,"text":"a"},{"number":2,"text":"b"}],"language":"de"}`)
	r.done("translate", `{"number":1,"text":"A","fluent":false}`)
	r.done("translate", `{"number":1,"text":"A2","fluent":true}`)
	r.done("translate", `{"number":2,"text":"B","fluent":true}`)
	r.ends(history.Completed, "translated")
	r.golden("sequence_chapters")
}

func TestSubflowIsCalledTwice(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "subflow_shout"), `{"first":"a","second":"b"}`)
	r.done("upper", `"A"`)
	r.done("upper", `"B"`)
	r.ends(history.Completed, "done")
	if got := string(r.s.Result()); got != `"A! B!"` {
		t.Errorf("result %s", got)
	}
	r.golden("subflow_shout")
}

func TestSubstepRoutesToAClauseOfItsStep(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "substeps"), `{"archive":"x"}`)
	r.done("list", `{"entries":0,"root":""}`)
	r.ends(history.Failed, "unusable")
	r.golden("substeps_clause")
}

func TestSubstepsGoOnAfterTheLastOne(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "substeps"), `{"archive":"x"}`)
	r.done("list", `{"entries":2,"root":"a"}`)
	r.done("unpack", `{"entries":2,"root":"a"}`)
	r.ends(history.Completed, "ready")
	r.golden("substeps")
}

// engine 8, engine 11: a signal during a wait, before it, and a wait that times out.
func TestWaitIsAnsweredOrExpires(t *testing.T) {
	t.Parallel()
	answer := `{"approve":true,"reviewer":"Bo"}`
	t.Run("during", func(t *testing.T) {
		t.Parallel()
		r := start(t, document(t, "wait_signal"), `{"change":"c"}`)
		r.done("announce", `null`)
		if w := r.s.Waits(); len(w) != 1 || !w[0].DueAt.Equal(r.at.Add(2*time.Second)) || w[0].TimerID != 1 {
			t.Errorf("waits: %+v", w)
		}
		r.signal("s1", "decision", answer)
		if res, err := r.try(history.TimerFired{TimerID: 1}); err != nil || !res.Ignored {
			t.Errorf("a timer that lost: %+v, %v", res, err)
		}
		r.done("ship", `"log"`)
		r.ends(history.Completed, "shipped")
		r.golden("wait_during")
	})
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		r := start(t, document(t, "wait_signal"), `{"change":"c"}`)
		r.signal("s1", "decision", answer)
		if r.s.PendingSignals() != 1 || !r.s.SignalSeen("s1") {
			t.Errorf("%d pending", r.s.PendingSignals())
		}
		r.done("announce", `null`)
		if r.s.PendingSignals() != 0 {
			t.Errorf("%d pending", r.s.PendingSignals())
		}
		r.done("ship", `"log"`)
		r.ends(history.Completed, "shipped")
		r.golden("wait_before")
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		r := start(t, document(t, "wait_signal"), `{"change":"c"}`)
		r.done("announce", `null`)
		r.after(2 * time.Second).fires(1)
		r.ends(history.Failed, "expired")
		r.golden("wait_expired")
	})
}

func TestOptionalArgumentIsLeftOut(t *testing.T) {
	t.Parallel()
	r := start(t, document(t, "backward_route"), `{"topic":"x","max_reviews":2}`)
	e, err := r.hist[3].Event()
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := e.(history.ActivityScheduled); !ok || string(a.Input) != `{"topic":"x"}` {
		t.Errorf("scheduled %+v", e)
	}
}
