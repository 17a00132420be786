package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// subflowCall is a call of a subflow from a step of another one, or of itself.
type subflowCall struct {
	name syntax.Ident
}

// call reads a call and binds its result.
func (p *place) call(s *syntax.Call) {
	op := p.c.operation(s.Name)
	if op == nil {
		p.reader().loose(s.Args)
		p.bindIdent(s.Bind, p.c.builtin.unknown)
		return
	}
	p.reader().args(argList{owner: s.Name, term: "parameter", fields: op.fields, args: s.Args})
	if op.kind == opSubflow {
		p.callSubflow(s)
	}
	p.callSettings(s.Settings, op)
	p.bindIdent(s.Bind, op.result)
}

// operation finds what is called (AWL2010).
func (c *checker) operation(id syntax.Ident) *operation {
	op, ok := c.ops.get(id.Name)
	if ok {
		op.used = true
		return op
	}
	if id.Name != "" {
		c.found.misspelt("AWL2010", id.Span, "", c.found.closest(id.Name, c.ops.names()), "name", id.Name)
	}
	return nil
}

// callSubflow judges where a subflow is called: as the only statement of a step.
func (p *place) callSubflow(s *syntax.Call) {
	switch {
	case p.nest != inStep:
		p.c.found.add("AWL5023", s.Name.Span, "name", s.Name.Name, "where", "inside "+p.nest.String(), "hint", subflowHint(p.nest))
	case len(p.node.step.Body) > 1:
		p.c.found.add("AWL5022", s.Name.Span, "name", s.Name.Name)
	}
	f := p.node.flow
	for f.isGroup() {
		f = f.around.flow
	}
	if f.sub != nil {
		p.c.calling[f.sub.Name.Name] = append(p.c.calling[f.sub.Name.Name], subflowCall{s.Name})
	}
}

// subflowHint says how a subflow is called from where it cannot be.
func subflowHint(n nesting) string {
	switch n {
	case inFork:
		return "write `distribute item in items` alone in a step, call it alone in the step below, and open a third step with `collect x -> xs`"
	case inLoop:
		return "repeat the step that calls it: a backward `route` to it from a clause, and `max <n> visits`"
	case inHandler:
		return "end `on failure` with `route next`, and call it alone in the step `next`"
	case inStep:
	}
	return ""
}

// checkSubflowCycles reports the calls by which a subflow comes back to itself (AWL5024).
func (c *checker) checkSubflowCycles() {
	state := map[string]foldState{}
	var visit func(name string)
	visit = func(name string) {
		state[name] = foldRunning
		for _, call := range c.calling[name] {
			switch state[call.name.Name] {
			case foldRunning:
				c.found.add("AWL5024", call.name.Span, "name", call.name.Name)
			case foldWaiting:
				visit(call.name.Name)
			case foldDone:
			}
		}
		state[name] = foldDone
	}
	for _, d := range c.doc.Subflows {
		if state[d.Name.Name] == foldWaiting {
			visit(d.Name.Name)
		}
	}
}

// spawn reads `spawn`, which starts a child and forgets it.
func (p *place) spawn(s *syntax.Spawn) {
	op := p.c.operation(s.Name)
	if op == nil {
		p.reader().loose(s.Args)
		return
	}
	switch op.kind {
	case opAction:
		p.c.found.add("AWL2019", s.Name.Span, "name", s.Name.Name)
	case opSubflow:
		p.c.found.add("AWL5023", s.Name.Span, "name", s.Name.Name, "where", "with `spawn`")
	case opChild:
	}
	p.reader().args(argList{owner: s.Name, term: "parameter", fields: op.fields, args: s.Args})
}

// pipe reads a chain. It is false when the chain ends in a route.
func (p *place) pipe(s *syntax.Pipe) bool {
	r := p.reader()
	_, declared := r.declared(s.Head)
	cur := reading{typ: declared, path: pathOf(s.Head), e: s.Head}
	for _, st := range s.Stages {
		cur = p.stage(r, cur, st)
	}
	t := r.narrow(cur)
	if s.Route != nil {
		p.target(s.Route, r, &chained{typ: t, shown: r.shown(cur)})
		return p.nest == inLoop || p.nest == inFork
	}
	p.bindIdent(s.Bind, t)
	return true
}

// stage reads one stage of a chain.
func (p *place) stage(r *reader, cur reading, st *syntax.Stage) reading {
	switch {
	case st.Name != nil:
		return reading{typ: p.callStage(r, cur, *st.Name)}
	case st.Comb != nil:
		at := st.Comb.Span
		if cur.e != nil {
			at = cur.e.Range()
		}
		return reading{typ: r.combine(r.narrow(cur), st.Comb, r.shown(cur), at)}
	default:
		for _, id := range st.Path {
			cur = r.field(cur, id)
		}
		cur.e = nil
		return cur
	}
}

// callStage reads a stage that is an action or child: the value is its only parameter, or its only required one.
func (p *place) callStage(r *reader, cur reading, id syntax.Ident) *schema.Type {
	op := p.c.operation(id)
	if op == nil {
		return p.c.builtin.unknown
	}
	if op.kind == opSubflow {
		p.c.found.add("AWL5023", id.Span, "name", id.Name, "where", "as a stage")
		return op.result
	}
	param := onlyParam(op.fields)
	if param == nil {
		p.c.found.add("AWL3023", id.Span, "name", id.Name, "n", count(len(op.fields)))
		return op.result
	}
	t := r.narrow(cur)
	switch code := p.c.misfit(t, param.Type); code {
	case "":
	case "AWL3006":
		r.absent(r.shown(cur), id.Span)
	default:
		p.c.found.add(code, id.Span, "position", "stage `"+id.Name+"`", "expected", show(param.Type), "found", show(t))
	}
	return op.result
}

// onlyParam is the parameter that takes the value of a chain; nil when there is no single one.
func onlyParam(fields []schema.Field) *schema.Field {
	if len(fields) == 1 {
		return &fields[0]
	}
	var only *schema.Field
	for i := range fields {
		if isOptional(fields[i].Type) {
			continue
		}
		if only != nil {
			return nil
		}
		only = &fields[i]
	}
	return only
}
