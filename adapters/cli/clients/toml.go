package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// statement is one header or one name and value of a TOML text, and where it stands.
type statement struct {
	header   bool
	array    bool     // a header in double brackets
	path     []string // of the header, or of the name in its table
	from, to int      // without the line's end and without a comment
	value    int      // where the value begins
}

// parseTOML decodes a whole file.
func parseTOML(text []byte) (map[string]any, error) {
	out := map[string]any{}
	err := toml.Unmarshal(text, &out)
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return nil, &SyntaxError{Line: line, Column: column, What: strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &SyntaxError{Line: 1, Column: 1, What: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return out, nil
}

// statements finds the statements of a text that parseTOML has accepted.
func statements(text []byte) []statement {
	w := &walker{text: text}
	var all []statement
	for w.at < len(text) {
		switch b := text[w.at]; b {
		case ' ', '\t', '\r', '\n':
			w.at++
		case '#':
			w.at += lineEnd(text[w.at:])
		default:
			all = append(all, w.statement())
		}
	}
	return all
}

// walker goes over checked TOML.
type walker struct {
	text []byte
	at   int
}

func (w *walker) peek() byte {
	if w.at < len(w.text) {
		return w.text[w.at]
	}
	return 0
}

func (w *walker) statement() statement {
	s := statement{from: w.at}
	for w.peek() == '[' {
		s.array = s.header
		s.header = true
		w.at++
	}
	s.path = w.name()
	if s.header {
		for w.peek() == ']' {
			w.at++
		}
		s.to = w.at
		return s
	}
	w.at++ // the sign
	for w.peek() == ' ' || w.peek() == '\t' {
		w.at++
	}
	s.value = w.at
	s.to = w.value()
	return s
}

// name reads a dotted name up to the sign or bracket behind it.
func (w *walker) name() []string {
	var path []string
	for w.at < len(w.text) {
		switch b := w.text[w.at]; b {
		case ' ', '\t', '.':
			w.at++
		case '=', ']', '\n':
			return path
		case '"', '\'':
			from := w.at
			w.quoted()
			path = append(path, unquoteTOML(w.text[from:w.at]))
		default:
			from := w.at
			for w.at < len(w.text) && !bytes.ContainsRune([]byte(" \t.=]\r\n\"'"), rune(w.text[w.at])) {
				w.at++
			}
			path = append(path, string(w.text[from:w.at]))
		}
	}
	return path
}

// value passes over a value and answers where it ends.
func (w *walker) value() int {
	depth, end := 0, w.at
	for w.at < len(w.text) {
		switch b := w.text[w.at]; b {
		case '"', '\'':
			w.quoted()
			end = w.at
			continue
		case '#':
			if depth == 0 {
				return end
			}
			w.at += lineEnd(w.text[w.at:])
			continue
		case '\n':
			if depth == 0 {
				return end
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		w.at++
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(w.text[w.at-1])) {
			end = w.at
		}
	}
	return end
}

// quoted passes over a string of any of the four kinds.
func (w *walker) quoted() {
	mark := w.text[w.at : w.at+1]
	if triple := bytes.Repeat(mark, 3); bytes.HasPrefix(w.text[w.at:], triple) {
		mark = triple
	}
	for w.at += len(mark); w.at < len(w.text); w.at++ {
		if w.text[w.at] == '\\' && mark[0] == '"' {
			w.at++
			continue
		}
		if bytes.HasPrefix(w.text[w.at:], mark) {
			w.at += len(mark)
			for len(mark) == 3 && w.peek() == mark[0] { // up to two of them may stand inside, at the end
				w.at++
			}
			return
		}
	}
	w.at = len(w.text)
}

func unquoteTOML(token []byte) string {
	var out struct{ V string }
	if toml.Unmarshal(append([]byte("V = "), token...), &out) != nil {
		return string(token) // cannot be: the text was checked
	}
	return out.V
}

// table is the part of a text that one header begins.
type table struct {
	header statement
	values []statement
}

// tables are those of which the path begins so, in order.
func tables(all []statement, path []string) []table {
	var found []table
	inside := false
	for _, s := range all {
		if s.header {
			inside = !s.array && len(s.path) >= len(path) && slices.Equal(s.path[:len(path)], path)
			if inside {
				found = append(found, table{header: s})
			}
			continue
		}
		if inside {
			last := &found[len(found)-1]
			last.values = append(last.values, s)
		}
	}
	return found
}

// toml writes a value on one line.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		return layout{comma: ", "}.json(v, "")
	case Entry:
		parts := make([]string, 0, len(v))
		for _, m := range v {
			parts = append(parts, tomlName(m.Name)+" = "+tomlValue(m.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	panic(fmt.Sprintf("an entry holds a %T", value))
}

func tomlName(name string) string {
	bare := name != ""
	for _, r := range name {
		bare = bare && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if bare {
		return name
	}
	return quote(name)
}
