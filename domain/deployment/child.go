package deployment

import (
	"encoding/json"
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/schema"
)

// ChildMisfit says why a plan that declares the type of this contract as its child can never use it: what it passes is not
// accepted, or no success of the child is what it expects. It is empty when both may fit (awl 8).
func (c *Contract) ChildMisfit(declared plan.Child) string {
	if wrong := misfit(declared.InputSchema, c.Plan.InputSchema); wrong != "" {
		return fmt.Sprintf("its parameters are not what %s takes: %s", c.Plan.WorkflowType, wrong)
	}
	if !declared.Called {
		return "" // nobody waits for the result
	}
	first := ""
	for _, o := range c.Plan.Outcomes {
		if o.Status != plan.Success {
			continue
		}
		wrong := misfit(o.Schema, declared.OutputSchema)
		if wrong == "" {
			return ""
		}
		if first == "" {
			first = fmt.Sprintf("its result is no outcome of %s; of %s: %s", c.Plan.WorkflowType, o.Name, wrong)
		}
	}
	return first
}

// misfit compares two schemas as types. One that has no type as a whole is not judged: what it accepts shows at run time.
func misfit(from, to json.RawMessage) string {
	a, ok := schema.TypeOf(from)
	b, also := schema.TypeOf(to)
	if !ok || !also {
		return ""
	}
	return schema.Misfit(a, b)
}
