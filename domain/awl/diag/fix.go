package diag

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxQuoted bounds how much of a text a title quotes, in characters.
const maxQuoted = 100

// Title says in a few words what a fix does to the document src, with the place: "replace `x` by `y` at 3:16".
func (f Fix) Title(src []byte) string {
	at := fmt.Sprintf("%d:%d", f.Span.Start.Line, f.Span.Start.Column)
	old, ok := f.old(src)
	lines := wholeLines(f.Text)
	switch {
	case ok && f.moves(old) != "":
		return f.moves(old)
	case ok && old == "" && lines > 0:
		return fmt.Sprintf("insert %s %s at %s", plural(lines, "line"), quote(strings.Trim(f.Text, "\n")), at)
	case ok && old == "" || !ok && f.Span.Start == f.Span.End:
		return fmt.Sprintf("insert %s at %s", quote(f.Text), at)
	case ok && strings.HasPrefix(old, "\n") && strings.TrimSpace(old) == "":
		return fmt.Sprintf("write %s and line %d behind line %d", quote(f.Text), f.Span.End.Line, f.Span.Start.Line)
	case ok && strings.TrimSpace(old) == "" && f.Span.Start.Column == 1 && f.Text == "":
		return fmt.Sprintf("move line %d to the left edge", f.Span.Start.Line)
	case ok && strings.TrimSpace(old) == "" && f.Span.Start.Column == 1:
		return fmt.Sprintf("indent line %d by %s", f.Span.Start.Line, plural(len(f.Text), "space"))
	case !ok && f.Text == "":
		return "delete what stands at " + at
	case f.Text == "":
		return fmt.Sprintf("delete %s at %s", quote(old), at)
	case !ok:
		return fmt.Sprintf("write %s at %s", quote(f.Text), at)
	case strings.TrimSpace(old) == strings.TrimSpace(f.Text):
		return fmt.Sprintf("replace `%s` by `%s` at %s", safe(old), safe(f.Text), at)
	default:
		return fmt.Sprintf("replace %s by %s at %s", quote(old), quote(f.Text), at)
	}
}

// old is the text that a fix replaces; false when src does not hold its span.
func (f Fix) old(src []byte) (string, bool) {
	from, to := f.Span.Start.Offset, f.Span.End.Offset
	if from < 0 || from > to || to > len(src) {
		return "", false
	}
	return string(src[from:to]), true
}

// moves says which lines a fix moves: those at the end of the old text that stand at the start of the new one, or the other
// way round. It is empty when the fix does anything else.
func (f Fix) moves(old string) string {
	at := map[string]int{} // the place of a line in the old text
	before := f.Span.Start.Line
	var was, now []string
	for i, line := range strings.Split(old, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			was = append(was, line)
			at[line] = before + i
		}
	}
	for line := range strings.SplitSeq(f.Text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			now = append(now, line)
		}
	}
	last := len(was) - 1
	switch {
	case last < 1 || len(now) != len(was) || len(at) != len(was):
		return ""
	case now[0] == was[last] && slices.Equal(now[1:], was[:last]):
		return fmt.Sprintf("move line %d above line %d", at[was[last]], at[was[0]])
	case now[last] == was[0] && slices.Equal(now[:last], was[1:]):
		return fmt.Sprintf("move line %d below line %d", at[was[0]], at[was[last]])
	}
	return ""
}

// wholeLines is how many lines a text adds, 0 when it adds a part of one.
func wholeLines(text string) int {
	if !strings.HasPrefix(text, "\n") && !strings.HasSuffix(text, "\n") {
		return 0
	}
	return strings.Count(strings.Trim(text, "\n"), "\n") + 1
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quote puts a text in backticks, on one line and shortened.
func quote(text string) string {
	if strings.TrimSpace(text) != "" {
		text = strings.TrimSpace(text)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ⏎ ")
	if utf8.RuneCountInString(text) > maxQuoted {
		text = string([]rune(text)[:maxQuoted-1]) + "…"
	}
	return "`" + safe(strings.ToValidUTF8(text, "\uFFFD")) + "`"
}

// Chosen are the fixes of findings that do not touch each other: of two that do, the first one given. A fix whose span is
// not in src is left out.
func Chosen(src []byte, ds []Diagnostic) []Fix {
	var chosen []Fix
	for _, d := range ds {
		if d.Fix == nil {
			continue
		}
		if _, ok := d.Fix.old(src); ok && !slices.ContainsFunc(chosen, d.Fix.touches) {
			chosen = append(chosen, *d.Fix)
		}
	}
	return chosen
}

// Apply makes the fixes that Chosen gives, and answers the new text and how many they were. src stays as it is.
func Apply(src []byte, ds []Diagnostic) (text []byte, applied int) {
	chosen := Chosen(src, ds)
	slices.SortFunc(chosen, func(a, b Fix) int { return b.Span.Start.Offset - a.Span.Start.Offset })
	text = slices.Clone(src)
	for _, f := range chosen {
		text = slices.Replace(text, f.Span.Start.Offset, f.Span.End.Offset, []byte(f.Text)...)
	}
	return text, len(chosen)
}

// touches says whether two fixes change the same place, or places side by side.
func (f Fix) touches(g Fix) bool {
	return f.Span.Start.Offset <= g.Span.End.Offset && g.Span.Start.Offset <= f.Span.End.Offset
}

// Advice is the hint of a finding together with its fix, in one sentence: for those who see only texts.
func (d Diagnostic) Advice(src []byte) string {
	switch {
	case d.Fix == nil:
		return d.Hint
	case d.Hint == "":
		return "fix: " + d.Fix.Title(src)
	}
	return d.Hint + "; fix: " + d.Fix.Title(src)
}
