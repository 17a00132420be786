package compile

import (
	"slices"

	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
)

// What a reader sees of a step without a look at its types: whoever draws a document asks the same.

// Kind is what a step is to a reader (awl 8); subflow reports whether a name is that of a subflow.
func Kind(s *syntax.Step, subflow func(name string) bool) string {
	if len(s.Body) == 0 {
		if len(s.Clauses) > 0 {
			return plan.KindDecision
		}
		return plan.KindPlain
	}
	switch first := s.Body[0].(type) {
	case *syntax.Region:
		return first.Verb // the kinds of openers are named like their verbs
	case *syntax.Collect:
		return plan.KindCollect
	case *syntax.Call:
		if subflow(first.Name.Name) {
			return plan.KindSubflow
		}
	}
	if hasSubsteps(s.Body) {
		return plan.KindGroup
	}
	return plan.KindPlain
}

func hasSubsteps(list []syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s syntax.Stmt) bool {
		switch s := s.(type) {
		case *syntax.Substep:
			return true
		case *syntax.Fork:
			return hasSubsteps(s.Body)
		case *syntax.Loop:
			return hasSubsteps(s.Body)
		}
		return false
	})
}

// FallThroughs says for each step of a flow whether a completion without a route leads to the step below it (awl 7.3); out
// reports whether a route to a name leaves the flow although a step may have that name.
func FallThroughs(steps []*syntax.Step, out func(name string) bool) []bool {
	routed, awaited := map[string]bool{}, map[string]bool{}
	for _, s := range steps {
		for _, t := range targets(s) {
			routed[t.Name.Name] = !out(t.Name.Name)
		}
		for _, a := range s.After {
			awaited[a.Name] = true
		}
	}
	falls := make([]bool, len(steps))
	for i := range len(steps) - 1 {
		s, below := steps[i], steps[i+1]
		falls[i] = len(s.Clauses) == 0 && RouteOf(s.Body) == nil && len(below.After) == 0 &&
			(!routed[below.Name.Name] || !awaited[s.Name.Name])
	}
	return falls
}

// targets lists what the routes of a step lead to.
func targets(s *syntax.Step) []*syntax.Target {
	all := []*syntax.Target{RouteOf(s.Body)}
	if s.Handler != nil {
		all = append(all, RouteOf(s.Handler.Body))
	}
	for _, cl := range s.Clauses {
		all = append(all, cl.Target)
	}
	return slices.DeleteFunc(all, func(t *syntax.Target) bool { return t == nil })
}

// RouteOf is the target of the route that ends a list of statements; nil when it does not end in one.
func RouteOf(list []syntax.Stmt) *syntax.Target {
	if len(list) == 0 {
		return nil
	}
	switch s := list[len(list)-1].(type) {
	case *syntax.Route:
		return s.Target
	case *syntax.Pipe:
		return s.Route
	}
	return nil
}
