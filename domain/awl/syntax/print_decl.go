package syntax

import "strings"

// declarations writes the header and everything below it, in the canonical order of kinds.
func (p *printer) declarations(d *Document) {
	var group group
	if d.Header != nil {
		p.header(d.Header)
		group.kind = 1
	}
	widths := typeWidths(d.Types)
	sections := [][]Decl{
		decls(d.Consts), decls(d.Types), decls(d.Commands), decls(d.Workers), decls(d.Children), decls(d.Subflows), decls(d.Steps),
	}
	if d.Header == nil {
		sections[0], sections[1], sections[2], sections[3] = sections[3], sections[0], sections[1], sections[2]
	}
	for i, section := range sections {
		for j, decl := range section {
			body := &printer{}
			body.decl(decl, widths, j)
			p.declaration(decl, &group, i+2, body)
		}
	}
}

// decls widens a slice of one kind of declaration.
func decls[D Decl](list []D) []Decl {
	all := make([]Decl, 0, len(list))
	for _, d := range list {
		all = append(all, d)
	}
	return all
}

// group is the declaration above: its kind, 0 at the top of the document, and whether it takes one line.
type group struct {
	kind    int
	oneLine bool
}

// declaration writes a rendered declaration with what stands above it. Between two there is a blank line, except where
// both are one line of the same kind: there the author's choice stays.
func (p *printer) declaration(d Decl, above *group, kind int, body *printer) {
	t, doc := head(d)
	this := group{kind, body.lines == 1}
	free := above.kind == kind && above.oneLine && this.oneLine
	gap := Trivia{BlankBefore: above.kind != 0 && (!free || t.BlankBefore), Leading: t.Leading, BlankAfter: t.BlankAfter}
	p.lead(0, &gap, doc)
	p.b.Write(body.b.Bytes())
	p.opened = false
	*above = this
}

// head gives what stands above a declaration.
func head(d Decl) (*Trivia, []string) {
	switch d := d.(type) {
	case *Const:
		return &d.Trivia, d.Doc
	case *TypeDecl:
		return &d.Trivia, d.Doc
	case *Command:
		return &d.Trivia, d.Doc
	case *Worker:
		return &d.Trivia, d.Doc
	case *Child:
		return &d.Trivia, d.Doc
	case *Subflow:
		return &d.Trivia, d.Doc
	case *Step:
		return &d.Trivia, d.Doc
	}
	return &Trivia{}, nil
}

// decl writes a declaration without what stands above it; i is its place among those of its kind.
func (p *printer) decl(d Decl, widths []int, i int) {
	switch d := d.(type) {
	case *Const:
		p.line(0, "const "+d.Name.Name+" = "+constText(d)+trailing(&d.Trivia))
	case *TypeDecl:
		p.typeDecl(d, widths[i])
	case *Command:
		p.command(d)
	case *Worker:
		p.worker(d)
	case *Child:
		p.list(0, &list{
			before: "child " + d.Name.Name, items: paramTexts(d.Params), after: " -> " + typeText(d.Result),
			comment: trailing(&d.Trivia),
		})
	case *Subflow:
		p.subflow(d)
	case *Step:
		p.step(0, d)
	}
}

func constText(c *Const) string {
	if c.Value == nil {
		return ""
	}
	return exprText(c.Value)
}

func paramTexts(params []*Param) []string {
	texts := make([]string, 0, len(params))
	for _, x := range params {
		texts = append(texts, x.Name.Name+": "+typeText(x.Type))
	}
	return texts
}

func (p *printer) header(h *Header) {
	above := Trivia{Leading: h.Leading, BlankAfter: h.BlankAfter}
	p.lead(0, &above, nil)
	p.line(0, "workflow "+h.Name.Name+trailing(&h.Trivia))
	p.open()
	if h.Timeout != nil {
		p.lead(1, &h.TimeoutTrivia, nil)
		p.line(1, "timeout "+durationText(h.Timeout)+trailing(&h.TimeoutTrivia))
	}
	for _, i := range h.Inputs {
		p.lead(1, &i.Trivia, i.Doc)
		p.line(1, "input "+i.Name.Name+": "+typeText(i.Type)+trailing(&i.Trivia))
	}
	for _, s := range h.Signals {
		p.lead(1, &s.Trivia, s.Doc)
		p.line(1, "signal "+s.Name.Name+": "+typeText(s.Type)+trailing(&s.Trivia))
	}
	p.outcomes(h.Outcomes)
	p.comments(1, h.Trailing)
}

// outcomes writes outcome declarations; in a run without anything between them their parts line up.
func (p *printer) outcomes(all []*OutcomeDecl) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && adjacent(&all[n].Trivia, all[n].Doc) {
			n++
		}
		names, types := 0, 0
		for _, o := range all[:n] {
			names = max(names, len(o.Name.Name))
			types = max(types, len(typeText(o.Type)))
		}
		for _, o := range all[:n] {
			status := "success"
			if o.Failure {
				status = "failure"
			}
			p.lead(1, &o.Trivia, o.Doc)
			p.line(1, "outcome "+pad(o.Name.Name+":", names+1)+" type "+pad(typeText(o.Type)+",", types+1)+
				" route "+status+trailing(&o.Trivia))
		}
		all = all[n:]
	}
}

// adjacent says that nothing stands between a node and the one above it.
func adjacent(t *Trivia, doc []string) bool {
	return !t.BlankBefore && len(t.Leading) == 0 && len(doc) == 0
}

// pad fills a text of ASCII up to a number of columns.
func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-len(s)))
}
