package syntax

func (p *printer) statements(depth int, body []Stmt) {
	for _, s := range body {
		p.statement(depth, s)
	}
}

// statement has one case per statement.
func (p *printer) statement(depth int, s Stmt) {
	switch s := s.(type) {
	case *Call:
		p.lead(depth, &s.Trivia, nil)
		p.list(depth, &list{before: s.Name.Name, items: argTexts(s.Args), after: bindText(s.Bind), comment: trailing(&s.Trivia)})
		p.open()
		p.settings(depth+1, s.Settings)
		p.opened = false
	case *Spawn:
		p.lead(depth, &s.Trivia, nil)
		p.list(depth, &list{before: "spawn " + s.Name.Name, items: argTexts(s.Args), comment: trailing(&s.Trivia)})
	case *Pipe:
		p.lead(depth, &s.Trivia, nil)
		p.pipe(depth, s)
	case *Wait:
		t := "wait " + s.Signal.Name
		if s.Timeout != nil {
			t += " timeout " + durationText(s.Timeout)
		}
		p.leaf(depth, &s.Trivia, t+bindText(s.Bind))
	case *Sleep:
		p.leaf(depth, &s.Trivia, "sleep "+durationText(s.Duration))
	case *Route:
		p.lead(depth, &s.Trivia, nil)
		r := routeList(s.Target)
		r.comment = trailing(&s.Trivia)
		p.route(depth, r)
	case *Region:
		p.leaf(depth, &s.Trivia, s.Verb+" "+s.Item.Name+" in "+exprText(s.Over))
	case *Collect:
		t := "collect " + s.Name.Name
		if s.Tolerant {
			t += "?"
		}
		p.leaf(depth, &s.Trivia, t+bindText(s.Bind))
	case *Substep:
		p.lead(depth, &s.Step.Trivia, s.Step.Doc)
		p.step(depth, s.Step)
	case *Fork:
		p.fork(depth, s)
	case *Loop:
		p.loop(depth, s)
	}
}

// leaf writes a statement of one line.
func (p *printer) leaf(depth int, t *Trivia, text string) {
	p.lead(depth, t, nil)
	p.line(depth, text+trailing(t))
}

// bindText is the arrow and its name.
func bindText(n *Ident) string {
	if n == nil {
		return ""
	}
	return " -> " + n.Name
}

// pipe writes a chain; one that has no room breaks before each `|>`.
func (p *printer) pipe(depth int, s *Pipe) {
	parts := []string{exprText(s.Head)}
	for _, stage := range s.Stages {
		parts = append(parts, "|> "+stageText(stage))
	}
	var route *targetRoute
	if s.Route != nil {
		route = routeList(s.Route)
		route.before = "|> " + route.before
	} else {
		parts[len(parts)-1] += bindText(s.Bind)
	}
	comment := trailing(&s.Trivia)
	one := parts[0]
	for _, part := range parts[1:] {
		one += " " + part
	}
	if route != nil {
		one += " " + route.text()
	}
	if fits(depth, one) || len(parts) == 1 && route == nil {
		p.line(depth, one+comment)
		return
	}
	for i, part := range parts {
		if i == len(parts)-1 && route == nil {
			part += comment
		}
		p.line(depth+min(i, 1), part)
	}
	if route != nil {
		route.comment = comment
		p.route(depth+1, route)
	}
}

func stageText(s *Stage) string {
	var t text
	switch {
	case s.Name != nil:
		t.write(s.Name.Name)
	case s.Comb != nil:
		t.combinator(s.Comb)
	}
	for _, a := range s.Path {
		t.write(".", a.Name)
	}
	return t.String()
}

func (p *printer) fork(depth int, s *Fork) {
	head := "fork"
	if s.Item != nil {
		head += " " + s.Item.Name + " in " + exprText(s.Over)
	}
	if s.Sequential {
		head += " sequential"
	}
	p.leaf(depth, &s.Trivia, head)
	p.open()
	p.statements(depth+1, s.Body)
	p.comments(depth+1, s.BodyTrailing)
	p.opened = false
	join := s.JoinTrivia
	join.BlankBefore = false // it closes the block
	p.leaf(depth, &join, "join"+bindText(s.Bind))
}

func (p *printer) loop(depth int, s *Loop) {
	head := "loop " + s.Name.Name + " = " + exprText(s.Seed)
	if s.Counter != nil {
		head += " counting " + s.Counter.Name
	}
	p.leaf(depth, &s.Trivia, head)
	p.open()
	p.statements(depth+1, s.Body)
	if s.Until != nil {
		p.leaf(depth+1, &s.UntilTrivia, "until "+exprText(s.Until))
	}
	if s.Max != nil {
		p.leaf(depth+1, &s.MaxTrivia, "max "+exprText(s.Max))
	}
	p.comments(depth+1, s.BodyTrailing)
	p.opened = false
}
