package check

import "aion/domain/schema"

// checkRecursion reports records that contain themselves other than through a list or an optional (AWL3019), once per
// cycle, at the member that was declared first. A cycle inside a schema is reported at the type that the schema declares.
func (c *checker) checkRecursion() {
	r := recursion{
		state: map[*schema.Type]int{}, inCycle: map[*schema.Type]bool{},
		entered: map[*schema.Type]bool{}, declared: map[*schema.Type]bool{},
	}
	for _, name := range c.types.order {
		r.declared[c.types.byName[name].typ] = true
		r.enter(c.types.byName[name].typ)
	}
	reported := map[*schema.Type]bool{}
	for _, name := range c.types.order {
		d := c.types.byName[name]
		if reported[d.typ] || !r.inCycle[d.typ] && !r.hides(d.typ, map[*schema.Type]bool{}) {
			continue
		}
		c.found.add("AWL3019", d.decl.Name.Span, "name", name)
		r.mark(d.typ, reported)
	}
}

type recursion struct {
	state   map[*schema.Type]int // 1: on the way; 2: done
	way     []*schema.Type
	inCycle map[*schema.Type]bool

	entered, declared map[*schema.Type]bool
}

// enter visits every record that a type leads to in any way.
func (r *recursion) enter(t *schema.Type) {
	t = innermost(t)
	if t.Kind != schema.Record || r.entered[t] {
		return
	}
	r.entered[t] = true
	r.visit(t)
	for _, f := range t.Fields {
		r.enter(f.Type)
	}
}

// innermost is the type of the elements, or of the value.
func innermost(t *schema.Type) *schema.Type {
	for t.Kind == schema.List || t.Kind == schema.Optional {
		t = t.Elem
	}
	return t
}

// visit walks down the records that a record holds directly.
func (r *recursion) visit(t *schema.Type) {
	if t.Kind != schema.Record || r.state[t] == 2 {
		return
	}
	if r.state[t] == 1 {
		for i := len(r.way) - 1; i >= 0; i-- {
			r.inCycle[r.way[i]] = true
			if r.way[i] == t {
				return
			}
		}
		return
	}
	r.state[t] = 1
	r.way = append(r.way, t)
	for _, f := range t.Fields {
		r.visit(f.Type)
	}
	r.way = r.way[:len(r.way)-1]
	r.state[t] = 2
}

// hides says whether a type leads, without passing another declared one, to a cycle of records that have no declaration.
func (r *recursion) hides(t *schema.Type, seen map[*schema.Type]bool) bool {
	seen[t] = true
	for _, f := range t.Fields {
		to := innermost(f.Type)
		if to.Kind != schema.Record || seen[to] || r.declared[to] {
			continue
		}
		if r.inCycle[to] || r.hides(to, seen) {
			return true
		}
	}
	return false
}

// mark notes every record of the cycles that can be reached from t, so that they are not reported again.
func (r *recursion) mark(t *schema.Type, marked map[*schema.Type]bool) {
	if t.Kind != schema.Record || marked[t] || !r.inCycle[t] {
		return
	}
	marked[t] = true
	for _, f := range t.Fields {
		r.mark(f.Type, marked)
	}
}
