package general

import "aion/adapters/web/wire"

// The bounds of one value inside an answer (mcp 4, size).
const (
	maxValueDefault = 8_192 // in a page without limit
	maxPageDefault  = 32_768
)

// What this surface shows like the others.
type (
	stamp    = wire.Stamp
	nullable = wire.Nullable
	page     = wire.Page
)

// bounds gives the size limits of one call: smaller ones when the caller left the number of entries to the server.
func (s *Service) bounds(hasLimit bool) (pageBytes, valueBytes int) {
	if hasLimit {
		return s.maxResult, wire.MaxValue
	}
	return min(s.maxResult, maxPageDefault), maxValueDefault
}
