package machine

import (
	"sort"
	"time"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// sleep waits for a timer that is due after the event that led here.
func (t *turn) sleep(st *strand, stmt *plan.Stmt) {
	id, due := t.startTimer(st, "sleep", stmt.DurationMS)
	st.wait = wait{kind: waitTimer, id: id, timer: noTimer, since: t.at, due: due}
}

func (t *turn) startTimer(st *strand, purpose string, afterMS int64) (id int64, due time.Time) {
	s := t.s
	id = s.nextTimer
	s.nextTimer++
	due = t.at.Add(time.Duration(afterMS) * time.Millisecond)
	s.timers.add(id, st)
	t.emit(history.TimerStarted{TimerID: id, Purpose: purpose, FireAt: due, Step: st.act.step.Name, Scope: ref(st.scope)})
	return id, due
}

// await takes the oldest payload of a signal, or waits for one. A timer runs only when there is none.
func (t *turn) await(st *strand, stmt *plan.Stmt) {
	box := t.s.box(stmt.Name)
	if len(box.payloads) > 0 {
		v, err := value.Decode(box.take())
		t.s.unread--
		if err != nil { // refused when it was received
			t.failWith(st, value.Failed(resultInvalid, "the payload of signal %s is no JSON value: %v", stmt.Name, err))
			return
		}
		t.finish(st, v)
		return
	}
	st.wait = wait{kind: waitSignal, timer: noTimer, name: stmt.Name, since: t.at}
	if stmt.TimeoutMS > 0 {
		st.wait.timer, st.wait.due = t.startTimer(st, "wait", stmt.TimeoutMS)
	}
	box.add(st)
}

// box gives the mailbox of a signal.
func (s *State) box(name string) *mailbox {
	for _, box := range s.mail {
		if box.name == name {
			return box
		}
	}
	box := &mailbox{name: name}
	s.mail = append(s.mail, box)
	return box
}

func (b *mailbox) take() domain.Payload {
	oldest := b.payloads[0]
	b.payloads[0] = nil
	b.payloads = b.payloads[1:]
	if len(b.payloads) == 0 {
		b.payloads = nil
	}
	return oldest
}

// add keeps the waiting strands in activation order.
func (b *mailbox) add(st *strand) {
	at := sort.Search(len(b.waiting), func(i int) bool { return b.waiting[i].ord > st.ord })
	b.waiting = append(b.waiting, nil)
	copy(b.waiting[at+1:], b.waiting[at:])
	b.waiting[at] = st
}

func (st *strand) waitsAt(signal string) bool {
	return !st.dead && st.wait.kind == waitSignal && st.wait.name == signal
}

// first takes the strand that is served next; nil when none waits. A strand that no longer waits here is passed over.
func (b *mailbox) first() *strand {
	for len(b.waiting) > 0 {
		st := b.waiting[0]
		b.waiting[0] = nil
		b.waiting = b.waiting[1:]
		if st.waitsAt(b.name) {
			return st
		}
	}
	b.waiting = nil
	return nil
}

// cancelWait stops what a strand waits for, as a part of a run that goes on.
func (t *turn) cancelWait(st *strand, reason string) {
	w := st.wait
	st.wait = wait{}
	switch w.kind {
	case waitActivity:
		t.s.activities.delete(w.id)
		t.emit(history.ActivityCancelled{ActivityID: w.id, Reason: reason})
	case waitTimer:
		t.s.timers.delete(w.id)
		t.emit(history.TimerCancelled{TimerID: w.id})
	case waitSignal:
		if w.timer != noTimer {
			t.s.timers.delete(w.timer)
			t.emit(history.TimerCancelled{TimerID: w.timer})
		}
	case waitChild:
		t.s.children.delete(w.id)
		t.emit(history.ChildCancelled{Child: w.id, Reason: reason})
	case waitNothing, waitParts:
	}
	if st.got != nil {
		t.settleTimer(st.got)
		st.got = nil
	}
}

// settleTimer cancels the timer that has lost against a signal.
func (t *turn) settleTimer(d *delivery) {
	if d.cancel != noTimer {
		t.s.owed--
		t.emit(history.TimerCancelled{TimerID: d.cancel})
	}
}
