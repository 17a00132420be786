package check

import (
	"fmt"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// checkHeader judges what the document as a whole must have.
func (c *checker) checkHeader() {
	h := c.doc.Header
	if h == nil {
		return
	}
	c.duration(h.Timeout, nil)
	if len(h.Outcomes) == 0 {
		c.found.add("AWL4019", h.Name.Span, "name", h.Name.Name)
	}
	if len(c.doc.Steps) == 0 {
		c.found.add("AWL4020", h.Name.Span, "name", h.Name.Name)
	}
}

// checkFlows reads the workflow's steps and the subflows.
func (c *checker) checkFlows() {
	if c.isWorker {
		return
	}
	inputs := &scope{vars: map[string]*schema.Type{}}
	for name, p := range c.inputs.byName {
		inputs.vars[name] = p.typ
	}
	c.checkFlow(c.doc.Steps, inputs, c.outcomes.byName, nil)
	for _, op := range c.operations {
		if op.kind == opSubflow {
			c.checkSubflow(op)
		}
	}
	c.checkSubflowCycles()
}

func (c *checker) checkSubflow(op *operation) {
	params := &scope{vars: map[string]*schema.Type{}}
	for _, p := range op.params {
		c.freeOfConsts(p.Name)
	}
	for _, f := range op.fields {
		params.vars[f.Name] = f.Type
	}
	outcomes := map[string]*outcome{}
	if o := op.subflow.Outcome; o != nil {
		outcomes[o.Name.Name] = &outcome{name: o.Name, typ: op.result, used: true}
	}
	c.checkFlow(op.subflow.Steps, params, outcomes, op.subflow)
}

// checkFlow reads the steps of the workflow (sub is nil) or of a subflow.
func (c *checker) checkFlow(steps []*syntax.Step, base *scope, outcomes map[string]*outcome, sub *syntax.Subflow) {
	uni := newUniverse()
	uni.scan(steps)
	f := newFlow(uni, steps)
	f.outcomes, f.sub, f.loose, f.base = outcomes, sub, c.found.lenient, base
	c.analyse(f)
	c.readFlow(f)
}

// readFlow reports on the graph of a flow and reads its steps, each after those that lead to it.
func (c *checker) readFlow(f *flow) {
	c.checkStepNames(f)
	c.checkGraph(f)
	read := make([]bool, len(f.nodes))
	if !f.loose {
		for _, n := range f.order() {
			if n.reached {
				read[n.index] = true
				c.readStep(n)
			}
		}
	}
	for _, n := range f.nodes {
		if !read[n.index] && (n.reached || f.loose) {
			c.readStep(n)
		}
	}
	if !f.loose {
		c.checkMeeting(f)
	}
}

// checkStepNames judges the names of a flow's steps: one per step, and none that an outcome has.
func (c *checker) checkStepNames(f *flow) {
	var ids []syntax.Ident
	for _, n := range f.nodes {
		id := n.step.Name
		if f.loose || n.reached {
			c.snake(id)
		}
		ids = append(ids, id)
		if o := f.outcomes[id.Name]; o != nil {
			c.sharedName(id, o.name, "an outcome", "a step")
		}
		if f.isGroup() && id.Name != "" {
			for _, cl := range f.around.step.Clauses {
				if cl.Name.Name == id.Name {
					c.sharedName(id, cl.Name, "an outcome", "a step")
				}
			}
		}
	}
	c.unique("step", ids)
}

// sharedName reports a name that two kinds of things bear, at the later one (AWL2021).
func (c *checker) sharedName(a, b syntax.Ident, kindOfB, kindOfA string) {
	later, what := a, kindOfB
	if b.Span.Start.Offset > a.Span.Start.Offset {
		later, what = b, kindOfA
	}
	c.found.add("AWL2021", later.Span, "name", later.Name, "what", what)
}

// checkGraph reports what is wrong with the ways between the steps of a flow.
func (c *checker) checkGraph(f *flow) {
	waits := map[*node]bool{}
	for _, part := range f.waiting {
		names := make([]string, 0, len(part))
		for _, n := range part {
			waits[n] = true
			names = append(names, n.step.Name.Name)
		}
		c.found.add("AWL4001", part[0].step.Name.Span, "cycle", listed(names))
	}
	sure := map[*node]bool{}
	for _, n := range f.nodes {
		switch {
		case f.loose:
			c.checkAfter(n, waits[n], nil)
		case n.reached:
			c.checkAfter(n, false, sure)
			c.checkLeadsOn(n)
		case f.byName[n.step.Name.Name] == n && !f.isEnd(n.step.Name.Name):
			c.found.add("AWL4002", n.step.Name.Span, "name", n.step.Name.Name)
		}
	}
	if !f.loose && !c.found.lenient {
		c.checkBounds(f)
		c.checkParallel(f)
	}
}

// checkAfter judges the names of `after`. A step in a cycle of them is not told that it is the first as well.
func (c *checker) checkAfter(n *node, inCycle bool, sure map[*node]bool) {
	c.unique("dependency", n.step.After)
	for _, id := range n.step.After {
		dep, code, pairs := n.dependency(id)
		switch {
		case code == "AWL2013":
			c.found.misspelt(code, id.Span, "", c.nearTarget(n.flow, id.Name), pairs...)
		case code == "AWL4015":
			if !inCycle {
				c.found.add(code, n.step.After[0].Span)
			}
		case code != "":
			c.found.add(code, id.Span, pairs...)
		case sure == nil || !dep.reached || dep.opens != nil && dep.opens == n.region:
		case !dep.inevitable(sure):
			c.found.add("AWL4018", id.Span, "name", id.Name)
		}
	}
}

// checkLeadsOn reports a step that completes and leads nowhere.
func (c *checker) checkLeadsOn(n *node) {
	if n.opens != nil || !n.fallsOut() || n.falls || n.waited {
		return
	}
	isLast := n.index == len(n.flow.nodes)-1
	switch {
	case isLast && n.flow.isGroup():
	case isLast:
		c.found.add("AWL4003", n.step.Name.Span, "name", n.step.Name.Name)
	default:
		c.found.add("AWL4004", n.step.Name.Span, "name", n.step.Name.Name)
	}
}

// duration checks a duration that may be a const (AWL3018). The names of s are values, and no durations.
func (c *checker) duration(d *syntax.Duration, s *scope) (ms int64, ok bool) {
	if d == nil {
		return 0, false
	}
	if d.Name == nil {
		return d.MS, true
	}
	k, declared := c.consts.get(d.Name.Name)
	switch {
	case declared && k.isDuration:
		k.used = true
		return k.ms, true
	case declared:
		k.used = true
		hint := "write the value of the const as a duration: `const " + d.Name.Name + " = 30s`"
		if n, isInt := k.decl.Value.(*syntax.IntLit); isInt {
			hint = fmt.Sprintf("write the value of the const with its unit: `const %s = %ds`", d.Name.Name, n.Value)
		}
		c.found.add("AWL3018", d.Span, "name", d.Name.Name, "hint", hint)
	case c.isInput(d.Name.Name) || s.knows(d.Name.Name):
		c.found.add("AWL3018", d.Span, "name", d.Name.Name)
	default:
		near := c.found.closest(d.Name.Name, c.consts.names())
		hint := "declare it, `const " + d.Name.Name + " = 30s`, or write a duration such as `30s` in its place"
		if near != "" {
			hint = "use `" + near + "`, or declare `const " + d.Name.Name + " = 30s`"
		}
		c.found.misspelt("AWL2006", d.Span, "", near, "name", d.Name.Name, "hint", hint)
	}
	return 0, false
}
