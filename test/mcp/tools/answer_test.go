package tools_test

import "encoding/json"

// answer reads structured content.
type answer struct{ members map[string]any }

func (a answer) text(name string) string {
	s, _ := a.members[name].(string)
	return s
}

func (a answer) int(name string) int64 {
	n, _ := a.members[name].(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1 << 62
	}
	return i
}

func (a answer) is(name string) bool { return a.members[name] == true }

func (a answer) null(name string) bool {
	v, there := a.members[name]
	return there && v == nil
}

func (a answer) at(name string) answer {
	m, _ := a.members[name].(map[string]any)
	return answer{m}
}

func (a answer) list(name string) []answer {
	items, _ := a.members[name].([]any)
	out := make([]answer, 0, len(items))
	for _, item := range items {
		m, _ := item.(map[string]any)
		out = append(out, answer{m})
	}
	return out
}
