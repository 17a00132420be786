package web

import (
	"net/http"
	"strconv"
	"strings"
)

// Accepts reports whether the Accept header of a request admits a media type. An absent or empty header admits all;
// `q=0` excludes; of several ranges that match, the most specific one decides (RFC 9110, 12.5.1).
func Accepts(r *http.Request, mediaType string) bool {
	admitted, _ := acceptance(r, mediaType)
	return admitted
}

// AcceptsByName is Accepts for a type that is not meant by an absent header or by `*/*`.
func AcceptsByName(r *http.Request, mediaType string) bool {
	admitted, rank := acceptance(r, mediaType)
	return admitted && rank >= byKind
}

// How closely a media range matches.
const (
	byStar = iota + 1
	byKind
	byName
)

func acceptance(r *http.Request, mediaType string) (ok bool, rank int) {
	kind, _, _ := strings.Cut(mediaType, "/")
	best, admitted, stated := 0, false, false
	for _, line := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			stated = stated || name != ""
			match := closeness(name, kind, mediaType)
			if match == 0 || match < best {
				continue
			}
			ok := quality(params) > 0
			admitted = ok || match == best && admitted
			best = match
		}
	}
	return admitted || !stated, best
}

func closeness(name, kind, mediaType string) int {
	switch name {
	case mediaType:
		return byName
	case kind + "/*":
		return byKind
	case "*/*":
		return byStar
	}
	return 0
}

// quality reads the q parameter; a malformed one counts as absent.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		key, value, found := strings.Cut(param, "=")
		if !found || !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return q
		}
	}
	return 1
}
