package syntax

import "strings"

func (p *printer) subflow(s *Subflow) {
	p.list(0, &list{before: "subflow " + s.Name.Name, items: paramTexts(s.Params), comment: trailing(&s.Trivia)})
	p.open()
	if o := s.Outcome; o != nil {
		p.lead(1, &o.Trivia, nil)
		p.line(1, "outcome "+o.Name.Name+": type "+typeText(o.Type)+trailing(&o.Trivia))
	}
	for i, st := range s.Steps {
		above := st.Trivia
		above.BlankBefore = above.BlankBefore || i > 0
		p.lead(1, &above, st.Doc)
		p.step(1, st)
	}
	p.comments(1, s.Trailing)
}

// step writes a step without what stands above it.
func (p *printer) step(depth int, s *Step) {
	var t text
	t.write("step ", s.Name.Name)
	for i, a := range s.After {
		if i == 0 {
			t.write(" after ")
		}
		t.separate(i)
		t.write(a.Name)
	}
	p.line(depth, t.String()+trailing(&s.Trivia))
	p.open()
	p.statements(depth+1, s.Body)
	if h := s.Handler; h != nil {
		p.lead(depth+1, &h.Trivia, nil)
		p.line(depth+1, "on failure"+trailing(&h.Trivia))
		p.open()
		p.statements(depth+2, h.Body)
		p.comments(depth+2, h.Trailing)
		p.opened = false
	}
	for _, c := range s.Clauses {
		p.lead(depth+1, &c.Trivia, nil)
		p.clause(depth+1, c)
	}
	if v := s.Visits; v != nil {
		p.lead(depth+1, &v.Trivia, nil)
		p.line(depth+1, "max "+exprText(v.Max)+" visits"+trailing(&v.Trivia))
	}
	p.comments(depth+1, s.Trailing)
	p.opened = false
}

// clause writes a clause. A route with named fields stands on a line of its own; any other one when there is no room.
func (p *printer) clause(depth int, c *Clause) {
	guard := "otherwise"
	if c.Guard != nil {
		guard = "when " + exprText(c.Guard)
	}
	before := "outcome " + c.Name.Name + ": "
	route := routeList(c.Target)
	route.comment = trailing(&c.Trivia)
	one := before + guard + ", " + route.text()
	if len(c.Target.Args) == 0 && fits(depth, one) {
		p.line(depth, one+route.comment)
		return
	}
	if c.Guard == nil || fits(depth, before+guard+",") {
		p.line(depth, before+guard+",")
	} else {
		p.guard(depth, before, c.Guard)
	}
	p.route(depth+1, route)
}

// guard writes a guard that has no room, broken before each operator of its outermost chain of `and` or `or`.
func (p *printer) guard(depth int, before string, guard Expr) {
	operands, op := outermost(guard)
	for i, operand := range operands {
		var end string
		if i == len(operands)-1 {
			end = ","
		}
		if i == 0 {
			p.line(depth, before+"when "+exprText(operand)+end)
		} else {
			p.line(depth+1, op+" "+exprText(operand)+end)
		}
	}
}

// outermost takes a chain of one logical operator apart.
func outermost(e Expr) (operands []Expr, op string) {
	for {
		b, ok := e.(*Binary)
		if !ok || b.Op != "and" && b.Op != "or" || op != "" && b.Op != op {
			break
		}
		op = b.Op
		operands = append(operands, b.R)
		e = b.L
	}
	operands = append(operands, e)
	for i, j := 0, len(operands)-1; i < j; i, j = i+1, j-1 {
		operands[i], operands[j] = operands[j], operands[i]
	}
	return operands, op
}

// targetRoute is a route as a list; bare routes have no list.
type targetRoute struct {
	list
	bare bool
}

func routeList(t *Target) *targetRoute {
	r := &targetRoute{list: list{before: "route " + t.Name.Name}, bare: !t.HasArgs && t.Value == nil}
	r.items = argTexts(t.Args)
	if t.Value != nil {
		r.items, r.single = []string{exprText(t.Value)}, true
	}
	return r
}

func (r *targetRoute) text() string {
	if r.bare {
		return r.before
	}
	return r.oneLine()
}

// route writes `route TARGET`, broken when it has no room.
func (p *printer) route(depth int, r *targetRoute) {
	if r.bare {
		p.line(depth, strings.TrimRight(r.before, " ")+r.comment)
		return
	}
	p.list(depth, &r.list)
}
