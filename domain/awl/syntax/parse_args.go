package syntax

import (
	"slices"
	"strings"

	"aion/domain/awl/diag"
)

// args = [ LABEL ":" expr { "," LABEL ":" expr } [ "," ] ] , and the closing parenthesis. owner is what takes them.
func (p *parser) args(owner string) []*Arg {
	var list []*Arg
	for !p.bad && p.tok.kind != rparen {
		a := p.arg(owner, len(list))
		if p.bad {
			return list
		}
		list = append(list, a)
		if !p.accept(comma) {
			break
		}
	}
	p.expect(rparen, "`,` or `)`")
	return list
}

// arg reads one argument. One without a name is reported and kept with an empty name.
func (p *parser) arg(owner string, i int) *Arg {
	if p.tok.kind == word {
		if p.peek().kind == colon {
			a := &Arg{Name: p.ident()}
			p.next()
			a.Value = p.expr()
			return a
		}
		if p.peek().kind == assign {
			return p.assignedArg()
		}
	}
	if !p.startsExpr() {
		p.expected("an argument")
		return nil
	}
	e := p.expr()
	if !p.bad {
		p.positionalArg(owner, i, e)
	}
	return &Arg{Value: e}
}

// assignedArg reads `name = value`, the spelling of other languages.
func (p *parser) assignedArg() *Arg {
	a := &Arg{Name: p.ident()}
	sign := p.next().span
	gap := diag.Span{Start: a.Name.Span.End, End: sign.End}
	a.Value = p.expr()
	if !p.bad {
		at := a.Value.Range()
		text := ": "
		if sign.End.Offset < at.Start.Offset {
			text = ":"
		}
		p.fixed("AWL1011", at, diag.Fix{Span: gap, Text: text}, "param", a.Name.Name, "value", p.excerpt(at))
	}
	return a
}

// positional is an argument without a name, to be reported when the parameters of its owner are known.
type positional struct {
	owner string
	index int
	at    diag.Span
}

func (p *parser) positionalArg(owner string, i int, value Expr) {
	if p.found.full() || len(p.positional) >= maxFound {
		p.found.add(diag.Diagnostic{Span: value.Range()})
		return
	}
	p.positional = append(p.positional, positional{owner, i, value.Range()})
}

// reportPositional reports the arguments without a name, each with the name it should have.
func (p *parser) reportPositional() {
	if len(p.positional) == 0 {
		return
	}
	names := p.parameterNames()
	for _, a := range p.positional {
		param, hint := "<name>", ""
		if list := names[a.owner]; a.index < len(list) {
			param = list[a.index]
		} else if _, declared := names[a.owner]; !declared && !p.nameUse(a.owner).called && !startsUpper(a.owner) && !p.isStep(a.owner) {
			hint = undeclaredHint(a.owner)
		}
		p.found.report("AWL1011", a.at, "param", param, "value", p.excerpt(a.at), "hint", hint)
	}
}

// isStep says whether a step has been read that is called so.
func (p *parser) isStep(name string) bool {
	return slices.ContainsFunc(p.ranges, func(r stepRange) bool { return r.step.Name.Name == name })
}

// parameterNames gives what each action, child, subflow, record type and record outcome takes, in order.
func (p *parser) parameterNames() map[string][]string {
	names := map[string][]string{}
	fields := map[string][]string{}
	params := func(owner string, list []*Param) {
		for _, x := range list {
			names[owner] = append(names[owner], x.Name.Name)
		}
	}
	for _, t := range p.doc.Types {
		for _, f := range t.Fields {
			fields[t.Name.Name] = append(fields[t.Name.Name], f.Name.Name)
		}
		names[t.Name.Name] = fields[t.Name.Name]
	}
	for _, w := range p.doc.Workers {
		for _, a := range w.Actions {
			params(a.Name.Name, a.Params)
		}
	}
	for _, c := range p.doc.Children {
		params(c.Name.Name, c.Params)
	}
	for _, s := range p.doc.Subflows {
		params(s.Name.Name, s.Params)
	}
	if p.doc.Header != nil {
		for _, o := range p.doc.Header.Outcomes {
			if o.Type != nil && names[o.Name.Name] == nil {
				names[o.Name.Name] = fields[o.Type.Name.Name]
			}
		}
	}
	return names
}

// excerpt is the source of a span on one line, shortened.
func (p *parser) excerpt(s diag.Span) string {
	return shorten(strings.Join(strings.Fields(p.text(s)), " "))
}
