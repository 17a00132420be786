// Package diag holds what the language says about a document: spans, findings, and how they are shown with their
// source line. It knows nothing of grammar.
package diag

// Severity of a finding.
type Severity int

// The two severities.
const (
	Error Severity = iota + 1
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Pos is a place in a document. Line and Column count from 1, the column in code points; Offset counts bytes from 0.
type Pos struct {
	Offset, Line, Column int
}

// Span is a half-open range of a document; End is the place after the last character.
type Span struct {
	Start, End Pos
}

// Diagnostic is one finding about a document.
type Diagnostic struct {
	Severity Severity
	Code     string // AWL and four digits
	Message  string
	Span     Span
	Hint     string // what to do, one sentence; may be empty
	Fix      *Fix   // nil unless exactly one repair is certain
	// Omitted counts the findings that this one stands for: on the AWL0004 that closes a full list, else 0.
	// OmittedErrors says how many of them are errors.
	Omitted, OmittedErrors int
}

// Fix replaces the text of Span by Text.
type Fix struct {
	Span Span
	Text string
}
