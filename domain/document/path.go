package document

import (
	"fmt"
	"strings"

	"aion/domain"
)

// The limits of a path (awl 9.1).
const (
	maxPathBytes    = 240
	maxSegments     = 8
	maxSegmentBytes = 100
)

const extension = ".awl"

// ParsePath accepts a document path. Anything else is refused as DocumentPathInvalid, with the rule that it breaks.
func ParsePath(s string) (Path, error) {
	if rule := brokenRule(s, extension); rule != "" {
		return "", pathInvalid(s, rule)
	}
	return Path(s), nil
}

// Name is the document name: the last segment without `.awl` (awl 9.2).
func (p Path) Name() string {
	s := string(p)
	return strings.TrimSuffix(s[strings.LastIndexByte(s, '/')+1:], extension)
}

// ValidImport says whether an import path has the one form that the language allows (awl 4.6): below the document's
// folder, plain segments, ending in `.json`.
func ValidImport(path string) bool {
	const suffix = ".json"
	if len(path) <= len(suffix) || !strings.HasSuffix(path, suffix) {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if !plainSegment(segment) {
			return false
		}
	}
	return true
}

// brokenRule names the first rule that a path breaks; empty when it breaks none.
func brokenRule(s, suffix string) string {
	switch {
	case s == "":
		return "a path is not empty"
	case len(s) > maxPathBytes:
		return fmt.Sprintf("a path has at most %d bytes; this one has %d", maxPathBytes, len(s))
	case strings.HasPrefix(s, "/"):
		return "a path is relative to the workspace and does not start with `/`"
	case strings.Contains(s, `\`):
		return "a path separates its segments by `/`, not by a backslash"
	case !strings.HasSuffix(s, suffix):
		return fmt.Sprintf("a path ends in `%s`", suffix)
	}
	segments := strings.Split(s, "/")
	if len(segments) > maxSegments {
		return fmt.Sprintf("a path has at most %d segments; this one has %d", maxSegments, len(segments))
	}
	for _, segment := range segments {
		if rule := brokenSegment(segment); rule != "" {
			return rule
		}
	}
	return ""
}

func brokenSegment(segment string) string {
	switch {
	case segment == "":
		return "a path has no empty segment"
	case segment == "." || segment == "..":
		return fmt.Sprintf("a path has no segment `%s`", segment)
	case segment[0] == '.':
		return fmt.Sprintf("a segment does not start with a dot: `%s`", domain.Quote(segment, 32))
	case len(segment) > maxSegmentBytes:
		return fmt.Sprintf("a segment has at most %d bytes; one has %d", maxSegmentBytes, len(segment))
	case !plainSegment(segment):
		return fmt.Sprintf("a segment starts with a letter or digit and holds only letters, digits, `.`, `_` and `-`: `%s`",
			domain.Quote(segment, 32))
	}
	return ""
}

// plainSegment matches `[A-Za-z0-9][A-Za-z0-9._-]*`.
func plainSegment(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return s != ""
}
