package check

import (
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// combine reads a combinator over a value that stands at a span.
func (r *reader) combine(of *schema.Type, comb *syntax.Combinator, path string, at diag.Span) *schema.Type {
	b := r.c.builtin
	item := b.unknown
	switch of.Kind {
	case schema.List:
		item = of.Elem
	case schema.Unknown:
	case schema.Optional:
		r.absent(path, at)
	default:
		r.c.found.add("AWL3009", comb.Span, "name", comb.Name.Name, "found", show(of))
	}
	switch comb.Name.Name {
	case "filter":
		return r.filter(comb, item)
	case "map":
		return listOf(r.mapped(comb, item))
	case "sort":
		r.sort(comb, item)
		return listOf(item)
	case "any", "all":
		r.decides(comb, item)
		return b.boolean
	case "count":
		if comb.Arg != nil {
			r.c.found.add("AWL3010", comb.Arg.Range(), "name", "count", "what", "takes no argument")
			r.forItem(item).value(comb.Arg, nil)
		}
		return b.integer
	}
	return b.unknown
}

// decides reads the condition of filter, any and all.
func (r *reader) decides(comb *syntax.Combinator, item *schema.Type) {
	if comb.Arg == nil {
		r.c.found.add("AWL3010", comb.Span, "name", comb.Name.Name, "what", "needs a condition on the item")
		return
	}
	q := r.forItem(item)
	t := q.certain(comb.Arg, q.value(comb.Arg, nil))
	if !isUnknown(t) && t.Kind != schema.Bool {
		r.c.found.add("AWL3010", comb.Arg.Range(), "name", comb.Name.Name, "what", "needs a Bool condition, found "+show(t))
	}
}

// filter keeps items; a condition that proves them present says so in the type.
func (r *reader) filter(comb *syntax.Combinator, item *schema.Type) *schema.Type {
	r.decides(comb, item)
	if comb.Arg == nil || !isOptional(item) {
		return listOf(item)
	}
	for _, path := range proves(comb.Arg).ifTrue {
		if path == "." {
			return listOf(item.Elem)
		}
	}
	return listOf(item)
}

func (r *reader) mapped(comb *syntax.Combinator, item *schema.Type) *schema.Type {
	if comb.Arg == nil {
		r.c.found.add("AWL3010", comb.Span, "name", "map", "what", "needs an expression on the item")
		return r.c.builtin.unknown
	}
	q := r.forItem(item)
	return q.certain(comb.Arg, q.value(comb.Arg, nil))
}

// sort takes a key of an ordered type; without one the items are the keys.
func (r *reader) sort(comb *syntax.Combinator, item *schema.Type) {
	key, at := item, comb.Span
	if comb.Arg != nil {
		q := r.forItem(item)
		key, at = q.certain(comb.Arg, q.value(comb.Arg, nil)), comb.Arg.Range()
	} else if isOptional(item) {
		r.absent("the item", at)
		return
	}
	switch key.Kind {
	case schema.Unknown, schema.Int, schema.Float, schema.String:
	default:
		r.c.found.add("AWL3010", at, "name", "sort", "what", "needs an Int, Float or String key, found "+show(key))
	}
}
