package schema

import (
	"slices"
	"strings"
)

// Shape says in a few words what fits: `{name: string, tags?: array of string}`, where `?` marks a member that may be left
// out. It shows one level and at most twelve members, so that it fits into a refusal.
func (s *Schema) Shape() string {
	const most = 12
	o := s.root.plainest().object
	if o == nil || len(o.names) == 0 {
		return s.root.brief()
	}
	members := make([]string, 0, min(len(o.names), most+1))
	for i, name := range o.names {
		if i == most {
			members = append(members, "…")
			break
		}
		mark := "?"
		if slices.Contains(o.required, name) {
			mark = ""
		}
		members = append(members, shorten(name)+mark+": "+o.properties[name].brief())
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// brief is what a rule asks for, with the elements of an array.
func (r *rule) brief() string {
	r = r.plainest()
	if r.array != nil && r.array.items != nil {
		return "array of " + r.array.items.expected()
	}
	return r.expected()
}

// plainest follows references that ask for nothing of their own.
func (r *rule) plainest() *rule {
	for steps := 0; r.ref != nil && r.plain() && steps < MaxDepth; steps++ {
		r = r.ref
	}
	return r
}
