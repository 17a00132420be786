package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"aion/domain/awl/plan"
	"aion/domain/schema"
)

// ask completes missing required inputs: on a terminal each is asked for by name and type, elsewhere all are named in one
// refusal.
func (f *inputFlags) ask(p *Program, pl *plan.Plan) error {
	for _, m := range f.members {
		name, _, _ := strings.Cut(m, "=")
		if _, err := inputType(pl, strings.TrimSuffix(name, ":")); err != nil {
			return err
		}
	}
	if f.whole != "" {
		return nil
	}
	var missing []string
	for _, in := range pl.Inputs {
		given := slices.ContainsFunc(f.members, func(m string) bool {
			name, _, _ := strings.Cut(m, "=")
			return strings.TrimSuffix(name, ":") == in.Name
		})
		if !given && !in.Optional {
			missing = append(missing, in.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if !p.InTerminal || !p.ErrTerminal {
		var list []string
		for _, name := range missing {
			list = append(list, fmt.Sprintf("%s: %s", name, typeName(pl, name)))
		}
		return &usage{
			message: fmt.Sprintf("workflow %s needs the input %s", pl.WorkflowType, strings.Join(list, ", ")),
			hint:    fmt.Sprintf("give it with -i %s=…", missing[0]),
		}
	}
	lines := bufio.NewScanner(p.In)
	for _, name := range missing {
		fmt.Fprintf(p.Err, "%s (%s): ", name, typeName(pl, name))
		if !lines.Scan() {
			return &usage{message: fmt.Sprintf("no value for the input %s", name)}
		}
		f.members = append(f.members, name+"="+lines.Text())
	}
	return nil
}

func typeName(pl *plan.Plan, input string) string {
	t, err := inputType(pl, input)
	if err != nil {
		return "value"
	}
	return describe(t)
}

func describe(t *schema.Type) string {
	if t == nil {
		return "value"
	}
	if t.Kind == schema.List {
		return "[" + describe(unwrap(t.Elem)) + "]"
	}
	if t.Name != "" {
		return t.Name
	}
	names := map[schema.Kind]string{
		schema.Bool: "Bool", schema.Int: "Int", schema.Float: "Float", schema.String: "String", schema.Dir: "Dir",
		schema.Record: "record", schema.Enum: "one of " + strings.Join(t.Variants, ", "),
	}
	if name, ok := names[t.Kind]; ok {
		return name
	}
	return "value"
}
