package syntax

import (
	"strings"

	"aion/domain/awl/diag"
)

// kind of a token.
type kind int

const (
	eof         kind = iota + 1
	newline          // end of a logical line
	indent           // a deeper block opens
	dedent           // a block closes
	word             // any word, reserved or not
	accessor         // `.label`; text is the label
	str              // `"…"`
	rawStr           // `"""…"""`
	integer          // with its sign
	float            // with its sign
	duration         // digits and a unit
	jsonBody         // `{ … }` after `json` or `schema`
	commandLine      // the raw text of a command's line
	lparen
	rparen
	lbracket
	rbracket
	lbrace
	rbrace
	comma
	colon
	question
	assign  // =
	arrow   // ->
	pipe    // |>
	bar     // |
	plus    // +
	star    // *
	dots    // ..
	compare // == != < <= > >=
)

// token is one lexeme with the trivia around it.
type token struct {
	kind kind
	text string // as written; the label of an accessor, the body of a JSON literal
	span diag.Span

	value   string     // decoded text of a string
	offsets []diag.Pos // of value, as StringLit has them
	number  int64      // of an integer; milliseconds of a duration

	lead       []Comment // whole-line comments above
	narration  []docLine // `//!` lines above
	above      int       // how many of lead stand above the first of them
	gap        bool      // a blank line stood between these and the narration
	docs       []docLine // `///` lines above
	blank      bool      // a blank line stood before all of these
	blankAfter bool      // a blank line stood between the last comment and the token
	trail      string    // the comment after the token, on its line

	first   bool // first token of its line
	broken  bool // the scanner has reported it, and it may have swallowed what follows
	skipped bool // something unreadable before it was reported and skipped
	virtual bool // stands for a closing bracket that was never written
}

// docLine is one `///` or `//!` line.
type docLine struct {
	text string
	span diag.Span
}

// is says whether the token is the word w.
func (t *token) is(w string) bool { return t.kind == word && t.text == w }

// describe names the token in a message.
func (t *token) describe() string {
	switch t.kind {
	case eof:
		return "end of document"
	case newline:
		return "end of line"
	case indent:
		return "an indented block"
	case dedent:
		return "end of block"
	case str, rawStr:
		return "a string"
	case jsonBody:
		return "`{`"
	case commandLine:
		return "a command line"
	case accessor:
		return "`." + shorten(t.text) + "`"
	default:
		return "`" + shorten(t.text) + "`"
	}
}

// startsUpper says whether a word has the shape of a type name.
func startsUpper(w string) bool { return w != "" && w[0] >= 'A' && w[0] <= 'Z' }

// reserved says whether a word is no name anywhere.
func reserved(w string) bool {
	switch w {
	case "workflow", "input", "signal", "outcome", "type", "schema", "worker", "action", "child", "subflow", "step",
		"const", "after", "fork", "join", "loop", "counting", "until", "max", "visits", "sequential", "spawn", "wait",
		"sleep", "on", "when", "if", "otherwise", "else", "route", "is", "not", "and", "or", "true", "false", "null",
		"in", "json", "of", "distribute", "sequence", "collect":
		return true
	}
	return false
}

// opensLine says whether a word begins a declaration or a statement, so that no bracket is meant to be open before it.
func opensLine(w string) bool {
	switch w {
	case "workflow", "input", "signal", "outcome", "type", "worker", "action", "child", "subflow", "step", "const",
		"fork", "join", "loop", "until", "max", "spawn", "wait", "sleep", "on", "route", "distribute", "sequence", "collect":
		return true
	}
	return false
}

// combinatorName says whether a word is a combinator where a stage stands.
func combinatorName(w string) bool {
	switch w {
	case "filter", "map", "sort", "count", "any", "all":
		return true
	}
	return false
}

// comment takes the marker off a comment: `//`, `////` anywhere, and `///` or `//!` after code.
func commentText(s string) string {
	for _, marker := range []string{"////", "///", "//!", "//"} {
		if rest, ok := strings.CutPrefix(s, marker); ok {
			return docText(rest)
		}
	}
	return docText(s)
}

// docText is the text behind a marker: without one following space, and without what trails.
func docText(s string) string {
	return strings.TrimRight(strings.TrimPrefix(s, " "), " \t\r")
}
