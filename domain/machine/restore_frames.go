package machine

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
)

// frames reads the program of a strand from the outside in: each frame belongs to the current statement of the list below.
func (r *restorer) frames(list value.List, st *strand, body []plan.Stmt) {
	var stmt *plan.Stmt
	for _, v := range list {
		o := r.object(v)
		if r.err != nil {
			return
		}
		if value.Present(o.Get("pc")) {
			f := &listFrame{stmts: body, pc: int(r.int(o, "pc"))}
			if f.pc < 0 || f.pc > len(body) {
				r.fail()
				return
			}
			stmt, body = nil, nil
			if f.pc < len(f.stmts) {
				stmt = &f.stmts[f.pc]
			}
			st.push(f)
			continue
		}
		if stmt == nil {
			r.fail()
			return
		}
		r.above(o, st, stmt)
		if stmt.Op == plan.OpLoop {
			body = stmt.Body
		}
	}
}

// above reads the frame of a statement that takes more than one turn.
func (r *restorer) above(o value.Object, st *strand, stmt *plan.Stmt) {
	switch stmt.Op {
	case plan.OpPipe:
		st.push(&pipeFrame{stmt: stmt, next: int(r.int(o, "next")), val: r.packed(o, "v")})
	case plan.OpLoop:
		st.push(&loopFrame{
			stmt: stmt, pass: r.int(o, "pass"), max: r.int(o, "max"), inside: r.bool(o, "inside"), val: r.packed(o, "v"),
			base: r.env(o, "base"), scope: r.text(o, "scope"),
		})
	case plan.OpFork:
		r.fork(o, st, stmt)
	case plan.OpDistribute, plan.OpSequence:
		r.region(o, st, stmt)
	case plan.OpGroup:
		f := &flowFrame{}
		st.push(f)
		f.flow = r.flow(r.object(o.Get("flow")), stmt.Flow, st, flowGroup)
	case plan.OpSubflow:
		f := &flowFrame{}
		st.push(f)
		var def *plan.Flow
		if called := subflow(r.p, stmt.Name); called != nil {
			def = &called.Flow
		}
		f.flow = r.flow(r.object(o.Get("flow")), def, st, flowSubflow)
	default:
		r.fail()
	}
}

func (r *restorer) fork(o value.Object, st *strand, stmt *plan.Stmt) {
	f := &forkFrame{stmt: stmt, count: int(r.int(o, "count")), next: int(r.int(o, "next")), open: int(r.int(o, "open")), joined: r.env(o, "joined")}
	f.items, _ = r.packed(o, "items").(value.List)
	want := len(stmt.Branches)
	if stmt.Item != "" {
		want = len(f.items)
	}
	if f.count != want || f.count > maxItems {
		r.fail()
		return
	}
	f.branches = make([]*strand, f.count)
	if yields := o.Get("yields"); value.Present(yields) {
		for _, slot := range r.asList(yields) {
			var v value.Value
			if s := r.asList(slot); len(s) == 1 {
				v = r.unpack(s[0])
			}
			f.yields = append(f.yields, v)
		}
		if f.yields == nil {
			f.yields = value.List{}
		}
	}
	st.push(f)
	for _, v := range r.list(o, "branches") {
		b := &strand{act: st.act, parent: st}
		body := stmt.Body
		i := r.int(r.object(v), "index")
		if i < 0 || int(i) >= f.count || stmt.Bind != "" && len(f.yields) != f.count {
			r.fail()
			return
		}
		if stmt.Item == "" {
			body = stmt.Branches[i]
		}
		r.strand(r.object(v), b, body)
		f.branches[i] = b
	}
}

func (r *restorer) region(o value.Object, st *strand, stmt *plan.Stmt) {
	f := &regionFrame{stmt: stmt, collect: st.act.flow.target(st.act.step.Collect), next: int(r.int(o, "next")), open: int(r.int(o, "open"))}
	f.items, _ = r.packed(o, "items").(value.List)
	f.slots, _ = r.packed(o, "slots").(value.List)
	if f.collect == nil || len(f.collect.Body) == 0 || len(f.slots) != len(f.items) {
		r.fail()
		return
	}
	f.instances = make([]*flow, len(f.items))
	st.push(f)
	for _, v := range r.list(o, "instances") {
		i := r.int(r.object(v), "index")
		if i < 0 || int(i) >= len(f.items) {
			r.fail()
			return
		}
		f.instances[i] = r.flow(r.object(v), st.act.flow.def, st, flowInstance)
	}
}

func (r *restorer) packed(o value.Object, name string) value.Value { return r.unpack(o.Get(name)) }

func (r *restorer) unpack(v value.Value) value.Value {
	o := r.object(v)
	if plain := o.Get("v"); value.Present(plain) {
		return plain
	}
	packed := o.Get("l")
	if !value.Present(packed) {
		return value.Absent{}
	}
	list := value.List{}
	for _, item := range r.asList(packed) {
		list = append(list, r.unpack(item))
	}
	return list
}

func (r *restorer) object(v value.Value) value.Object {
	o, ok := v.(value.Object)
	if !ok {
		r.fail()
	}
	return o
}

func (r *restorer) list(o value.Object, name string) value.List { return r.asList(o.Get(name)) }

func (r *restorer) asList(v value.Value) value.List {
	list, ok := v.(value.List)
	if !ok {
		r.fail()
	}
	return list
}

func (r *restorer) int(o value.Object, name string) int64 {
	i, ok := o.Get(name).(value.Int)
	if !ok {
		r.fail()
	}
	return int64(i)
}

func (r *restorer) bool(o value.Object, name string) bool {
	b, ok := o.Get(name).(value.Bool)
	if !ok {
		r.fail()
	}
	return bool(b)
}

func (r *restorer) text(o value.Object, name string) string { return string(r.asText(o.Get(name))) }

func (r *restorer) asText(v value.Value) value.String {
	s, ok := v.(value.String)
	if !ok {
		r.fail()
	}
	return s
}
