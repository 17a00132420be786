package machine_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
)

// planner draws plans of every construct, also such as no document compiles to: a step may read what is not bound.
type planner struct {
	t     *rapid.T
	names int
	k     int
	sub   []plan.Subflow
}

func (g *planner) n(label string, low, high int) int {
	return rapid.IntRange(low, high).Draw(g.t, label)
}

func (g *planner) chance(percent int) bool { return g.n("chance", 1, 100) <= percent }

func (g *planner) name(prefix string) string { g.names++; return fmt.Sprintf("%s%d", prefix, g.names) }

func lit(text string) *plan.Expr { return &plan.Expr{Op: plan.ExprLit, Value: []byte(text)} }

func name(n string) *plan.Expr { return &plan.Expr{Op: plan.ExprRef, Name: n} }

func randomPlan(t *rapid.T) *plan.Plan {
	g := &planner{t: t}
	for range g.n("subflows", 0, 2) {
		s := plan.Subflow{Name: g.name("sub"), Params: []string{"x", "xs"}, Outcome: "out"}
		s.Flow = g.flow(1, []string{"out"}, nil)
		g.sub = append(g.sub, s)
	}
	p := &plan.Plan{
		WorkflowType: "random", TimeoutMS: 3_600_000, Inputs: []plan.Port{{Name: "x"}, {Name: "xs"}, {Name: "none"}},
		Signals:  []plan.Port{{Name: "s1"}, {Name: "s2"}},
		Outcomes: []plan.Outcome{{Name: "good", Status: plan.Success}, {Name: "bad", Status: plan.Failure}},
		Workers:  []plan.Worker{{Name: "w", Actions: []plan.Action{{Name: "a", Retry: &plan.Retry{Count: 2, EveryMS: 10}}, {Name: "b"}}}},
	}
	p.Flow = g.flow(2, []string{"good", "good", "bad"}, nil)
	p.Subflows = g.sub
	return p
}

// flow draws steps; regions nest like brackets.
func (g *planner) flow(depth int, outcomes, clauses []string) plan.Flow {
	f := plan.Flow{}
	f.Steps = g.steps(depth, "", outcomes, clauses)
	return f
}

func (g *planner) steps(depth int, region string, outcomes, clauses []string) []plan.Step {
	var steps []plan.Step
	prefix := g.name("s")
	count := g.n("steps", 1, 4)
	if region != "" {
		outcomes = nil
	}
	for i := range count {
		s := plan.Step{Name: fmt.Sprintf("%s_%d", prefix, i), Region: region, Visits: lit(`3`)}
		if i > 1 && g.chance(25) {
			s.After = []string{fmt.Sprintf("%s_%d", prefix, g.n("after", 0, i-1)), fmt.Sprintf("%s_%d", prefix, i-1)}
		}
		if i+1 < count {
			s.FallThrough = fmt.Sprintf("%s_%d", prefix, i+1)
		}
		targets := g.targets(prefix, count, outcomes, clauses)
		if depth > 0 && g.chance(15) {
			steps = append(steps, g.region(depth-1, s, outcomes)...)
			continue
		}
		s.Body = g.stmts(depth, g.n("statements", 0, 3), clauses != nil || i > 0, stepClauses(s.Name))
		g.ending(&s, depth, targets, i+1 == count)
		if s.Handler != nil && i+1 < count { // a handler that leads back would make a cycle without a bound
			s.Handler.Body[len(s.Handler.Body)-1].Target = &plan.Target{Kind: plan.TargetStep, Name: fmt.Sprintf("%s_%d", prefix, i+1)}
		} else if s.Handler != nil && targets[len(targets)-1].Kind == plan.TargetStep {
			s.Handler = nil
		} else if s.Handler != nil {
			s.Handler.Body[len(s.Handler.Body)-1].Target = &targets[len(targets)-1]
		}
		steps = append(steps, s)
	}
	return steps
}

func stepClauses(step string) []string { return []string{step + "_c0", step + "_c1"} }

func (g *planner) targets(prefix string, count int, outcomes, clauses []string) []plan.Target {
	targets := []plan.Target{{Kind: plan.TargetStep, Name: fmt.Sprintf("%s_%d", prefix, g.n("target", 0, count-1))}}
	for _, o := range outcomes {
		targets = append(targets, plan.Target{Kind: plan.TargetOutcome, Name: o, Payload: name("x")})
	}
	for _, c := range clauses {
		targets = append(targets, plan.Target{Kind: plan.TargetClause, Name: c})
	}
	return targets
}

// ending draws how a step leads on.
func (g *planner) ending(s *plan.Step, depth int, targets []plan.Target, last bool) {
	pick := func() plan.Target { return targets[g.n("pick", 0, len(targets)-1)] }
	if g.chance(30) {
		target := pick()
		s.Handler = &plan.Handler{Body: append(g.stmts(min(depth, 1), g.n("handled", 0, 1), true, nil), plan.Stmt{Op: plan.OpRoute, Target: &target})}
	}
	switch {
	case g.chance(40):
		names := stepClauses(s.Name)
		s.Clauses = []plan.Clause{
			{Name: names[0], Guard: &plan.Expr{Op: plan.ExprEq, Args: []plan.Expr{*name("x"), *lit(`"p"`)}}, Target: pick()},
			{Name: names[1], Target: pick()},
		}
	case last || g.chance(20):
		target := pick()
		s.Body = append(s.Body, plan.Stmt{Op: plan.OpRoute, Target: &target})
	}
}

func (g *planner) region(depth int, opener plan.Step, outcomes []string) []plan.Step {
	op := plan.OpDistribute
	if g.chance(40) {
		op = plan.OpSequence
	}
	collect := plan.Step{
		Name: opener.Name + "_collect", Region: opener.Region, FallThrough: opener.FallThrough,
		Body: []plan.Stmt{{Op: plan.OpCollect, Name: "x", Tolerant: g.chance(50), Bind: g.name("c")}},
	}
	if len(outcomes) > 0 && g.chance(30) {
		target := plan.Target{Kind: plan.TargetOutcome, Name: outcomes[0], Payload: name("x")}
		collect.Handler = &plan.Handler{Body: []plan.Stmt{{Op: plan.OpRoute, Target: &target}}}
	}
	inner := g.steps(depth, opener.Name, nil, nil)
	opener.Body = []plan.Stmt{{Op: op, Item: "x", Value: name("xs")}}
	opener.Collect = collect.Name
	opener.FallThrough = inner[0].Name
	for i := range inner {
		s := &inner[i]
		if len(s.Clauses) > 0 && s.Region == opener.Name && g.chance(50) {
			s.Clauses[1].Target = plan.Target{Kind: plan.TargetStep, Name: collect.Name}
		}
		if i+1 == len(inner) && s.Region == opener.Name {
			target := plan.Target{Kind: plan.TargetStep, Name: collect.Name}
			s.Clauses, s.Body = nil, append(s.Body[:max(0, len(s.Body)-1)], plan.Stmt{Op: plan.OpRoute, Target: &target})
		}
	}
	return append(append([]plan.Step{opener}, inner...), collect)
}

func (g *planner) stmts(depth, count int, calls bool, clauses []string) []plan.Stmt {
	var list []plan.Stmt
	for range count {
		list = append(list, g.stmt(depth, calls, clauses))
	}
	return list
}

func (g *planner) stmt(depth int, calls bool, clauses []string) plan.Stmt {
	high := 11
	if depth <= 0 {
		high = 6
	}
	g.k++
	switch g.n("statement", 1, high) {
	case 1:
		return plan.Stmt{Op: plan.OpCall, Name: "a", Queue: "w", Args: []plan.Arg{{Name: "x", Value: *name("x")}}, Bind: g.name("v")}
	case 2:
		return plan.Stmt{Op: plan.OpWait, Name: "s1", TimeoutMS: int64(g.n("timeout", 0, 1) * 1000), Bind: g.name("v")}
	case 3:
		return plan.Stmt{Op: plan.OpSleep, DurationMS: 1000}
	case 4:
		return plan.Stmt{Op: plan.OpPipe, Value: name("x"), Bind: g.name("v"), Stages: []plan.Stage{
			{Op: plan.OpCall, Name: "b", Queue: "w", Param: "x"},
			{Op: plan.StageExpr, Expr: &plan.Expr{Op: plan.ExprItem}},
		}}
	case 5:
		return plan.Stmt{Op: plan.OpChild, Name: "kid", Args: []plan.Arg{{Name: "x", Value: *name("none")}}, Bind: g.name("v")}
	case 6:
		return plan.Stmt{Op: plan.OpSpawn, Name: "kid"}
	case 7:
		return plan.Stmt{
			Op: plan.OpFork, K: g.k, Item: "x", Value: name("xs"), Sequential: g.chance(40), Bind: g.name("v"), Yield: "y",
			Body: append(g.stmts(depth-1, g.n("body", 0, 2), calls, nil), plan.Stmt{Op: plan.OpCall, Name: "b", Queue: "w", Bind: "y"}),
		}
	case 8:
		return plan.Stmt{Op: plan.OpFork, K: g.k, Branches: [][]plan.Stmt{g.stmts(depth-1, 1, calls, nil), g.stmts(depth-1, 1, calls, nil)}}
	case 9:
		return plan.Stmt{
			Op: plan.OpLoop, K: g.k, Bind: g.name("v"), Value: name("x"), Counter: g.name("n"), Body: g.stmts(depth-1, g.n("body", 0, 2), calls, nil),
			Until: &plan.Expr{Op: plan.ExprEq, Args: []plan.Expr{*name("x"), *lit(`"q"`)}}, Max: lit(`2`),
		}
	case 10:
		f := g.flow(depth-1, nil, clauses)
		return plan.Stmt{Op: plan.OpGroup, Flow: &f}
	default:
		if len(g.sub) == 0 {
			return plan.Stmt{Op: plan.OpPipe, Value: &plan.Expr{Op: plan.ExprIndex, Index: int64(g.n("index", 0, 4)), Args: []plan.Expr{*name("xs")}}, Bind: g.name("v")}
		}
		return plan.Stmt{
			Op: plan.OpSubflow, Name: g.sub[g.n("sub", 0, len(g.sub)-1)].Name, Bind: g.name("v"),
			Args: []plan.Arg{{Name: "x", Value: *name("x")}, {Name: "xs", Value: *name("xs")}},
		}
	}
}

// model is what the events of a run say is open.
type model struct {
	activities, timers, children map[int64]bool
	ended                        bool
}

func newModel() *model {
	return &model{activities: map[int64]bool{}, timers: map[int64]bool{}, children: map[int64]bool{}}
}

// see follows one event; it refuses what no history may hold.
func (m *model) see(t *rapid.T, e history.Event) {
	if _, reopened := e.(history.WorkflowReopened); reopened {
		*m = *newModel()
		return
	}
	if m.ended {
		t.Fatalf("%s after the end", e.Type())
	}
	end := func(open map[int64]bool, id int64) {
		if !open[id] {
			t.Fatalf("%s ends what is not open: %d", e.Type(), id)
		}
		delete(open, id)
	}
	switch e := e.(type) {
	case history.ActivityScheduled:
		m.activities[e.ActivityID] = true
	case history.ActivityCancelled:
		end(m.activities, e.ActivityID)
	case history.ActivityCompleted:
		end(m.activities, e.ActivityID)
	case history.ActivityFailed:
		if e.RetryAt.IsZero() {
			end(m.activities, e.ActivityID)
		}
	case history.TimerStarted:
		m.timers[e.TimerID] = true
	case history.TimerCancelled:
		end(m.timers, e.TimerID)
	case history.TimerFired:
		end(m.timers, e.TimerID)
	case history.ChildStarted:
		if !e.Detached {
			m.children[e.Child] = true
		}
	case history.ChildCancelled:
		end(m.children, e.Child)
	case history.ChildCompleted:
		end(m.children, e.Child)
	case history.ChildFailed:
		end(m.children, e.Child)
	default:
	}
	m.ended = history.Terminal(e)
}

// agrees compares what the events say with what the state says. A paused run settles what it lost when it is resumed.
func (m *model) agrees(t *rapid.T, s *machine.State) {
	if m.ended != s.Status().Terminal() {
		t.Fatalf("the run is %s", s.Status())
	}
	if s.Status() != history.Running {
		return
	}
	activities, timers, children := map[int64]bool{}, map[int64]bool{0: true}, map[int64]bool{}
	for id := range m.timers { // the workflow's own
		if w := waitFor(s, id); w == nil {
			timers[id] = true
		}
	}
	for _, a := range s.OpenActivities() {
		activities[a.ID] = true
	}
	for _, w := range s.Waits() {
		if w.TimerID >= 0 {
			timers[w.TimerID] = true
		}
		if w.Child >= 0 {
			children[w.Child] = true
		}
	}
	delete(timers, 0)
	want := map[int64]bool{}
	for id := range m.timers {
		if id != 0 {
			want[id] = true
		}
	}
	if !reflect.DeepEqual(activities, m.activities) || !reflect.DeepEqual(children, m.children) || !reflect.DeepEqual(timers, want) {
		t.Fatalf("the state has activities %v, timers %v, children %v; the events %v, %v, %v", activities, timers, children,
			m.activities, want, m.children)
	}
}

func waitFor(s *machine.State, timer int64) *machine.Wait {
	for _, w := range s.Waits() {
		if w.TimerID == timer {
			return &w
		}
	}
	return nil
}

// randomFact draws a fact about a run; some are late, some illegal.
func randomFact(t *rapid.T, r *run, m *model) history.Event {
	id := func(open map[int64]bool) int64 {
		if len(open) == 0 || rapid.IntRange(1, 10).Draw(t, "stray") == 1 {
			return int64(rapid.IntRange(0, 12).Draw(t, "id"))
		}
		var ids []int64
		for i := range int64(1000) {
			if open[i] {
				ids = append(ids, i)
			}
		}
		return rapid.SampledFrom(ids).Draw(t, "open")
	}
	attempt := 1
	activity := id(m.activities)
	for _, a := range r.s.OpenActivities() {
		if a.ID == activity {
			attempt = a.Attempt
		}
	}
	switch rapid.IntRange(1, 20).Draw(t, "fact") {
	case 1, 2, 3, 4, 5:
		return history.ActivityStarted{ActivityID: activity, Attempt: attempt, Executor: "server"}
	case 6, 7, 8, 9, 10:
		return history.ActivityCompleted{ActivityID: activity, Attempt: attempt, Result: []byte(`"r"`)}
	case 11:
		return history.ActivityFailed{ActivityID: activity, Attempt: attempt, Class: "retryable", Code: "c", Message: "m", RetryAt: r.at}
	case 12:
		return history.ActivityFailed{ActivityID: activity, Attempt: attempt, Class: "terminal", Code: "c", Message: "m"}
	case 13, 14:
		timer := id(m.timers)
		if timer == 0 && rapid.IntRange(1, 10).Draw(t, "timeout") > 1 {
			timer = 1
		}
		return history.TimerFired{TimerID: timer}
	case 15, 16:
		return history.SignalReceived{SignalID: fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "signal")), SignalName: "s1", Payload: []byte(`"q"`)}
	case 17:
		return history.ChildCompleted{Child: id(m.children), Outcome: "good", Result: []byte(`"k"`)}
	case 18:
		return history.ChildFailed{Child: id(m.children), Outcome: "bad"}
	case 19:
		if r.s.Status() == history.Paused {
			return history.WorkflowResumed{By: "x"}
		}
		return history.WorkflowPaused{By: "x"}
	}
	if r.s.Status().Terminal() {
		return history.WorkflowReopened{By: "x", FromSeq: int64(len(r.hist))}
	}
	return history.WorkflowCancelled{By: "x"}
}

// engine 2, engine 3, engine 5: whatever the plan and the order of facts, the folded state is the incremental one, replaying
// derives the same events, nothing follows a terminal, and the state agrees with the events about what is open.
func TestRandomRunsFoldAndReplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := randomPlan(rt)
		r := newRun(t, p)
		m := newModel()
		r.begin(`{"x":"p","xs":["p","q","p"]}`)
		seen := 0
		follow := func() {
			for ; seen < len(r.hist); seen++ {
				e, err := r.hist[seen].Event()
				if err != nil {
					rt.Fatal(err)
				}
				m.see(rt, e)
			}
			m.agrees(rt, r.s)
		}
		follow()
		for range rapid.IntRange(0, 60).Draw(rt, "facts") {
			before := len(r.hist)
			if before > 800 {
				break // enough of what multiplies
			}
			r.after(time.Second)
			_, err := r.try(randomFact(rt, r, m))
			if err != nil { // the state is spoilt by contract
				s, err := replayed(p, stored(r.hist))
				if err != nil || len(r.hist) != before {
					rt.Fatal(err)
				}
				r.s = s
			}
			follow()
		}
		s, err := replayed(p, stored(r.hist))
		if err != nil {
			rt.Fatalf("%v\n%s", err, r.text.String())
		}
		if !reflect.DeepEqual(s, r.s) {
			rt.Fatalf("the folded state differs\n%s", r.text.String())
		}
		if !s.Status().Terminal() {
			for _, q := range []string{"state", "bindings", "binding:x"} {
				if _, err := s.Query(p, q); err != nil && domain.CodeOf(err) != domain.CodeUnknownQuery {
					rt.Fatal(err)
				}
			}
		}
	})
}
