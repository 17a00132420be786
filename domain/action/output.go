package action

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Output keeps one stream of a command in bounded memory: all of it up to the limit, beyond that its head and its tail.
// It is not safe for concurrent use.
type Output struct {
	limit int
	head  []byte // the first limit/2 bytes
	ring  []byte // a ring of the last limit-limit/2 bytes behind head
	next  int    // where the ring goes on once it is full
	total int64
}

// NewOutput keeps at most limit bytes; limit is at least 2.
func NewOutput(limit int) *Output { return &Output{limit: max(limit, 2)} }

// Write takes all of p; it never fails.
func (o *Output) Write(p []byte) (int, error) {
	n := len(p)
	o.total += int64(n)
	if room := o.limit/2 - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head = append(o.head, p[:take]...)
		p = p[take:]
	}
	size := o.limit - o.limit/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if room := size - len(o.ring); room > 0 {
		take := min(room, len(p))
		o.ring = append(o.ring, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		took := copy(o.ring[o.next:], p)
		p = p[took:]
		o.next = (o.next + took) % size
	}
	return n, nil
}

// Total is the number of bytes that the stream had.
func (o *Output) Total() int64 { return o.total }

// Cut reports whether bytes were dropped.
func (o *Output) Cut() bool { return o.total > int64(len(o.head)+len(o.ring)) }

// last gives the kept bytes behind head, in order.
func (o *Output) last() []byte {
	if o.next == 0 {
		return o.ring
	}
	return append(append(make([]byte, 0, len(o.ring)), o.ring[o.next:]...), o.ring[:o.next]...)
}

// Text is the stream as a result shows it: at most limit bytes of it, cut in the middle with a marker line that names
// the stream, repaired, and without trailing line breaks (actions 3.2).
func (o *Output) Text(stream string, limit int) string {
	limit = min(max(limit, 2), o.limit)
	if o.total <= int64(limit) {
		return strings.TrimRight(Repair(append(append([]byte{}, o.head...), o.last()...)), "\n")
	}
	all := append(append([]byte{}, o.head...), o.last()...)
	head, tail := headRunes(all[:limit/2]), tailRunes(all[len(all)-(limit-limit/2):])
	join := "\n"
	if len(head) == 0 || head[len(head)-1] == '\n' {
		join = ""
	}
	marker := fmt.Sprintf("[aion: %s cut: %d of %d bytes kept]", stream, len(head)+len(tail), o.total)
	return strings.TrimRight(Repair(head)+join+marker+"\n"+Repair(tail), "\n")
}

// behind gives the last n bytes that came at or after position from, without trailing line breaks, and
// the number that is left out before them.
func (o *Output) behind(n int, from int64) (kept []byte, left int64) {
	all := append(append([]byte{}, o.head...), o.last()...)
	if have := o.total - from; int64(len(all)) > have {
		all = all[int64(len(all))-have:]
	}
	for len(all) > 0 && all[len(all)-1] == '\n' {
		all = all[:len(all)-1]
		from++ // a dropped line break is not an omission
	}
	if len(all) > n {
		all = tailRunes(all[len(all)-n:])
	}
	return all, o.total - from - int64(len(all))
}

func (o *Output) ending(n int, from int64) string {
	kept, left := o.behind(n, from)
	if left > 0 {
		return omitted(left) + Repair(kept)
	}
	return Repair(kept)
}

// headRunes drops an incomplete last rune, tailRunes the continuation bytes of an incomplete first one.
func headRunes(b []byte) []byte {
	return b[:len(b)-IncompleteRune(b)]
}

func tailRunes(b []byte) []byte {
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return b
}

// IncompleteRune counts the bytes at the end of b that may begin a rune whose rest is missing: 0 to 3.
func IncompleteRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Repair makes text of bytes: each invalid byte, and each U+0000, which a text column cannot hold, becomes one U+FFFD.
func Repair(b []byte) string {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b) + 64)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == 0 {
			r = utf8.RuneError
		}
		s.WriteRune(r)
		b = b[n:]
	}
	return s.String()
}
