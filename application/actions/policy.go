package actions

import (
	"fmt"

	"aion/domain/action"
	"aion/domain/awl/plan"
)

// Policy is what the operator of this server allows declared bodies.
type Policy struct {
	Bodies Bodies
	Root   string                          // the workspace root, as it stands in command text
	Admits func(program, path string) bool // whether a program is admitted; path is the PATH it is looked up on
	Path   string                          // of commands that export none
}

// Warnings tells what of a plan this server will refuse to run, so that whoever deploys it does not learn it from a
// failed run (actions 10.3).
func (p Policy) Warnings(of *plan.Plan) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, w := range of.Workers {
		for _, a := range w.Actions {
			switch {
			case a.Body == nil || p.Bodies == BodiesDelegate:
			case p.Bodies == BodiesOff:
				warn("%s", action.BodiesOff(a.Name, w.Name).Message)
			default:
				for _, program := range p.refused(a) {
					warn("action `%s` of task queue `%s`: %s", a.Name, w.Name, action.ProgramNotAllowed(program).Message)
				}
			}
		}
	}
	return out
}

// refused gives the programs of an action that are not admitted, each once.
func (p Policy) refused(a plan.Action) []string {
	body, _ := action.Prepare(*a.Body, a.Params) // a defect has been found by the check
	path, exported := body.Path(p.Root)
	if !exported {
		path = p.Path
	}
	seen := map[string]bool{}
	var out []string
	for _, program := range body.Programs(p.Root) {
		if !seen[program] && !p.Admits(program, path) {
			out = append(out, program)
		}
		seen[program] = true
	}
	return out
}
