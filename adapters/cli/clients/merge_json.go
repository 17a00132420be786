package clients

import (
	"bytes"
	"slices"
)

// mergeJSON gives the object at path the members of an entry. Names of own that the entry lacks go away; every other
// name of the object, and every other byte of the text, stays.
func mergeJSON(text []byte, path []string, e Entry, own []string) ([]byte, error) {
	tree, err := decodeJSON(text)
	if err != nil {
		return nil, err
	}
	present, err := tableAt(tree, path)
	if err != nil {
		return nil, err
	}
	if present == nil {
		return setJSON(text, path, e)
	}
	for _, name := range own {
		if _, has := present[name]; has && !slices.ContainsFunc(e, func(m Member) bool { return m.Name == name }) {
			if text, err = removeJSON(text, append(slices.Clone(path), name)); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range e {
		if equal(present[m.Name], plain(m.Value)) {
			continue
		}
		if text, err = setJSON(text, append(slices.Clone(path), m.Name), m.Value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// decodeJSON is the object that a file holds; an empty file holds an empty one.
func decodeJSON(text []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	tree, ok := root.value.(map[string]any)
	if !ok {
		return nil, notATable(nil)
	}
	return tree, nil
}
