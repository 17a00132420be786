package check

import (
	"strings"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// The kinds of a command's parameters.
const (
	kindOne   = "one"
	kindList  = "list"
	kindList1 = "list1"
)

// checkCommands reads every command on its own.
func (c *checker) checkCommands() {
	for _, d := range c.doc.Commands {
		c.checkCommand(d)
	}
}

func (c *checker) checkCommand(d *syntax.Command) {
	var ids []syntax.Ident
	params := make(map[string]holeParam, len(d.Params))
	for _, p := range d.Params {
		c.snake(p.Name)
		ids = append(ids, p.Name)
		isList := p.Kind != kindOne
		params[p.Name.Name] = holeParam{isList: isList, isWhole: isList}
	}
	c.unique("parameter", ids)
	text := commandText{c: c, params: params, names: identNames(ids), used: map[string]bool{}}
	c.checkDirectives(d, text)
	for _, l := range d.Lines {
		t := text
		t.text, t.whole = l.Text, l.Span
		t.at = func(from, to int) diag.Span {
			return diag.Span{Start: within(l.Text, l.Pos, from), End: within(l.Text, l.Pos, to)}
		}
		t.line()
	}
}

func identNames(ids []syntax.Ident) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Name
	}
	return names
}

// checkDirectives reads `cwd` and `export`.
func (c *checker) checkDirectives(d *syntax.Command, text commandText) {
	var exported []syntax.Ident
	for _, v := range d.Directives {
		if v.Export {
			exported = append(exported, v.Name)
			if !isScreaming(v.Name.Name) {
				c.screaming(v.Name)
			}
			continue
		}
		if v.Value == nil {
			continue
		}
		if !strings.HasPrefix(v.Value.Value, "/") && !strings.HasPrefix(v.Value.Value, "{workspace_root}") {
			c.found.add("AWL6018", v.Value.Span)
		}
		t := text
		t.text, t.whole = v.Value.Value, v.Value.Span
		t.at = func(from, to int) diag.Span {
			return diag.Span{Start: offsetPos(v.Value, from), End: offsetPos(v.Value, to)}
		}
		t.value()
	}
	c.unique("variable", exported)
}

// screaming reports an exported variable of another shape (AWL2001).
func (c *checker) screaming(id syntax.Ident) {
	d := diag.New("AWL2001", id.Span, "name", id.Name, "suggestion", strings.ToUpper(toSnake(id.Name)))
	d.Message = "`" + id.Name + "` must be UPPER_CASE"
	c.found.list = append(c.found.list, d)
}

// commandBody judges `runs command`: the command exists, and the action gives it what it needs. It gives the parameters
// that the command takes.
func (c *checker) commandBody(op *operation, id syntax.Ident) (used map[string]bool, whole bool) {
	used = map[string]bool{}
	k, ok := c.commands.get(id.Name)
	if !ok {
		if id.Name != "" {
			c.found.misspelt("AWL2020", id.Span, "", c.found.closest(id.Name, c.commands.names()), "name", id.Name)
		}
		return used, false
	}
	k.used = true
	shape := c.shapes.of(op.fields)
	whole = true
	for _, p := range k.decl.Params {
		used[p.Name.Name] = true
		if t, given := shape.types[p.Name.Name]; !supplies(t, given, p) && whole {
			whole = false // one per position
			c.found.add("AWL6014", id.Span, "command", id.Name, "name", p.Name.Name, "kind", wanted(p.Kind))
		}
	}
	return used, whole
}

// supplies says whether an action's parameter, if there is one, serves a command's.
func supplies(t *schema.Type, given bool, p *syntax.CommandParam) bool {
	isRequired := p.Kind == kindList1 || p.Kind == kindOne && p.Default == nil
	switch {
	case !given:
		return !isRequired
	case isUnknown(t):
		return true
	case !hasArgumentForm(t), isOptional(t) && isRequired:
		return false
	}
	return (present(t).Kind == schema.List) == (p.Kind != kindOne)
}

// wanted names what a command's parameter takes.
func wanted(kind string) string {
	switch kind {
	case kindList:
		return "a list of single values"
	case kindList1:
		return "a list with at least one value"
	default:
		return "a single value"
	}
}
