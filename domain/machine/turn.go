package machine

import (
	"fmt"
	"time"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// turn is the work on one fact.
type turn struct {
	p       *plan.Plan
	s       *State
	seq     history.Seq
	at      time.Time
	out     []history.Event
	fuel    int
	current *strand
	over    bool    // the run has ended
	spent   int     // events that the commit holds from generations before this one
	replay  bool    // stop at every quiet point: the record says whether the generation ends there
	held    *strand // what goes on after the quiet point that the turn stopped at
	passed  *strand // the strand that has just gone on there
}

func (t *turn) emit(e history.Event) { t.out = append(t.out, e) }

// wake makes a strand ready. The running one simply goes on.
func (t *turn) wake(st *strand) {
	if st != t.current {
		t.s.ready = append(t.s.ready, st)
	}
}

// run lets ready strands run until all wait, the run has ended, or the turn stops at a quiet point.
func (t *turn) run() {
	s := t.s
	for !t.over && t.held == nil {
		if len(s.ready) == 0 {
			s.ready = nil
			return
		}
		st := s.ready[0]
		s.ready[0] = nil
		s.ready = s.ready[1:]
		t.runStrand(st)
	}
}

// resume goes on after a quiet point.
func (t *turn) resume() {
	st := t.held
	t.held, t.passed = nil, st
	t.runStrand(st)
	t.run()
}

func (t *turn) runStrand(st *strand) {
	t.current = st
	for !st.dead && !t.over && st.wait.kind == waitNothing {
		if t.fuel -= stepsPerFrame; t.fuel < 0 || len(t.out)+t.spent > maxEvents {
			t.exceed(st)
			break
		}
		if t.boundary(st) {
			break
		}
		switch {
		case st.got != nil:
			t.take(st)
		case st.parent == nil && st.act.phase == phaseEnter:
			t.enter(st.act)
		case len(st.frames) == 0:
			t.strandDone(st)
		default:
			t.advance(st)
		}
	}
	t.current = nil
}

// advance moves the innermost frame of a strand by one.
func (t *turn) advance(st *strand) {
	switch f := st.top().(type) {
	case *listFrame:
		if f.pc < len(f.stmts) {
			t.execute(st, &f.stmts[f.pc])
			return
		}
		st.pop()
	case *pipeFrame:
		t.pipe(st, f)
	case *loopFrame:
		t.loop(st, f)
	case *forkFrame, *regionFrame, *flowFrame:
		st.wait = wait{kind: waitParts, since: t.at}
	}
}

// exceed ends a run that one fact keeps busy for too long.
func (t *turn) exceed(st *strand) {
	t.s.end = &ending{strand: st}
	t.failRun(nil, history.Failure{
		Code: boundOutOfRange,
		Message: fmt.Sprintf("one event made the run derive more than %d events or evaluate more than %d expressions; lower the bounds",
			maxEvents, maxSteps),
	})
}

// take hands a strand what it waited for.
func (t *turn) take(st *strand) {
	d := st.got
	st.got = nil
	t.settleTimer(d)
	if d.failure != nil {
		t.fail(st, *d.failure)
		return
	}
	switch st.top().(type) {
	case *forkFrame, *flowFrame, *regionFrame:
		st.pop()
	case *listFrame, *pipeFrame, *loopFrame:
	}
	t.finish(st, d.val)
}

// finish ends the current statement, or the current stage of a pipe, with its value.
func (t *turn) finish(st *strand, v value.Value) {
	switch f := st.top().(type) {
	case *listFrame:
		if bind := f.stmts[f.pc].Bind; bind != "" && !t.bind(st, bind, v) {
			return
		}
		f.pc++
	case *pipeFrame:
		f.val = v
		f.next++
	case *loopFrame, *forkFrame, *regionFrame, *flowFrame:
	}
}

// bind gives a value a name; false: the step has failed.
func (t *turn) bind(st *strand, name string, v value.Value) bool {
	if !t.fits(st, v) {
		return false
	}
	st.env = t.extend(st.env, name, v)
	return true
}

func (t *turn) extend(e *env, name string, v value.Value) *env {
	t.s.nextBinding++
	return e.with(name, v, t.s.nextBinding)
}

// fits checks a value against the size of a payload; false: the step has failed.
func (t *turn) fits(st *strand, v value.Value) bool {
	n, f := value.Weigh(v, value.MaxBytes)
	t.fuel -= n / bytesPerStep
	if f != nil {
		t.failWith(st, f)
		return false
	}
	return true
}

// eval computes an expression in the environment of a strand; false: the step has failed.
func (t *turn) eval(st *strand, e *plan.Expr, item value.Value) (value.Value, bool) {
	v, f := Eval(e, t.names(st, item))
	if f != nil {
		t.failWith(st, f)
		return nil, false
	}
	return v, true
}

func (t *turn) names(st *strand, item value.Value) Env {
	return Env{
		Lookup: func(name string) (value.Value, bool) {
			if link := st.env.find(name); link != nil {
				return link.val, true
			}
			return nil, false
		},
		Item:       item,
		Visits:     st.act.visit,
		WorkflowID: string(t.s.workflowID),
		Fuel:       &t.fuel,
	}
}
