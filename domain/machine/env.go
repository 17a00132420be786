package machine

import (
	"sort"

	"aion/domain/awl/value"
)

// env is an immutable map from names to values: a chain with at most one link per name, whose tail is shared. nil is empty.
type env struct {
	parent *env
	name   string
	val    value.Value
	made   int64 // when it was bound, counted over the run; of two bindings that meet, the later one holds
}

func (e *env) find(name string) *env {
	for ; e != nil; e = e.parent {
		if e.name == name {
			return e
		}
	}
	return nil
}

// with gives e with one more or one replaced binding.
func (e *env) with(name string, v value.Value, made int64) *env {
	if old := e.find(name); old != nil {
		e = e.without(old)
	}
	return &env{parent: e, name: name, val: v, made: made}
}

// without gives e without one of its links; the part below that link stays shared.
func (e *env) without(gone *env) *env {
	var above []*env
	for ; e != gone; e = e.parent {
		above = append(above, e)
	}
	rest := gone.parent
	for i := len(above) - 1; i >= 0; i-- {
		rest = &env{parent: rest, name: above[i].name, val: above[i].val, made: above[i].made}
	}
	return rest
}

// union joins two environments; of a name in both the later binding holds.
func (e *env) union(other *env) *env {
	if e.extends(other) {
		return e
	}
	if other.extends(e) {
		return other
	}
	joined := e
	for _, link := range other.links() {
		if have := joined.find(link.name); have == nil || have.made < link.made {
			joined = joined.with(link.name, link.val, link.made)
		}
	}
	return joined
}

// over lays e over another environment: the names of e hold.
func (e *env) over(below *env) *env {
	if e.extends(below) {
		return e
	}
	joined := e
	for _, link := range below.links() {
		if joined.find(link.name) == nil {
			joined = joined.with(link.name, link.val, link.made)
		}
	}
	return joined
}

// extends reports whether other is a tail of e.
func (e *env) extends(other *env) bool {
	if other == nil {
		return true
	}
	for ; e != nil; e = e.parent {
		if e == other {
			return true
		}
	}
	return false
}

// links gives the bindings, oldest first.
func (e *env) links() []*env {
	var links []*env
	for ; e != nil; e = e.parent {
		links = append(links, e)
	}
	sort.Slice(links, func(i, j int) bool {
		if links[i].made != links[j].made {
			return links[i].made < links[j].made
		}
		return links[i].name < links[j].name
	})
	return links
}

// object gives the bindings as one record; absent ones are left out.
func (e *env) object() value.Object {
	var members []value.Member
	for ; e != nil; e = e.parent {
		members = append(members, value.Member{Name: e.name, Value: e.val})
	}
	return value.NewObject(members)
}
