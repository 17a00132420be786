package clients

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// mergeTOML gives the table at path the members of an entry. Names of own that the entry lacks go away; every other name
// of the table, and every other byte of the text, stays.
func mergeTOML(text []byte, path []string, e Entry, own []string) ([]byte, error) {
	tree, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	present, err := tableAt(tree, path)
	if err != nil {
		return nil, err
	}
	all := statements(text)
	found := tables(all, path)
	at := slices.IndexFunc(found, func(t table) bool { return len(t.header.path) == len(path) })
	if at < 0 {
		if present != nil && satisfied(present, e, own) {
			return text, nil
		}
		if definedInline(all, path) {
			return nil, fmt.Errorf("%w; write it as a table [%s] first", errInline, dotted(path))
		}
		return appendTable(text, path, e), nil
	}
	if satisfied(present, e, own) {
		return text, nil
	}
	if len(found) > 1 {
		for _, t := range found {
			if sub := t.header.path[len(path):]; len(sub) > 0 && slices.Contains(own, sub[0]) {
				return nil, fmt.Errorf("%w; take the table [%s] away first", errInline, dotted(t.header.path))
			}
		}
	}
	return splice(text, tableCuts(text, found[at], present, e, own)...), nil
}

// tableCuts are the changes inside one table. What is new comes right behind the header.
func tableCuts(text []byte, t table, present map[string]any, e Entry, own []string) []cut {
	var cuts []cut
	missing := slices.Clone(e)
	for _, s := range t.values {
		name := s.path[0]
		i := slices.IndexFunc(missing, func(m Member) bool { return m.Name == name })
		switch {
		case i >= 0 && len(s.path) == 1:
			if !equal(present[name], plain(missing[i].Value)) {
				cuts = append(cuts, cut{s.value, s.to, tomlValue(missing[i].Value)})
			}
			missing = slices.Delete(missing, i, i+1)
		case slices.Contains(own, name):
			cuts = append(cuts, cut{lineStart(text, s.from), nextLine(text, s.to), ""})
		}
	}
	var added strings.Builder
	for _, m := range missing {
		added.WriteString(newlineOf(text) + tomlName(m.Name) + " = " + tomlValue(m.Value))
	}
	end := t.header.to + lineEnd(text[t.header.to:])
	return append([]cut{{end, end, added.String()}}, cuts...)
}

// nextLine is where the line after a place begins.
func nextLine(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end + 1
	}
	return len(text)
}

// appendTable writes a new table at the end of a text.
func appendTable(text []byte, path []string, e Entry) []byte {
	nl := newlineOf(text)
	out := slices.Clone(text)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, nl...)
	}
	if len(out) > 0 {
		out = append(out, nl...)
	}
	return append(out, strings.ReplaceAll(tomlTable(path, e), "\n", nl)...)
}

func tomlTable(path []string, e Entry) string {
	names := make([]string, 0, len(path))
	for _, name := range path {
		names = append(names, tomlName(name))
	}
	var out strings.Builder
	out.WriteString("[" + strings.Join(names, ".") + "]\n")
	for _, m := range e {
		out.WriteString(tomlName(m.Name) + " = " + tomlValue(m.Value) + "\n")
	}
	return out.String()
}

// removeTOML takes the table at path and those below it away.
func removeTOML(text []byte, path []string) ([]byte, error) {
	tree, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	present, err := tableAt(tree, path)
	if err != nil || present == nil {
		return text, err
	}
	all := statements(text)
	if definedInline(all, path) {
		return nil, fmt.Errorf("%w; take it away by hand", errInline)
	}
	var cuts []cut
	for _, t := range tables(all, path) {
		end := t.header.to
		if n := len(t.values); n > 0 {
			end = t.values[n-1].to
		}
		from := lineStart(text, t.header.from)
		if blank := lineStart(text, max(from-1, 0)); from > 0 && len(bytes.TrimSpace(text[blank:from])) == 0 {
			from = blank // with the empty line before it
		}
		cuts = append(cuts, cut{from, nextLine(text, end), ""})
	}
	return splice(text, cuts...), nil
}

// tableAt finds a table in the decoded text; nil when there is none.
func tableAt(tree map[string]any, path []string) (map[string]any, error) {
	for i, name := range path {
		next, ok := tree[name]
		if !ok {
			return nil, nil //nolint:nilnil // absence is an answer here: the map is nil and reads as empty
		}
		if tree, ok = next.(map[string]any); !ok {
			return nil, notATable(path[:i+1])
		}
	}
	return tree, nil
}

// definedInline reports whether the table at path, or one that holds it, is written as a value rather than under headers.
func definedInline(all []statement, path []string) bool {
	var at []string
	for _, s := range all {
		if s.header {
			at = s.path
			continue
		}
		full := append(slices.Clone(at), s.path...)
		if len(at) < len(path) && slices.Equal(full[:min(len(full), len(path))], path[:min(len(full), len(path))]) {
			return true
		}
	}
	return false
}

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
