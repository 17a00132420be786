package machine

import (
	"fmt"

	"aion/domain/awl/value"
	"aion/domain/history"
)

// loop runs when the body of a pass has ended, or before the first one.
func (t *turn) loop(st *strand, f *loopFrame) {
	satisfied := false
	if f.inside {
		st.env = t.counting(st.env, f, f.pass)
		v, ok := t.eval(st, f.stmt.Until, nil)
		if !ok {
			return
		}
		b, failure := truth(v)
		if failure != nil {
			t.failWith(st, failure)
			return
		}
		satisfied = bool(b)
		if link := st.env.find(f.stmt.Bind); link != nil {
			f.val = link.val
		}
		f.inside = false
		if !satisfied && f.pass < f.max {
			return // the next pass may begin in a new generation
		}
	}
	if satisfied || f.pass >= f.max {
		t.endLoop(st, f, satisfied)
		return
	}
	f.pass++
	f.inside = true
	name := st.act.step.Name
	t.emit(history.LoopPass{Step: name, Scope: f.scope, Loop: f.stmt.K, Pass: f.pass})
	st.env = t.counting(t.extend(f.base, f.stmt.Bind, f.val), f, f.pass-1)
	st.scope = within(f.scope, fmt.Sprintf("%s.loop%d#%d", name, f.stmt.K, f.pass))
	st.push(&listFrame{stmts: f.stmt.Body})
}

func (t *turn) endLoop(st *strand, f *loopFrame, satisfied bool) {
	st.pop()
	st.env = t.counting(t.extend(f.base, f.stmt.Bind, f.val), f, f.pass)
	st.scope = f.scope
	t.emit(history.LoopEnded{Step: st.act.step.Name, Scope: f.scope, Loop: f.stmt.K, Passes: f.pass, Satisfied: satisfied})
	if list, ok := st.top().(*listFrame); ok {
		list.pc++ // the loop has bound its value itself
	}
}

// counting binds the counter of a loop that has one.
func (t *turn) counting(e *env, f *loopFrame, passes int64) *env {
	if f.stmt.Counter == "" {
		return e
	}
	return t.extend(e, f.stmt.Counter, value.Int(passes))
}
