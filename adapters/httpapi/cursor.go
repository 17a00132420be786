package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"aion/adapters/web/wire"
	"aion/domain"
)

// cursorDigest is how many bytes of a cursor tell the list that it belongs to.
const cursorDigest = 8

// next is the cursor behind a position in the list that the request asks for: its path and its filters.
func (q *request) next(position string) string {
	return base64.RawURLEncoding.EncodeToString(append(q.listDigest(), position...))
}

// after is the position that the request's cursor holds; empty without one. A cursor of another list is refused.
func (q *request) after() (position string, err error) {
	if !q.query.has("cursor") {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.query.text("cursor"))
	switch {
	case err != nil, len(b) <= cursorDigest:
		return "", cursorInvalid("does not decode")
	case string(b[:cursorDigest]) != string(q.listDigest()):
		return "", cursorInvalid("belongs to another list or other filters")
	}
	return string(b[cursorDigest:]), nil
}

func (q *request) listDigest() []byte {
	var b strings.Builder
	b.WriteString(q.URL.Path)
	names := make([]string, 0, len(q.query.given))
	for name := range q.query.given {
		if name != "cursor" && name != "limit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString("\x00" + name + "\x01" + strings.Join(slices.Sorted(slices.Values(q.query.given[name])), "\x01"))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return sum[:cursorDigest:cursorDigest]
}

func cursorInvalid(why string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CursorInvalid",
		Message: "the cursor " + why + "; start again without a cursor, or pass next_cursor unchanged with the same filters",
	}
}

// The sizes of a page of a cursor list.
const (
	defaultLimit = 50
	maxLimit     = 500
)

// limit is the number of entries that a cursor list gives.
func (q *request) limit() int { return int(q.query.whole("limit", defaultLimit, 1, maxLimit)) }

// page is what a list is asked for whose positions are names, and which has read all its other parameters.
func (q *request) page() (limit int, after string, err error) {
	limit = q.limit()
	if after, err = q.after(); err == nil {
		err = q.whole()
	}
	return limit, after, err
}

// offset is the position of a list that lies whole in memory: how many entries stand before the page.
func (q *request) offset() (int, error) {
	position, err := q.after()
	if err != nil || position == "" {
		return 0, err
	}
	n, err := strconv.Atoi(position)
	if err != nil || n < 1 {
		return 0, cursorInvalid("does not decode")
	}
	return n, nil
}

// portion is the part of such a list that a page shows, and the cursor behind it.
func (q *request) portion(all, offset, limit int) (shown [2]int, next wire.Nullable) {
	first := min(offset, all)
	last := min(first+limit, all)
	if last < all {
		next = wire.Nullable(q.next(strconv.Itoa(last)))
	}
	return [2]int{first, last}, next
}
