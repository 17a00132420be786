package repair

import (
	"slices"

	"aion/domain/awl/syntax"
)

// facts are what a document declares, as far as it was understood.
type facts struct {
	doc      *syntax.Document
	types    []string
	fields   map[string][]string // of a record type
	outcomes []*syntax.OutcomeDecl
	steps    []string
	names    []string // every word of the text that is no keyword, in order of appearance
}

const maxNames = 60

func newFacts(src string) *facts {
	doc, _ := syntax.Parse([]byte(src))
	f := &facts{doc: doc, types: builtinTypes(), fields: map[string][]string{}}
	for _, t := range doc.Types {
		f.types = append(f.types, t.Name.Name)
		for _, x := range t.Fields {
			f.fields[t.Name.Name] = append(f.fields[t.Name.Name], x.Name.Name)
		}
	}
	if doc.Header != nil {
		f.outcomes = doc.Header.Outcomes
	}
	for _, s := range doc.Steps {
		f.steps = append(f.steps, s.Name.Name)
	}
	keywords := keywords()
	seen := map[string]bool{}
	for _, t := range lex(src) {
		if t.word && !seen[t.text] && !slices.Contains(keywords, t.text) && len(f.names) < maxNames {
			seen[t.text] = true
			f.names = append(f.names, t.text)
		}
	}
	return f
}

func builtinTypes() []string { return []string{"String", "Int", "Bool", "Float", "Dir", "Nil"} }

// keywords are the words that the grammar knows, those with a meaning in one place included.
func keywords() []string {
	return []string{
		"workflow", "input", "signal", "outcome", "type", "schema", "worker", "action", "child", "subflow", "step", "const",
		"after", "fork", "join", "loop", "counting", "until", "max", "visits", "sequential", "spawn", "wait", "sleep", "on",
		"when", "otherwise", "route", "is", "not", "and", "or", "true", "false", "in", "json", "of", "distribute",
		"sequence", "collect", "command", "run", "runs", "capture", "cwd", "export", "timeout", "retry", "every",
		"backoff", "node", "filter", "map", "sort", "count", "any", "all", "empty", "present", "absent", "success",
		"failure", "text", "lines",
	}
}

// empty says whether an outcome carries nothing.
func empty(o *syntax.OutcomeDecl) bool { return o.Type != nil && o.Type.Name.Name == "Nil" }

// payloads are the ways to route to an outcome with what its fields, or the outcome itself, are called.
func (f *facts) payloads(o *syntax.OutcomeDecl) []string {
	all := []string{o.Name.Name}
	if empty(o) || o.Type == nil {
		return all
	}
	if fields := f.fields[o.Type.Name.Name]; len(fields) > 0 {
		text := o.Name.Name + "("
		for i, x := range fields {
			if i > 0 {
				text += ", "
			}
			text += x + ": " + x
		}
		return append(all, text+")")
	}
	return all
}

// step is the step around a line; nil when there is none.
func (f *facts) step(line int) *syntax.Step {
	var best *syntax.Step
	visit := func(steps []*syntax.Step) {
		for _, s := range steps {
			if s.Name.Span.Start.Line <= line && (best == nil || s.Name.Span.Start.Line > best.Name.Span.Start.Line) {
				best = s
			}
		}
	}
	visit(f.doc.Steps)
	for _, s := range f.doc.Subflows {
		visit(s.Steps)
	}
	return best
}

// below is the step that is written under a step, empty when there is none.
func (f *facts) below(name string) string {
	if i := slices.Index(f.steps, name); i >= 0 && i+1 < len(f.steps) {
		return f.steps[i+1]
	}
	return ""
}

// typeName is the name of a written type, empty for a list.
func typeName(t *syntax.TypeRef) string {
	if t == nil {
		return ""
	}
	return t.Name.Name
}
