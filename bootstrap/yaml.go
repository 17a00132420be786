package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"aion/domain/awl/diag"
)

// walkFile checks a configuration file against the key table, node by node: viper forgets positions, case and repeated
// keys. It answers the line of each key that is set, and the findings as `FILE:LINE:COLUMN: …`.
func walkFile(name string, text []byte) (map[string]int, []string) {
	w := walker{file: name, lines: map[string]int{}, leaves: map[string]bool{}, groups: map[string]bool{}}
	for _, k := range keys() {
		w.leaves[k.name] = true
		w.names = append(w.names, k.name)
		for i, c := range k.name {
			if c == '.' {
				w.groups[k.name[:i]] = true
			}
		}
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var root, next yaml.Node
	err := documents.Decode(&root)
	if err == nil {
		if len(root.Content) > 0 && root.Content[0].Tag != "!!null" {
			w.group("", root.Content[0])
		}
		if err = documents.Decode(&next); err == nil {
			w.report(&next, "a second document begins here and would not be read; write one, without ---")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.findings = append(w.findings, name+": "+strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return w.lines, w.findings
}

type walker struct {
	file     string
	names    []string
	leaves   map[string]bool
	groups   map[string]bool
	lines    map[string]int
	findings []string
}

func (w *walker) report(n *yaml.Node, format string, args ...any) {
	w.findings = append(w.findings, fmt.Sprintf("%s:%d:%d: ", w.file, n.Line, n.Column)+fmt.Sprintf(format, args...))
}

// plain refuses the YAML features that would let a value come from elsewhere in the file.
func (w *walker) plain(path string, n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		w.report(n, "%s: anchors and aliases are not used here; write the value out", path)
		return false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		w.report(n, "%s: tags are not used here; drop %s", path, n.Tag)
		return false
	}
	return true
}

func (w *walker) group(path string, n *yaml.Node) {
	if !w.plain(path, n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		where := path
		if where == "" {
			where = "the file"
		}
		w.report(n, "%s: expected keys and values", where)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		full := name.Value
		if path != "" {
			full = path + "." + name.Value
		}
		switch {
		case seen[name.Value]:
			w.report(name, "%s: the key is repeated", full)
		case strings.Contains(name.Value, ".") && (w.leaves[full] || w.groups[full]):
			w.report(name, "%s: a key is not written with dots here; write %s", full, nested(name.Value))
		case w.leaves[full]:
			w.leaf(full, name, value)
		case w.groups[full]:
			w.group(full, value)
		default:
			text := full + ": unknown key"
			if near := diag.Closest(full, w.names); near != "" {
				text += "; did you mean " + near + "?"
			}
			w.report(name, "%s", text)
		}
		seen[name.Value] = true
	}
}

// nested spells a dotted key as a file has it.
func nested(name string) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[:len(parts)-1], ": and below it, indented, ") + ": and below it, indented, " + parts[len(parts)-1] + ":"
}

func (w *walker) leaf(full string, name, value *yaml.Node) {
	if !w.plain(full, value) {
		return
	}
	if value.Kind == yaml.MappingNode {
		w.report(value, "%s: takes a value, not keys", full)
		return
	}
	for _, item := range value.Content {
		w.plain(full, item)
	}
	w.lines[full] = name.Line
}
