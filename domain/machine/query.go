package machine

import (
	"fmt"
	"sort"
	"strings"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
)

// queryBinding is the prefix of the queries for one name.
const queryBinding = "binding:"

// Queries are the queries that every live run answers; the last one stands for those of each bound name.
func Queries() []string { return []string{"state", "bindings", queryBinding + "<name>"} }

// Query answers one of the built-in queries of a run that has not ended (awl 3.8) as canonical JSON: `state`, `bindings` and
// `binding:<name>`. An unknown name is refused as UnknownQuery, a run that has ended or not begun as QueryNotRunning.
func (s *State) Query(p *plan.Plan, name string) ([]byte, error) {
	if s.status == "" || s.status.Terminal() {
		return nil, &domain.Error{
			Code: domain.CodeNotRunning, Type: "QueryNotRunning",
			Message: fmt.Sprintf("the run is %s and answers no queries; describe_run shows how it ended", s.status),
		}
	}
	switch {
	case name == "state":
		return value.Encode(s.stateAnswer(p)), nil
	case name == "bindings":
		return value.Encode(s.bindingsAnswer()), nil
	case strings.HasPrefix(name, queryBinding):
		if v, ok := s.visible()[strings.TrimPrefix(name, queryBinding)]; ok {
			return value.Encode(v), nil
		}
	}
	names := []string{"state", "bindings"}
	for bound := range s.visible() {
		names = append(names, queryBinding+bound)
	}
	sort.Strings(names[2:])
	return nil, &domain.Error{
		Code: domain.CodeUnknownQuery, Type: "UnknownQuery",
		Message: unanswered(name) + "; this run answers " + strings.Join(names, ", "),
		Details: map[string]any{"queries": names},
	}
}

// unanswered says why a name is no query.
func unanswered(name string) string {
	bound, ok := strings.CutPrefix(name, queryBinding)
	switch {
	case ok:
		return fmt.Sprintf("nothing is bound to %q now", domain.Quote(bound, 128))
	case name == "result" || name == "outcome" || name == "failure":
		return fmt.Sprintf("%q is no query: describe_run shows it when the run has ended", name)
	}
	return fmt.Sprintf("no query is called %q", domain.Quote(name, 128))
}

// visible gives each name with its value in the oldest active step that sees it.
func (s *State) visible() map[string]value.Value {
	names := map[string]value.Value{}
	add := func(e *env) {
		for ; e != nil; e = e.parent {
			if _, have := names[e.name]; !have {
				names[e.name] = e.val
			}
		}
	}
	for _, st := range s.shown() {
		add(st.env)
	}
	add(s.input)
	return names
}

// shown gives the strands that queries tell about: of each active step its own, or in its place the open branches of a fork.
func (s *State) shown() []*strand {
	var shown []*strand
	s.walk(func(st *strand) {
		_, forked := st.top().(*forkFrame)
		if !forked && (st.parent != nil || st.act.phase != phaseEnter) {
			shown = append(shown, st)
		}
	})
	return shown
}

func (s *State) stateAnswer(p *plan.Plan) value.Value {
	steps := value.List{}
	bindings := s.input.object()
	for i, st := range s.shown() {
		if i == 0 {
			bindings = st.env.object()
		}
		steps = append(steps, record("step", value.String(st.act.step.Name), "scope", value.String(st.place()),
			"visit", value.Int(st.act.visit), "waiting_on", s.waitingOn(st)))
	}
	return record("workflow_type", value.String(p.WorkflowType), "status", value.String(s.status), "steps", steps, "bindings", bindings)
}

func (s *State) bindingsAnswer() value.Value {
	scopes := value.List{}
	for _, st := range s.shown() {
		scopes = append(scopes, record("scope", value.String(st.place()), "step", value.String(st.act.step.Name), "bindings", st.env.object()))
	}
	return record("inputs", s.input.object(), "scopes", scopes)
}

// place is the scope of a step as its markers have it, or that of a branch.
func (st *strand) place() string {
	if st.parent != nil {
		return st.scope
	}
	return st.act.flow.scope
}

func (s *State) waitingOn(st *strand) value.Value {
	switch w := st.wait; w.kind {
	case waitActivity:
		return record("activity", value.Int(w.id))
	case waitTimer:
		return record("timer", value.Int(w.id))
	case waitSignal:
		return record("signal", value.String(w.name))
	case waitChild:
		return record("child", value.String(s.childWorkflowID(w.id)))
	case waitNothing, waitParts:
	}
	return value.Null{}
}

// record makes a record from names and values in turn.
func record(pairs ...any) value.Object {
	members := make([]value.Member, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		v, _ := pairs[i+1].(value.Value)
		members = append(members, value.Member{Name: name, Value: v})
	}
	return value.NewObject(members)
}
