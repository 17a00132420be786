package check

import "aion/domain/schema"

// builtins are the types that need no declaration.
type builtins struct {
	unknown, boolean, integer, float, text, dir, nothing *schema.Type
}

func newBuiltins() builtins {
	of := func(k schema.Kind) *schema.Type { return &schema.Type{Kind: k} }
	return builtins{
		unknown: of(schema.Unknown), boolean: of(schema.Bool), integer: of(schema.Int), float: of(schema.Float),
		text: of(schema.String), dir: of(schema.Dir), nothing: of(schema.Nil),
	}
}

// named finds a builtin type by its name; nil when there is none.
func (b *builtins) named(name string) *schema.Type {
	switch name {
	case "Bool":
		return b.boolean
	case "Int":
		return b.integer
	case "Float":
		return b.float
	case "String":
		return b.text
	case "Dir":
		return b.dir
	case "Nil":
		return b.nothing
	}
	return nil
}

func listOf(t *schema.Type) *schema.Type     { return &schema.Type{Kind: schema.List, Elem: t} }
func optionalOf(t *schema.Type) *schema.Type { return &schema.Type{Kind: schema.Optional, Elem: t} }

func isUnknown(t *schema.Type) bool  { return t.Kind == schema.Unknown }
func isOptional(t *schema.Type) bool { return t.Kind == schema.Optional }

// present is the type without the chance of being absent.
func present(t *schema.Type) *schema.Type {
	for t.Kind == schema.Optional {
		t = t.Elem
	}
	return t
}

// comparer decides structural equality. Equal pairs are remembered, so that nests that share their parts are walked once.
type comparer struct {
	known map[[2]*schema.Type]bool
	trail [][2]*schema.Type // pairs assumed equal by the comparison that runs
}

func newComparer() *comparer { return &comparer{known: map[[2]*schema.Type]bool{}} }

// as says whether two types are the same (awl 4.2). Recursion is compared coinductively: a pair met again is equal. An
// unknown type is the same as every other.
func (c *comparer) as(a, b *schema.Type) bool {
	c.trail = c.trail[:0]
	if c.walk(a, b) {
		return true
	}
	// What was assumed on the way to a difference is not known; the pair itself is.
	for _, p := range c.trail {
		delete(c.known, p)
	}
	c.known[[2]*schema.Type{a, b}] = false
	return false
}

func (c *comparer) walk(a, b *schema.Type) bool {
	if a == b || a.Kind == schema.Unknown || b.Kind == schema.Unknown {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	pair := [2]*schema.Type{a, b}
	if equal, met := c.known[pair]; met {
		return equal
	}
	c.known[pair] = true
	c.trail = append(c.trail, pair)
	switch a.Kind {
	case schema.List, schema.Optional:
		return c.walk(a.Elem, b.Elem)
	case schema.Record:
		return c.fields(a.Fields, b.Fields)
	case schema.Enum:
		return sameNames(a.Variants, b.Variants)
	case schema.Unknown, schema.Bool, schema.Int, schema.Float, schema.String, schema.Dir, schema.Nil:
	}
	return true
}

func (c *comparer) fields(a, b []schema.Field) bool {
	if len(a) != len(b) {
		return false
	}
	byName := make(map[string]*schema.Type, len(b))
	for _, f := range b {
		byName[f.Name] = f.Type
	}
	for _, f := range a {
		if t, ok := byName[f.Name]; !ok || !c.walk(f.Type, t) {
			return false
		}
	}
	return true
}

func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	set := make(map[string]bool, len(a))
	for _, s := range a {
		set[s] = true
	}
	for _, s := range b {
		if !set[s] {
			return false
		}
	}
	return true
}

// fits says whether a value of one type can be passed where the other is expected.
func (c *comparer) fits(from, to *schema.Type) bool {
	return c.as(from, to) || to.Kind == schema.Optional && c.as(from, to.Elem)
}
