package language

import (
	"aion/domain/awl/syntax"
)

// stmts runs a list of statements and gives what is bound after it.
func (a *activation) stmts(list []syntax.Stmt, e names) names {
	for i := 0; i < len(list); i++ {
		if _, ok := list[i].(*syntax.Substep); ok {
			var group []*syntax.Step
			for ; i < len(list); i++ {
				s, ok := list[i].(*syntax.Substep)
				if !ok {
					break
				}
				group = append(group, s.Step)
			}
			i--
			e = a.group(group, e)
			continue
		}
		e, _ = a.stmt(list[i], e)
	}
	return e
}

// stmt runs one statement, and gives what is bound after it and the value that it ends in.
func (a *activation) stmt(s syntax.Stmt, e names) (names, any) {
	switch s := s.(type) {
	case *syntax.Call:
		v := a.call(s, e)
		if s.Bind != nil {
			e = a.f.d.bind(e, s.Bind.Name, v)
		}
		return e, v
	case *syntax.Spawn:
		a.record(s.Args, e, nil)
		return e, nil
	case *syntax.Pipe:
		return a.pipe(s, e)
	case *syntax.Wait:
		v, sent := a.f.d.world.Signal(s.Signal.Name)
		if !sent {
			v = absent{}
		}
		return a.f.d.bind(e, s.Bind.Name, v), v
	case *syntax.Sleep:
		return e, nil
	case *syntax.Route:
		a.route(s.Target, e, nil)
	case *syntax.Fork:
		if s.Item == nil {
			return a.named(s, e), nil
		}
		return a.collection(s, e)
	case *syntax.Loop:
		return a.loop(s, e), nil
	case *syntax.Collect:
		if a.slots.failure != nil {
			panic(*a.slots.failure)
		}
		return a.f.d.bind(e, s.Bind.Name, a.slots.list), nil
	}
	return e, nil
}

func (a *activation) call(s *syntax.Call, e names) any {
	d := a.f.d
	args := a.record(s.Args, e, nil).(map[string]any)
	sub, ok := d.subflows[s.Name.Name]
	if !ok {
		return d.ask(s.Name.Name, args)
	}
	var inner names
	for _, p := range sub.Params {
		var v any = absent{}
		if got, ok := args[p.Name.Name]; ok {
			v = got
		}
		inner = d.bind(inner, p.Name.Name, v)
	}
	f := d.newFlow(flowRun{steps: sub.Steps})
	x := f.run(f.steps[0], inner)
	if x.failure != nil {
		panic(*x.failure)
	}
	return x.payload
}

// ask asks the world for the end of an action or child.
func (d *Direct) ask(name string, args map[string]any) any {
	var answer Answer
	if d.children[name] != nil {
		answer = d.world.Child(name, args)
	} else {
		answer = d.world.Call(name, args)
	}
	if answer.Failed != "" {
		fail(answer.Failed)
	}
	return answer.Result
}

func (a *activation) pipe(s *syntax.Pipe, e names) (names, any) {
	v := a.eval(s.Head, e, nil)
	for _, st := range s.Stages {
		switch {
		case st.Comb != nil:
			v = a.combine(v.([]any), st.Comb, e)
		case st.Path != nil:
			for _, label := range st.Path {
				v = member(v, label.Name)
			}
		default:
			v = a.f.d.ask(st.Name.Name, map[string]any{a.f.d.taker(st.Name.Name): v})
		}
	}
	if s.Route != nil {
		a.route(s.Route, e, &v)
	}
	return a.f.d.bind(e, s.Bind.Name, v), v
}

// taker is the parameter that a stage fills: the only one, or the only one that is required.
func (d *Direct) taker(name string) string {
	params := d.params[name]
	if len(params) == 1 {
		return params[0].Name.Name
	}
	for _, p := range params {
		if !p.Type.Optional {
			return p.Name.Name
		}
	}
	panic("no parameter takes the value of a stage of " + name)
}

func (a *activation) list(over syntax.Expr, e names) []any { return a.eval(over, e, nil).([]any) }

// branches runs the branches of a fork. Side by side any failing one may be the first, and cuts off the others.
func (a *activation) branches(n int, sequential bool, run func(i int)) {
	var failed *failure
	for i := range n {
		f := caught(func() { run(i) })
		if f == nil {
			continue
		}
		if sequential {
			panic(*f)
		}
		failed = failed.also(f)
		if n > 1 {
			a.f.d.Cut = true
		}
	}
	if failed != nil {
		panic(*failed)
	}
}

func (a *activation) collection(s *syntax.Fork, e names) (names, any) {
	items := a.list(s.Over, e)
	values := make([]any, len(items))
	a.branches(len(items), s.Sequential, func(i int) {
		inner := a.f.d.bind(e, s.Item.Name, items[i])
		for j := 0; j < len(s.Body)-1; j++ {
			if _, ok := s.Body[j].(*syntax.Substep); ok {
				end := j
				for ; end < len(s.Body)-1; end++ {
					if _, ok := s.Body[end].(*syntax.Substep); !ok {
						break
					}
				}
				inner = a.stmts(s.Body[j:end], inner)
				j = end - 1
				continue
			}
			inner, _ = a.stmt(s.Body[j], inner)
		}
		_, values[i] = a.stmt(s.Body[len(s.Body)-1], inner)
	})
	if s.Bind == nil {
		return e, nil
	}
	return a.f.d.bind(e, s.Bind.Name, values), values
}

func (a *activation) named(s *syntax.Fork, e names) names {
	var parts [][]syntax.Stmt
	for i, st := range s.Body {
		_, sub := st.(*syntax.Substep)
		if sub && i > 0 {
			if _, was := s.Body[i-1].(*syntax.Substep); was {
				parts[len(parts)-1] = append(parts[len(parts)-1], st)
				continue
			}
		}
		parts = append(parts, []syntax.Stmt{st})
	}
	joined := e
	a.branches(len(parts), false, func(i int) { joined = union(joined, a.stmts(parts[i], e)) })
	return joined
}

func (a *activation) loop(s *syntax.Loop, e names) names {
	d := a.f.d
	v := a.eval(s.Seed, e, nil)
	limit := a.eval(s.Max, e, nil).(int64)
	count := func(e names, n int64) names {
		if s.Counter == nil {
			return e
		}
		return d.bind(e, s.Counter.Name, n)
	}
	passes := int64(0)
	for passes < limit {
		inner := a.stmts(s.Body, count(d.bind(e, s.Name.Name, v), passes))
		passes++
		v = inner[s.Name.Name].value
		if a.eval(s.Until, count(inner, passes), nil).(bool) {
			break
		}
	}
	return count(d.bind(e, s.Name.Name, v), passes)
}

// group runs consecutive substeps. A route to a clause of the step fires it without its guard.
func (a *activation) group(steps []*syntax.Step, e names) names {
	f := a.f.d.newFlow(flowRun{steps: steps, isGroup: true, clauses: a.step.Clauses})
	x := f.run(steps[0], e)
	switch {
	case x.failure != nil:
		panic(*x.failure)
	case x.clause != nil:
		a.route(x.clause.Target, x.names, nil)
	}
	return union(e, x.names)
}
