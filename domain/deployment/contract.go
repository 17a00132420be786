package deployment

import (
	"fmt"
	"sort"
	"strings"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/awl/plan"
	"aion/domain/schema"
)

// Contract is a loaded version: the decoded plan and what judges the values at its border. It is immutable and safe for
// concurrent use.
type Contract struct {
	Plan    *plan.Plan
	input   *schema.Schema
	signals map[string]*schema.Schema
	results map[place]result
	childs  map[string]*schema.Schema
}

// place names an action of a plan.
type place struct{ queue, action string }

// result is what an action may answer; null tells whether null fits.
type result struct {
	*schema.Schema
	null bool
}

// Load decodes a version's plan and compiles its schemas. A plan that this program cannot read is refused (StoreFault):
// it stops the runs that use it and nothing else.
func Load(v Version) (*Contract, error) {
	p, err := plan.Decode(v.Plan)
	if err != nil {
		return nil, unreadable(v, err)
	}
	c := &Contract{
		Plan: p, signals: map[string]*schema.Schema{}, results: map[place]result{},
		childs: map[string]*schema.Schema{},
	}
	if c.input, err = schema.Compile(p.InputSchema); err != nil {
		return nil, unreadable(v, err)
	}
	for _, s := range p.Signals {
		if c.signals[s.Name], err = schema.Compile(s.Schema); err != nil {
			return nil, unreadable(v, err)
		}
	}
	for _, w := range p.Workers {
		for _, a := range w.Actions {
			s, err := schema.Compile(a.OutputSchema)
			if err != nil {
				return nil, unreadable(v, err)
			}
			c.results[place{w.Name, a.Name}] = result{s, len(s.Validate([]byte("null"))) == 0}
		}
	}
	for _, k := range p.Children {
		if c.childs[k.Name], err = schema.Compile(k.OutputSchema); err != nil {
			return nil, unreadable(v, err)
		}
	}
	return c, nil
}

func unreadable(v Version, err error) error {
	return &domain.Error{
		Code: domain.CodeBackend, Type: "StoreFault", Err: err,
		Message: fmt.Sprintf("the plan of %s version %s cannot be loaded", v.WorkflowType, v.ContentHash),
	}
}

// AcceptInput refuses an input that does not fit the workflow's declaration (InputRejected).
func (c *Contract) AcceptInput(input domain.Payload) error {
	found := c.input.Validate(input)
	if len(found) == 0 {
		return nil
	}
	return rejected("InputRejected", fmt.Sprintf("the input does not fit workflow %s: %s; it takes %s; correct the input and repeat the call",
		c.Plan.WorkflowType, places(found), c.input.Shape()), found)
}

// AcceptSignal refuses an undeclared name (UnknownSignal) and a payload that does not fit (SignalPayloadRejected). An
// absent payload counts as null. The payload to record is returned.
func (c *Contract) AcceptSignal(name string, payload domain.Payload) (domain.Payload, error) {
	s, ok := c.signals[name]
	if !ok {
		return nil, c.unknownSignal(name)
	}
	text := payload
	if text == nil {
		text = domain.Payload("null")
	}
	if found := s.Validate(text); len(found) > 0 {
		wrong := "does not fit signal " + name + ": " + places(found)
		if payload == nil {
			wrong = "of signal " + name + " is missing: expected " + found[0].Expected
		}
		return nil, rejected("SignalPayloadRejected", fmt.Sprintf("the payload %s; it takes %s; correct the payload and repeat the call",
			wrong, s.Shape()), found)
	}
	return text, nil
}

func (c *Contract) unknownSignal(name string) error {
	declared := make([]string, 0, len(c.signals))
	for s := range c.signals {
		declared = append(declared, s)
	}
	sort.Strings(declared)
	known := "it declares no signal"
	if len(declared) > 0 {
		known = "it declares: " + strings.Join(declared, ", ")
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "UnknownSignal", Details: map[string]any{"signals": declared},
		Message: fmt.Sprintf("workflow %s has no signal %q; %s", c.Plan.WorkflowType, domain.Quote(name, 64), known),
	}
}

// JudgeResult holds a result against the declared type of its action: a misfit is the failure to record, terminal and
// with the first place that does not fit. A result of an action that the plan does not declare is not judged.
func (c *Contract) JudgeResult(queue, name string, result domain.Payload) action.Verdict {
	s, ok := c.results[place{queue, name}]
	if !ok {
		return action.Completed{Result: result}
	}
	found := s.Validate(result)
	if len(found) == 0 {
		return action.Completed{Result: result}
	}
	return action.Fail(action.Terminal, action.CodeResultInvalid,
		fmt.Sprintf("the result of %s does not fit its declared type: %s", name, places(found)), nil)
}

// ResultIsNil reports whether the declared result of an action is Nil: the only type that null fits.
func (c *Contract) ResultIsNil(queue, name string) bool { return c.results[place{queue, name}].null }

// JudgeChild holds the result of a child against what the plan declares for its type; misfit says what does not fit and is
// empty when everything does.
func (c *Contract) JudgeChild(workflowType string, result domain.Payload) (misfit string) {
	s, ok := c.childs[workflowType]
	if !ok {
		return ""
	}
	found := s.Validate(result)
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("the result of child %s does not fit its declared type: %s", workflowType, places(found))
}

func rejected(typ, message string, found []schema.Violation) error {
	errs := make([]map[string]any, 0, min(len(found), 10))
	for _, v := range found[:min(len(found), 10)] {
		errs = append(errs, map[string]any{"pointer": v.Pointer, "message": v.Message})
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: typ, Details: map[string]any{"errors": errs},
		Message: message,
	}
}

// places lists the first five findings: pointer, declared type, what came or what to do.
func places(found []schema.Violation) string {
	const shown = 5
	var b strings.Builder
	for i, v := range found[:min(len(found), shown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.Message)
	}
	if len(found) > shown {
		fmt.Fprintf(&b, "; and %d more", len(found)-shown)
	}
	return b.String()
}
