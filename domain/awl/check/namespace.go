package check

import (
	"maps"
	"slices"
	"strconv"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// namespace maps the names of one kind to what they declare. The first declaration of a name holds.
type namespace[T any] struct {
	byName map[string]T
	first  map[string]diag.Pos
	order  []string
	sorted []string // made when first asked for
}

// claim takes a name for v, unless the name is missing or taken.
func (n *namespace[T]) claim(id syntax.Ident, v T) (diag.Pos, bool) {
	if id.Name == "" {
		return diag.Pos{}, false
	}
	if at, taken := n.first[id.Name]; taken {
		return at, false
	}
	if n.byName == nil {
		n.byName, n.first = map[string]T{}, map[string]diag.Pos{}
	}
	n.byName[id.Name], n.first[id.Name] = v, id.Span.Start
	n.order = append(n.order, id.Name)
	return diag.Pos{}, true
}

func (n *namespace[T]) get(name string) (T, bool) {
	v, ok := n.byName[name]
	return v, ok
}

// names lists the declared names.
func (n *namespace[T]) names() []string {
	if len(n.sorted) != len(n.order) {
		n.sorted = slices.Sorted(maps.Keys(n.byName))
	}
	return n.sorted
}

// duplicate reports a name that was declared before (AWL2003).
func (c *checker) duplicate(kind string, id syntax.Ident, first diag.Pos) {
	if id.Name != "" {
		c.found.add("AWL2003", id.Span, "kind", kind, "name", id.Name, "line", strconv.Itoa(first.Line))
	}
}

// unique reports the names that occur twice in one list.
func (c *checker) unique(kind string, ids []syntax.Ident) {
	var seen namespace[struct{}]
	for _, id := range ids {
		if at, ok := seen.claim(id, struct{}{}); !ok {
			c.duplicate(kind, id, at)
		}
	}
}
