package check

import (
	"aion/domain/action"
	"aion/domain/awl/diag"
	"aion/domain/schema"
)

// holeParam is a parameter as command text sees it.
type holeParam struct {
	typ     *schema.Type // nil for a parameter of a command, which always has an argument form
	isList  bool
	isWhole bool // must be a word of its own: a list, or it may be absent
}

// holeOf gives the form of an action's parameter.
func holeOf(t *schema.Type) holeParam {
	isList := present(t).Kind == schema.List
	return holeParam{typ: t, isList: isList, isWhole: isList || isOptional(t)}
}

// hasArgumentForm says whether a value of a type can be arguments: a single value, or a list of them.
func hasArgumentForm(t *schema.Type) bool {
	t = present(t)
	if t.Kind == schema.List {
		return isSingle(t.Elem)
	}
	return isSingle(t)
}

func isSingle(t *schema.Type) bool {
	switch t.Kind {
	case schema.Unknown, schema.String, schema.Dir, schema.Enum, schema.Int, schema.Float, schema.Bool:
		return true
	case schema.Nil, schema.List, schema.Optional, schema.Record:
	}
	return false
}

// commandText judges the text of one command line, or of a value inside a command (awl 3.4).
type commandText struct {
	c      *checker
	text   string
	params map[string]holeParam
	names  []string // of params, in declared order
	used   map[string]bool
	whole  diag.Span
	at     func(from, to int) diag.Span // the place of a part of the text
	failed bool                         // there was an error
}

func (t *commandText) fail(code string, at diag.Span, pairs ...string) {
	t.failed = true
	t.c.found.add(code, at, pairs...)
}

// line judges a command line.
func (t *commandText) line() {
	line, problems := action.ParseLine(t.text)
	t.problems(problems)
	script := action.Script(line.Words)
	for i, w := range line.Words {
		if text, found := line.ShellSyntax(i); found {
			start := line.Starts[i]
			t.c.found.add("AWL6010", t.at(start, start+len(text)), "text", text)
		}
		t.word(w.Pieces, i == 0, i == script && script > 0)
	}
}

// value judges a text that is never split, such as a `cwd`.
func (t *commandText) value() {
	pieces, problems := action.ParsePieces(t.text)
	t.problems(problems)
	for _, p := range pieces {
		if p.Hole != "" {
			t.hole(p, false)
		}
	}
}

// problems reports what the splitter found. An empty text is reported as a whole.
func (t *commandText) problems(problems []action.LineProblem) {
	for _, p := range problems {
		at := t.at(p.Offset, min(p.Offset+width(p.Code), len(t.text)))
		if p.Code == action.ProblemEmpty {
			at = t.whole
		}
		t.fail(p.Code, at, p.Pairs...)
	}
}

// width is how many characters a problem of the splitter points at.
func width(code string) int {
	if code == action.ProblemQuote {
		return 1
	}
	return len("{{")
}

// word judges the holes of a word.
func (t *commandText) word(pieces []action.Piece, isProgram, isScript bool) {
	for _, p := range pieces {
		switch {
		case p.Hole == "":
		case isProgram:
			t.used[p.Hole] = true // refused already
		default:
			t.hole(p, len(pieces) == 1)
			if isScript {
				t.c.found.add("AWL6009", t.opening(p), "name", p.Hole)
			}
		}
	}
}

// opening is the place of a hole's `{{`.
func (t *commandText) opening(p action.Piece) diag.Span {
	return t.at(p.Offset, p.Offset+len("{{"))
}

// hole judges one hole: it names a parameter that has an argument form, and stands alone when it must.
func (t *commandText) hole(p action.Piece, isAlone bool) {
	param, ok := t.params[p.Hole]
	t.used[p.Hole] = true
	switch {
	case !ok:
		t.fail("AWL6005", t.opening(p), "name", p.Hole, "names", listed(t.names))
	case param.typ != nil && !hasArgumentForm(param.typ):
		t.fail("AWL6006", t.opening(p), "name", p.Hole, "type", show(param.typ))
	case param.isWhole && !isAlone:
		t.fail("AWL6007", t.opening(p), "name", p.Hole)
	}
}
