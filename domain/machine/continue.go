package machine

import (
	"sort"

	"aion/domain"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// boundary reports that a strand must not go on: it stands at a quiet point at which the generation ends, or at which a
// replay has to ask the record.
func (t *turn) boundary(st *strand) bool {
	if t.passed == st {
		t.passed = nil
		return false
	}
	if !t.replay && (t.s.limit <= 0 || t.s.events+1+len(t.out) < t.s.limit) || !t.quiet(st) {
		return false
	}
	if t.replay {
		t.held = st
		return true
	}
	return t.continueAsNew(st)
}

// quiet reports whether nothing is open but the workflow timer and waits for signals, and the strand is about to enter a step
// or stands between two passes of a loop.
func (t *turn) quiet(st *strand) bool {
	s := t.s
	if s.activities.live+s.timers.live+s.children.live+s.owed > 0 || st.got != nil {
		return false
	}
	if st.parent == nil && st.act.phase == phaseEnter {
		return true
	}
	f, ok := st.top().(*loopFrame)
	return ok && !f.inside && f.pass > 0
}

// continueAsNew ends the generation and starts the next one with everything it holds; st is what goes on first. A state that
// is too large to hand over goes on in this generation, and tries again after as many events.
func (t *turn) continueAsNew(st *strand) bool {
	s := t.s
	s.ready = append([]*strand{st}, s.ready...)
	carried := s.carry(t.spent + len(t.out) + 1)
	if _, f := value.Weigh(carried, maxCarried); f != nil {
		s.ready = s.ready[1:]
		s.events -= s.limit
		return false
	}
	next := domain.RunID(domain.DeriveUUID(string(s.runID), "next"))
	t.emit(history.WorkflowContinuedAsNew{NewRunID: next, WorkflowType: t.p.WorkflowType, ParentRunID: s.runID})
	started := history.WorkflowStarted{
		WorkflowType: t.p.WorkflowType, PackageVersion: s.origin.version,
		Input: value.Encode(s.input.object()), ParentRunID: s.runID, Carried: value.Encode(carried), Parent: s.origin.parent,
		Deadline: s.deadline, Labels: s.origin.labels, StartedBy: s.origin.startedBy,
	}
	s.end = &ending{}
	t.finishRun(history.ContinuedAsNew)
	t.emit(started)
	return true
}

func sortedKeys(set map[string]struct{}) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
