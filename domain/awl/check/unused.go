package check

import "aion/domain/awl/syntax"

// checkUse warns about declarations and outcomes that nothing uses. In a worker document the actions are what it is for.
func (c *checker) checkUse() {
	unused := func(kind string, id syntax.Ident, used bool) {
		if !used {
			c.found.add("AWL2026", id.Span, "kind", kind, "name", id.Name)
		}
	}
	for _, p := range c.inputs.byName {
		unused("input", p.name, p.used)
	}
	for _, p := range c.signals.byName {
		unused("signal", p.name, p.used)
	}
	for _, k := range c.consts.byName {
		unused("const", k.decl.Name, k.used)
	}
	for _, d := range c.types.byName {
		unused("type", d.decl.Name, d.used)
	}
	for _, k := range c.commands.byName {
		unused("command", k.decl.Name, k.used)
	}
	if c.isWorker {
		return
	}
	for _, op := range c.ops.byName {
		unused(op.kind.String(), op.name, op.used)
	}
	for _, o := range c.outcomes.byName {
		if !o.used {
			c.found.add("AWL4017", o.name.Span, "name", o.name.Name)
		}
	}
}
