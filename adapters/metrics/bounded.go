package metrics

import (
	"strings"
	"sync"
)

// maxNames bounds the names that callers choose and that become values of a label; what comes later is "other".
const maxNames = 200

const otherName = "other"

// names are the values of one label. It is safe for concurrent use.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

func newNames() *names { return &names{seen: map[string]bool{}} }

// label is the name itself, or that of all which came too late.
func (n *names) label(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[name] {
		return strings.ToValidUTF8(name, "\uFFFD")
	}
	if len(n.seen) >= maxNames {
		return otherName
	}
	n.seen[name] = true
	return strings.ToValidUTF8(name, "\uFFFD")
}
