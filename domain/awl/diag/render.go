package diag

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds the part of a source line that Render shows, in characters; shownBefore of them stand before the finding.
const (
	maxShown    = 120
	shownBefore = 60
)

// Escape sequences of a coloured rendering.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	reset  = "\x1b[0m"
)

// Line is a finding in one line, without a line end: `file:LINE:COLUMN: error[AWL2006]: message`.
func Line(file string, d Diagnostic) string {
	p := d.Span.Start
	return fmt.Sprintf("%s:%d:%d: %s[%s]: %s", file, p.Line, p.Column, d.Severity, d.Code, d.Message)
}

// Render shows a finding to a person: its line, the source line with a caret under what it is about, the hint and the
// fix. Every line ends in LF. src is the document the finding is about.
func Render(file string, src []byte, d Diagnostic, color bool) string {
	var b strings.Builder
	paint := func(style, text string) string {
		if !color {
			return text
		}
		return style + text + reset
	}
	style := red
	if d.Severity == Warning {
		style = yellow
	}
	p := d.Span.Start
	fmt.Fprintf(&b, "%s %s %s\n", paint(bold, fmt.Sprintf("%s:%d:%d:", file, p.Line, p.Column)),
		paint(style, fmt.Sprintf("%s[%s]:", d.Severity, d.Code)), d.Message)
	if text, caret, ok := excerpt(src, d.Span); ok {
		number := fmt.Sprintf("%4d", p.Line)
		fmt.Fprintf(&b, "%s %s\n", paint(dim, number+" |"), text)
		fmt.Fprintf(&b, "%s %s\n", paint(dim, strings.Repeat(" ", len(number))+" |"), paint(style, caret))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
	}
	if d.Fix != nil {
		fmt.Fprintf(&b, "  fix: %s\n", d.Fix.Title(src))
	}
	return b.String()
}

// excerpt cuts the line of a span out of src, and makes the line below it with carets under the span.
func excerpt(src []byte, s Span) (text, caret string, ok bool) {
	if s.Start.Offset < 0 || s.Start.Offset > len(src) || s.Start.Column < 1 {
		return "", "", false
	}
	start := bytes.LastIndexByte(src[:s.Start.Offset], '\n') + 1
	end := len(src)
	if i := bytes.IndexByte(src[s.Start.Offset:], '\n'); i >= 0 {
		end = s.Start.Offset + i
	}
	before := window(src[start:s.Start.Offset], true)
	after := window(src[s.Start.Offset:end], false)
	length := 1
	if s.End.Offset > s.Start.Offset && s.End.Offset <= len(src) {
		length = max(1, utf8.RuneCount(src[s.Start.Offset:min(s.End.Offset, end)]))
	}
	length = min(length, max(1, utf8.RuneCountInString(after)))
	caret = strings.Repeat(" ", utf8.RuneCountInString(before)) + strings.Repeat("^", length)
	return strings.TrimRight(before+after, " "), caret, true
}

// window keeps the part of a line next to the finding and makes it safe to print.
func window(part []byte, isBefore bool) string {
	r := []rune(strings.ToValidUTF8(string(part), "\uFFFD"))
	switch {
	case isBefore && len(r) > shownBefore:
		r = append([]rune("…"), r[len(r)-shownBefore+1:]...)
	case !isBefore && len(r) > maxShown-shownBefore:
		r = append(r[:maxShown-shownBefore-1], '…')
	}
	return safe(string(r))
}

// safe makes a text printable on one line.
func safe(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\r':
			return ' '
		case unicode.IsControl(c):
			return '\uFFFD'
		}
		return c
	}, text)
}
