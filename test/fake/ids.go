package fake

import (
	"fmt"
	"sync"

	"aion/ports"
)

// IDs gives identifiers in order: the n-th UUID ends in n. It is safe for concurrent use.
type IDs struct {
	mu      sync.Mutex
	n       uint64
	drawn   int
	factors []float64
}

var _ ports.IDs = (*IDs)(nil)

// NewIDs gives a source whose Factor goes round through factors, or is always 0.5 when there are none.
func NewIDs(factors ...float64) *IDs {
	if len(factors) == 0 {
		factors = []float64{0.5}
	}
	return &IDs{factors: factors}
}

// UUIDv7 implements ports.IDs.
func (s *IDs) UUIDv7() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return UUID(s.n)
}

// Factor implements ports.IDs.
func (s *IDs) Factor() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn++
	return s.factors[(s.drawn-1)%len(s.factors)]
}

// UUID is the n-th identifier of every source of this package; it sorts like n.
func UUID(n uint64) string {
	return fmt.Sprintf("019b7d00-%04x-7000-8000-%012x", n>>48&0xffff, n&0xffffffffffff)
}
