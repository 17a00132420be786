package language

import (
	"fmt"
	"strings"
)

func (a *author) declareOperations() {
	for range a.n("actions", 2, 5) {
		op := operation{name: a.fresh("act"), result: a.anyType(2)}
		if a.chance(15) {
			op.result = nilType
		}
		if a.chance(5) {
			op.result = dirType
		}
		op.params = a.parameters()
		a.actions = append(a.actions, op)
	}
	for range a.n("children", 0, 2) {
		op := operation{name: a.fresh("kid"), result: a.anyType(1), params: a.parameters()}
		if a.chance(30) {
			op.result = nilType
		}
		a.children = append(a.children, op)
	}
}

func (a *author) parameters() []field {
	var list []field
	for range a.n("params", 0, 3) {
		list = append(list, field{name: a.fresh("p"), t: a.anyType(2), opt: a.chance(25)})
	}
	if a.chance(5) {
		list = append(list, field{name: a.fresh("dir"), t: dirType, opt: true})
	}
	return list
}

// workersText declares the actions in one or two workers. Some have a body, which a scripted executor does not read.
func (a *author) workersText() string {
	var b strings.Builder
	cut := a.n("cut", 1, len(a.actions))
	var commands strings.Builder
	for i, part := range [][]operation{a.actions[:cut], a.actions[cut:]} {
		if len(part) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%sworker work%d\n", a.doc(""), i)
		for _, op := range part {
			fmt.Fprintf(&b, "%s  action %s(%s) -> %s\n", a.doc("  "), op.name, a.params(op.params), a.ref(op.result, false))
			body := a.chance(25)
			b.WriteString(a.settings(body))
			if body {
				b.WriteString(a.body(op, &commands))
			}
		}
	}
	return commands.String() + "\n" + b.String()
}

func (a *author) settings(body bool) string {
	var list []string
	if !body && a.chance(15) {
		list = append(list, "node big")
	}
	if a.chance(20) {
		list = append(list, "timeout "+a.durationText())
	}
	switch a.n("retry", 1, 8) {
	case 1:
		list = append(list, "retry 2 every "+a.durationText())
	case 2:
		list = append(list, "retry 3 backoff 1s..2m")
	}
	if len(list) == 0 {
		return ""
	}
	return "    " + strings.Join(list, ", ") + "\n"
}

// body declares how the server runs an action: its scalar parameters become arguments.
func (a *author) body(op operation, commands *strings.Builder) string {
	var words, params, args []string
	for _, p := range op.params {
		switch {
		case p.t.kind == kRecord || p.t.kind == kList && (p.t.elem.kind == kRecord || p.t.elem.kind == kList):
		case p.t.kind == kList && p.opt:
		case p.t.kind == kList:
			words = append(words, "{{"+p.name+"}}")
			params, args = append(params, "*"+p.name), append(args, "{{"+p.name+"}}")
		case p.t.kind == kString && !p.opt:
			words = append(words, "x={{"+p.name+"}}")
			params, args = append(params, p.name), append(args, "x={{"+p.name+"}}")
		default:
			words = append(words, "{{ "+p.name+" }}")
		}
	}
	capture := map[kind]string{kNil: "outcome", kString: "text", kDir: "json"}[op.result.kind]
	if capture == "" {
		capture = "json"
	}
	if capture != "outcome" && a.chance(30) {
		name := a.fresh("cmd")
		fmt.Fprintf(commands, "command %s %s:\n  cwd \"{workspace_root}\"\n  export KEY = \"value\"\n  echo %s\n  // done\n  true\n\n",
			name, strings.Join(params, " "), strings.Join(args, " "))
		return fmt.Sprintf("    runs command %s capture %s\n", name, capture)
	}
	return fmt.Sprintf("    run \"echo %s\" capture %s\n", strings.Join(words, " "), capture)
}

func (a *author) childrenText() string {
	var b strings.Builder
	for _, op := range a.children {
		fmt.Fprintf(&b, "%schild %s(%s) -> %s\n", a.doc(""), op.name, a.params(op.params), a.ref(op.result, false))
	}
	return b.String()
}
