package clients

import (
	"bytes"
	"strings"
)

// setJSON gives the member at path the value, and changes nothing else of the text. What is missing on the way is made.
func setJSON(text []byte, path []string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	at := root
	for i, name := range path {
		if !at.object {
			return nil, notATable(path[:i])
		}
		m := at.member(name)
		if m == nil {
			for k := len(path) - 1; k > i; k-- {
				value = Entry{{path[k], value}}
			}
			return insertJSON(text, root, at, Member{name, value}), nil
		}
		at = m.value
	}
	l := layoutOf(text, root, at)
	return splice(text, cut{at.from, at.to, l.json(value, indentOf(text, at.from))}), nil
}

// removeJSON takes the member at path away with its comma; an absent one changes nothing.
func removeJSON(text []byte, path []string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	at, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	last := len(path) - 1
	for i, name := range path[:last] {
		m := at.member(name)
		switch {
		case !at.object:
			return nil, notATable(path[:i])
		case m == nil:
			return text, nil
		}
		at = m.value
	}
	for i := range at.members {
		if at.members[i].name == path[last] {
			return splice(text, without(text, at, i)...), nil
		}
	}
	return text, nil
}

// cut is a part of a text and what stands there instead.
type cut struct {
	from, to int
	text     string
}

// splice makes cuts, which come in order and do not overlap.
func splice(text []byte, cuts ...cut) []byte {
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, text[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, text[at:]...)
}

// insertJSON puts a member behind the last one of an object, in the layout of its neighbours.
func insertJSON(text []byte, root, object *node, m Member) []byte {
	l := layoutOf(text, root, object)
	if len(object.members) == 0 {
		return fillJSON(text, l, object, m)
	}
	last := object.members[len(object.members)-1]
	trailing := ""
	var cuts []cut
	end := last.value.to
	if last.comma >= 0 {
		trailing, end = ",", last.comma+1
	}
	if l.newline == "" {
		sep := l.comma
		if trailing != "" {
			sep = strings.TrimPrefix(sep, ",")
		}
		return splice(text, cut{end, end, sep + quote(m.Name) + l.colon + l.json(m.Value, "") + trailing})
	}
	if trailing == "" {
		cuts = append(cuts, cut{end, end, ","})
	}
	indent := indentOf(text, object.from) + l.unit
	if ownLine(text, last.from) {
		indent = indentOf(text, last.from)
	}
	end += trivia(text[end:])
	return splice(text, append(cuts, cut{end, end, l.newline + indent + quote(m.Name) + l.colon + l.json(m.Value, indent) + trailing})...)
}

// fillJSON puts the first member into an object, behind the comments that it may hold.
func fillJSON(text []byte, l layout, object *node, m Member) []byte {
	outer := indentOf(text, object.from)
	inner := text[object.from+1 : object.to-1]
	kept := len(bytes.TrimRight(inner, " \t\r\n"))
	from, to := object.from+1+kept, object.to-1
	return splice(text, cut{from, to, l.newline + outer + l.unit + quote(m.Name) + l.colon + l.json(m.Value, outer+l.unit) + l.newline + outer})
}

// without are the cuts that take member i away.
func without(text []byte, object *node, i int) []cut {
	m := object.members[i]
	end := m.value.to
	if m.comma >= 0 {
		end = m.comma + 1
	}
	from := max(before(text, object, i, end), object.from+1)
	switch {
	case len(object.members) == 1:
		inner := string(text[object.from+1:from]) + string(text[end:object.to-1])
		if strings.TrimSpace(inner) == "" {
			return []cut{{object.from + 1, object.to - 1, ""}}
		}
	case i == len(object.members)-1 && m.comma < 0:
		comma := object.members[i-1].comma
		return []cut{{comma, comma + 1, ""}, {max(from, comma+1), end, ""}}
	case i == 0 && !ownLine(text, m.from):
		end += len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t"))
	}
	return []cut{{from, end, ""}}
}

// before is where a cut of member i begins: with its line when it has that for itself, else with the space before it.
func before(text []byte, object *node, i, end int) int {
	from := object.members[i].from
	if ownLine(text, from) && endsLine(text, end) {
		from = lineStart(text, from) - 1 // with the line break before it
		if from > 0 && text[from-1] == '\r' {
			from--
		}
		return from
	}
	if i > 0 {
		if comma := object.members[i-1].comma; len(bytes.Trim(text[comma+1:from], " \t")) == 0 {
			return comma + 1
		}
	}
	return from
}

// layoutOf is how an object is written, and the file around it.
func layoutOf(text []byte, root, object *node) layout {
	l := layout{newline: "\n", unit: "  ", colon: ": ", comma: ", "}
	if bytes.Contains(text, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.members) > 0 && ownLine(text, root.members[0].from) {
		if indent := indentOf(text, root.members[0].from); indent != "" {
			l.unit = indent
		}
	}
	if len(object.members) == 0 || bytes.ContainsAny(text[object.from:object.to], "\n") {
		return l
	}
	first := object.members[0]
	l.newline = ""
	if !bytes.ContainsAny(text[first.from:first.value.from], " \t") {
		l.colon, l.comma = ":", ","
	}
	return l
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// ownLine reports whether only white space stands before a place on its line.
func ownLine(text []byte, at int) bool {
	start := lineStart(text, at)
	return start > 0 && len(bytes.TrimLeft(text[start:at], " \t")) == 0
}

// endsLine reports whether only white space follows on the line.
func endsLine(text []byte, at int) bool {
	rest := text[at:]
	return len(bytes.TrimLeft(rest[:lineEnd(rest)], " \t")) == 0
}

// indentOf is the white space at the beginning of a line.
func indentOf(text []byte, at int) string {
	line := text[lineStart(text, at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// trivia is the length of the white space and comments that end a line.
func trivia(text []byte) int {
	at := 0
	for {
		rest := bytes.TrimLeft(text[at:], " \t")
		at = len(text) - len(rest)
		if bytes.HasPrefix(rest, []byte("//")) {
			return at + lineEnd(rest)
		}
		end := -1
		if bytes.HasPrefix(rest, []byte("/*")) {
			end = bytes.Index(rest[2:], []byte("*/"))
		}
		if end < 0 || bytes.ContainsAny(rest[:end+2], "\n") {
			return len(bytes.TrimRight(text[:at], " \t"))
		}
		at += end + 4
	}
}

func dotted(path []string) string { return strings.Join(path, ".") }
