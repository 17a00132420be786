package check

import (
	"strconv"

	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

func count(n int) string { return strconv.Itoa(n) }

// chained is the value that a chain brings to the target of its route.
type chained struct {
	typ   *schema.Type
	shown string // its spelling
}

// target reads a route's target: that it exists and can be reached from here, and that its payload fits. r reads the
// payload; value is what a chain brings, nil without one.
func (p *place) target(t *syntax.Target, r *reader, value *chained) {
	if t.Name.Name == "" {
		p.payloadAlone(t, r)
		return
	}
	l := p.node.land(t.Name.Name, p.nest)
	if l.outcome != nil {
		l.outcome.used = true
	}
	switch {
	case l.code == "AWL2012":
		if p.node.flow.isMain() && len(p.c.outcomes.byName) == 0 {
			break // there is nothing to route to, which is reported once
		}
		near := p.c.nearLanding(p.node.flow, t.Name.Name)
		p.c.found.misspelt(l.code, t.Name.Span, "", near, l.pairs...)
	case l.code != "":
		p.c.found.add(l.code, t.Name.Span, l.pairs...)
	case l.kind == toOutcome:
		p.payload(t, l.outcome, r, value)
		return
	case t.HasArgs || t.Value != nil || value != nil:
		if l.kind == toClause {
			p.c.found.advise("write `route "+t.Name.Name+"`", "AWL4013", t.Name.Span, "name", t.Name.Name,
				"type", "what its own route says", "what", "a route to it takes no payload")
		} else {
			p.c.found.add("AWL4011", t.Name.Span, "name", t.Name.Name)
		}
	}
	p.payloadAlone(t, r)
}

// isMain says whether the flow is the workflow's, or a group inside it.
func (f *flow) isMain() bool {
	for f.isGroup() {
		f = f.around.flow
	}
	return f.sub == nil
}

// nearLanding is the step or outcome that a misspelt target probably means.
func (c *checker) nearLanding(f *flow, name string) string {
	if !c.found.guessing() {
		return ""
	}
	names := f.stepNames()
	for o := range f.outcomes {
		names = append(names, o)
	}
	if f.isGroup() {
		for _, cl := range f.around.step.Clauses {
			names = append(names, cl.Name.Name)
		}
	}
	return c.found.closest(name, names)
}

// payloadAlone reads a payload whose target says nothing about it.
func (p *place) payloadAlone(t *syntax.Target, r *reader) {
	r.loose(t.Args)
	if t.Value != nil {
		r.value(t.Value, nil)
	}
}

// payload reads what a route gives to an outcome, in one of four forms.
func (p *place) payload(t *syntax.Target, o *outcome, r *reader, value *chained) {
	name := t.Name.Name
	refuse := func(what, hint string) {
		p.c.found.advise(hint, "AWL4013", t.Name.Span, "name", name, "type", show(o.typ), "what", what)
		p.payloadAlone(t, r)
	}
	switch {
	case value != nil && (t.HasArgs || t.Value != nil):
		refuse("the chain gives it its payload", "end the chain with `|> route "+name+"`")
	case value != nil:
		p.chainedPayload(t, o, r, value)
	case o.typ.Kind == schema.Nil && (t.HasArgs || t.Value != nil):
		refuse("it takes no payload", "write `route "+name+"`")
	case t.HasArgs && o.typ.Kind == schema.Record:
		r.args(argList{owner: t.Name, term: "field", fields: o.typ.Fields, args: t.Args})
	case t.HasArgs && isUnknown(o.typ):
		r.loose(t.Args)
	case t.HasArgs:
		refuse("only a record is given by its fields", "")
	case t.Value != nil:
		r.fit(t.Value, o.typ, "outcome `"+name+"`")
	case o.typ.Kind != schema.Nil:
		p.barePayload(t, o, r)
	}
}

func (p *place) chainedPayload(t *syntax.Target, o *outcome, r *reader, value *chained) {
	switch code := p.c.misfit(value.typ, o.typ); {
	case code == "":
	case code == "AWL3006":
		r.absent(value.shown, t.Name.Span)
	case o.typ.Kind == schema.Nil:
		p.c.found.advise("write `route "+t.Name.Name+"` in a line of its own", "AWL4013", t.Name.Span,
			"name", t.Name.Name, "type", show(o.typ), "what", "it takes no payload")
	default:
		p.c.found.add(code, t.Name.Span, "position", "outcome `"+t.Name.Name+"`", "expected", show(o.typ), "found", show(value.typ))
	}
}

// barePayload reads the binding that a bare route carries.
func (p *place) barePayload(t *syntax.Target, o *outcome, r *reader) {
	name := t.Name.Name
	typ, how := r.s.find(name)
	switch how {
	case perhaps:
		p.c.found.add("AWL2007", t.Name.Span, "name", name)
		return
	case unbound:
		p.c.found.add("AWL4012", t.Name.Span, "name", name)
		return
	case bound, assumed:
	}
	p.c.use(name)
	typ = r.narrow(reading{typ: typ, path: name})
	switch code := p.c.misfit(typ, o.typ); code {
	case "":
	case "AWL3006":
		r.absent(name, t.Name.Span)
	default:
		p.c.found.add(code, t.Name.Span, "position", "outcome `"+name+"`", "expected", show(o.typ), "found", show(typ))
	}
}
