package schema

import (
	"slices"

	"aion/domain"
)

// canonical is a text that is the same for two values exactly when JSON Schema calls them equal: members sorted, numbers
// by value.
func canonical(n *node) string { return string(appendCanonical(nil, n)) }

func appendCanonical(b []byte, n *node) []byte {
	switch n.kind {
	case jsonNull, jsonBool:
		return append(b, n.text...)
	case jsonNumber:
		return append(b, newDecimal(n.text).String()...)
	case jsonString:
		return domain.AppendText(b, n.str())
	case jsonArray:
		b = append(b, '[')
		for i := range n.elems() {
			b = appendCanonical(append(b, ','), &n.elems()[i])
		}
		return append(b, ']')
	case jsonObject:
		order := make([]*member, len(n.members()))
		for i := range n.members() {
			order[i] = &n.members()[i]
		}
		slices.SortFunc(order, func(a, c *member) int {
			if a.key < c.key {
				return -1
			}
			return 1
		})
		b = append(b, '{')
		for _, m := range order {
			b = domain.AppendText(append(b, ','), m.key)
			b = appendCanonical(append(b, ':'), &m.val)
		}
		return append(b, '}')
	}
	return b
}
