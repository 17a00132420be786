package check

import (
	"encoding/json"
	"strconv"
	"strings"

	"aion/domain/awl/syntax"
)

// encodeText writes a JSON string without escaping what JSON does not ask to escape.
func encodeText(s string) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// describe names an expression that a const cannot hold.
func describe(e syntax.Expr) string {
	switch v := e.(type) {
	case *syntax.VisitsRef:
		return "`visits`"
	case *syntax.WorkflowID:
		return "`workflow`"
	case *syntax.ItemField, *syntax.Access:
		return "a field"
	case *syntax.Index:
		return "an index"
	case *syntax.Combine:
		return "`" + v.Comb.Name.Name + "`"
	case *syntax.Not:
		return "`not`"
	case *syntax.Is:
		return "`is " + v.Word + "`"
	default:
		return "this"
	}
}

// maxShownPath bounds how much of an expression a message repeats.
const maxShownPath = 80

// exprText spells a value for a message: names, fields and indexes as written, anything else as `the value`.
func exprText(e syntax.Expr) string {
	var parts []string
	for {
		switch v := e.(type) {
		case *syntax.Name:
			return shorten(v.Name, parts)
		case *syntax.ItemField:
			return shorten("."+v.Name.Name, parts)
		case *syntax.Access:
			parts = append(parts, "."+v.Name.Name)
			e = v.Of
		case *syntax.Index:
			parts = append(parts, "["+strconv.FormatInt(v.Value, 10)+"]")
			e = v.Of
		case *syntax.Paren:
			e = v.Of
		default:
			return "the value"
		}
	}
}

// shorten puts a root and its suffixes, innermost last, together.
func shorten(root string, parts []string) string {
	for i := len(parts) - 1; i >= 0 && len(root) < maxShownPath; i-- {
		root += parts[i]
	}
	if len(root) > maxShownPath {
		return root[:maxShownPath] + "…"
	}
	return root
}

// pathOf gives the path that an expression reads (awl 4.3): a name followed by accessors, or the item (`.`) and its
// fields. Empty when it is no path.
func pathOf(e syntax.Expr) string {
	var parts []string
	for {
		switch v := e.(type) {
		case *syntax.Name:
			return joinPath(v.Name, parts)
		case *syntax.ItemField:
			return joinPath("."+v.Name.Name, parts)
		case *syntax.Access:
			parts = append(parts, v.Name.Name)
			e = v.Of
		case *syntax.Paren:
			e = v.Of
		default:
			return ""
		}
	}
}

func joinPath(root string, parts []string) string {
	var b strings.Builder
	b.WriteString(root)
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteByte('.')
		b.WriteString(parts[i])
	}
	return b.String()
}

// rootOf is the name that a path starts with; empty for a path of the item.
func rootOf(path string) string {
	root, _, _ := strings.Cut(path, ".")
	return root
}

// bare takes the parentheses off an expression.
func bare(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.Paren)
		if !ok {
			return e
		}
		e = p.Of
	}
}

// spine lays out a chain of one operator, or of `+`: its first operand, and the nodes that each add one on the right. The
// chain is as long as the line that holds it, so nothing here recurses.
func spine(b *syntax.Binary) (first syntax.Expr, links []*syntax.Binary) {
	for {
		links = append(links, b)
		l, ok := b.L.(*syntax.Binary)
		if !ok || l.Op != b.Op {
			first = b.L
			break
		}
		b = l
	}
	for i, j := 0, len(links)-1; i < j; i, j = i+1, j-1 {
		links[i], links[j] = links[j], links[i]
	}
	return first, links
}
