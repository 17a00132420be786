package check

import (
	"maps"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// list reads a statement list and says whether its end can be reached.
func (p *place) list(list []syntax.Stmt) bool {
	for i := 0; i < len(list); i++ {
		var goesOn bool
		if run, next := substeps(list, i); len(run) > 0 {
			goesOn = p.group(run)
			i = next - 1
		} else {
			goesOn = p.statement(list[i])
		}
		if !goesOn {
			if i+1 < len(list) {
				p.c.found.add("AWL4006", list[i+1].Range())
			}
			return false
		}
	}
	return true
}

// statement reads one statement other than a substep. It is false after a route.
func (p *place) statement(s syntax.Stmt) bool {
	switch v := s.(type) {
	case *syntax.Call:
		p.call(v)
	case *syntax.Spawn:
		p.spawn(v)
	case *syntax.Pipe:
		return p.pipe(v)
	case *syntax.Wait:
		p.wait(v)
	case *syntax.Sleep:
		p.c.duration(v.Duration, p.scope)
	case *syntax.Route:
		if v.Target != nil {
			p.target(v.Target, p.reader(), nil)
		}
		return p.nest == inLoop || p.nest == inFork // where it is refused, it ends nothing
	case *syntax.Fork:
		p.fork(v)
	case *syntax.Loop:
		p.loop(v)
	case *syntax.Region:
		p.region(v)
	case *syntax.Collect:
		p.collect(v)
	}
	return true
}

// group reads consecutive substeps: a flow of its own, entered with what is known here.
func (p *place) group(run []*syntax.Step) bool {
	f := p.c.group(run, p.node, p.nest)
	f.base, f.record = p.scope, p.record
	p.c.readFlow(f)
	end := &point{f: f, at: f.leave, isEnd: true}
	if f.loose {
		end.at = nil
	} else if f.leave == nil {
		return false
	}
	p.scope = (&scope{up: p.scope, point: end}).child()
	return true
}

// wait reads `wait`: the payload of a signal, which is absent when the time is up.
func (p *place) wait(s *syntax.Wait) {
	t := p.c.builtin.unknown
	if sig, ok := p.c.signals.get(s.Signal.Name); ok {
		sig.used = true
		t = sig.typ
	} else if s.Signal.Name != "" {
		near := p.c.found.closest(s.Signal.Name, p.c.signals.names())
		p.c.found.misspelt("AWL2011", s.Signal.Span, "", near, "name", s.Signal.Name)
	}
	if s.Timeout != nil {
		p.c.duration(s.Timeout, p.scope)
		t = optionalOf(t)
	}
	p.bindIdent(s.Bind, t)
}

// fork reads a fork: a branch per item, or a branch per statement.
func (p *place) fork(s *syntax.Fork) {
	if s.Item == nil {
		p.namedFork(s)
		return
	}
	q := p.inside(inFork, true)
	item := p.reader().items(s.Over, "fork")
	q.bind(*s.Item, item)
	ends := q.list(s.Body)
	if s.Bind == nil {
		return
	}
	t, ok := q.yields(s)
	if !ok && ends {
		p.c.found.add("AWL5020", s.Bind.Span)
	}
	p.bind(*s.Bind, listOf(t))
}

// yields is the value that a branch ends in: what its last statement gives.
func (p *place) yields(s *syntax.Fork) (*schema.Type, bool) {
	unknown := p.c.builtin.unknown
	if len(s.Body) == 0 {
		return unknown, true // reported by the parser
	}
	last := s.Body[len(s.Body)-1]
	var t *schema.Type
	switch v := last.(type) {
	case *syntax.Call:
		op, ok := p.c.ops.get(v.Name.Name)
		if !ok || op.kind == opSubflow {
			return unknown, true
		}
		t = op.result
	case *syntax.Pipe, *syntax.Wait, *syntax.Fork:
		id := binding(last)
		if id == nil {
			return unknown, false
		}
		t, _ = p.scope.find(id.Name)
	case *syntax.Route:
		return unknown, true // refused already
	}
	switch {
	case t == nil || t.Kind == schema.Nil:
		return unknown, false
	case isOptional(t):
		p.reader().absent(binding(last).Name, binding(last).Span)
		return unknown, true
	}
	return t, true
}

// namedFork reads a fork whose statements are branches. Each sees what was known before the fork; afterwards the bindings
// of all exist together.
func (p *place) namedFork(s *syntax.Fork) {
	if s.Bind != nil {
		p.c.found.add("AWL5019", s.Bind.Span)
	}
	joined := p.scope
	taken := map[string]*schema.Type{}
	for i := 0; i < len(s.Body); i++ {
		q := p.inside(inFork, false)
		if run, next := substeps(s.Body, i); len(run) > 0 {
			q.group(run)
			i = next - 1
		} else {
			if id := binding(s.Body[i]); id != nil && taken[id.Name] != nil {
				p.c.found.add("AWL2008", id.Span, "name", id.Name)
			}
			q.statement(s.Body[i])
		}
		for sc := q.scope; sc != p.scope; sc = sc.up {
			maps.Copy(taken, sc.vars)
			if sc.point != nil {
				joined = &scope{up: joined, point: sc.point}
			}
		}
	}
	if joined != p.scope {
		p.scope = joined.child()
	}
	if p.scope.vars == nil {
		p.scope.vars = map[string]*schema.Type{}
	}
	maps.Copy(p.scope.vars, taken)
}

// loop reads a loop. Its body carries one value from pass to pass.
func (p *place) loop(s *syntax.Loop) {
	at := keyword(s.Span, "loop")
	seed := p.reader().value(s.Seed, nil)
	p.loopParts(s, at)
	counter := s.Counter
	if counter != nil && counter.Name == s.Name.Name {
		p.c.found.add("AWL5007", counter.Span)
		counter = nil
	}
	before := p.scope
	body := p.inside(inLoop, true)
	carrier := body.scope
	carrier.threaded = s.Name.Name
	seed, nameFree := p.claim(s.Name, seed)
	carrier.vars = map[string]*schema.Type{s.Name.Name: seed}
	counterFree := false
	if counter != nil {
		_, counterFree = p.claim(*counter, p.c.builtin.integer)
		carrier.vars[counter.Name] = p.c.builtin.integer
	}
	ends := body.list(s.Body)
	if !carrier.rebound && s.Name.Name != "" && ends {
		p.c.found.add("AWL5003", at, "name", s.Name.Name)
	}
	if s.Until != nil {
		body.reader().condition(s.Until, "`until`")
	}
	if s.Max != nil {
		p.loopBound(s, before)
	}
	if nameFree {
		p.set(s.Name, seed)
	}
	if counterFree {
		p.set(*counter, p.c.builtin.integer)
	}
}

func (p *place) loopParts(s *syntax.Loop, at diag.Span) {
	if s.Max == nil {
		p.c.found.add("AWL5001", at)
	}
	if s.Until == nil {
		p.c.found.add("AWL5002", at)
	}
}

// loopBound reads `max` of a loop, which is evaluated before the first pass.
func (p *place) loopBound(s *syntax.Loop, before *scope) {
	own := newUniverse()
	own.addName(s.Name.Name)
	own.scanIdent(s.Counter)
	own.scanList(s.Body)
	r := &reader{c: p.c, s: before}
	r.limit = func(n *syntax.Name) bool {
		_, isOwn := own.names[n.Name]
		if _, how := before.find(n.Name); how == bound || !isOwn {
			return true
		}
		p.c.found.add("AWL5006", n.Span, "name", n.Name)
		return false
	}
	r.bound(s.Max)
}
