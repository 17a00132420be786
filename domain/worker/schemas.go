package worker

import (
	"encoding/json"
	"slices"
	"strings"
)

// deepest bounds how far references and alternatives are followed.
const deepest = 64

// widest bounds the alternatives of one place: references can multiply them.
const widest = 1000

// alternatives takes a schema apart into those of one type each. What is too deep or too wide accepts everything.
func (r root) alternatives(n node) []node {
	left := widest
	return r.apart(n, nil, &left)
}

func (r root) apart(n node, path []string, left *int) []node {
	if *left--; *left < 0 || len(path) > deepest {
		return []node{nil}
	}
	if ref, ok := n["$ref"].(string); ok {
		if slices.Contains(path, ref) {
			return nil // it adds nothing to itself
		}
		return r.apart(r.at(ref), append(slices.Clone(path), ref), left)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		list, ok := n[word].([]any)
		if !ok {
			continue
		}
		var all []node
		for _, one := range list {
			if *left < 0 {
				return []node{nil}
			}
			inner, _ := one.(node)
			all = append(all, r.apart(inner, append(slices.Clone(path), word), left)...)
		}
		return all
	}
	if types := texts(n["type"]); len(types) > 1 {
		all := make([]node, 0, len(types))
		for _, t := range types {
			one := node{}
			for k, v := range n {
				one[k] = v
			}
			one["type"] = t
			all = append(all, one)
		}
		return all
	}
	return []node{n}
}

// at resolves a reference inside the schema; an unknown one accepts everything.
func (r root) at(ref string) node {
	here := any(r.top)
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		inner, _ := here.(node)
		here = inner[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	found, _ := here.(node)
	return found
}

// kind is the type that a schema asks for, or any.
func kind(n node) string {
	if t := texts(n["type"]); len(t) == 1 {
		return t[0]
	}
	if values, ok := n["enum"].([]any); ok && len(values) > 0 {
		return kindOf(values[0])
	}
	if v, ok := n["const"]; ok {
		return kindOf(v)
	}
	if n["properties"] != nil {
		return "object"
	}
	return "any"
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// enumeration gives the values that a schema is closed to, as sorted JSON.
func enumeration(n node) (values []string, closed bool) {
	list, closed := n["enum"].([]any)
	if v, ok := n["const"]; ok {
		list, closed = []any{v}, true
	}
	for _, v := range list {
		text, _ := json.Marshal(v) // it came from JSON
		values = append(values, string(text))
	}
	slices.Sort(values)
	return values, closed
}

// texts is a text, or a list of texts.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, 0, len(v))
		for _, one := range v {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// shown names the types of a schema.
func shown(list []node) string {
	names := make([]string, 0, len(list))
	for _, n := range list {
		if k := kind(n); !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}
