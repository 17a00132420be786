package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds how deep a schema may nest (awl 2.1).
const MaxDepth = 64

// MaxValueDepth bounds how deep a validated value may nest.
const MaxValueDepth = 512

// jsonKind tells the values of JSON apart.
type jsonKind uint8

const (
	jsonNull jsonKind = iota + 1
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// word is how messages call a value of the kind.
func (k jsonKind) word() string {
	switch k {
	case jsonNull:
		return "null"
	case jsonBool:
		return "boolean"
	case jsonNumber:
		return "number"
	case jsonString:
		return "string"
	case jsonArray:
		return "array"
	case jsonObject:
		return "object"
	}
	return "nothing"
}

// node is one value with its place in the text. Numbers keep their digits; object members keep their order. It is small,
// since a text of some megabytes may hold a million of them.
type node struct {
	kind jsonKind
	off  int32  // of the first byte
	text string // as written
	more *more  // nil: a scalar without escapes, or an empty list or object
}

// more is what few nodes need.
type more struct {
	decoded string // of a string with escapes
	elems   []node
	members []member
}

// at is the byte at which the value starts.
func (n *node) at() int { return int(n.off) }

// str is the decoded text of a string.
func (n *node) str() string {
	if n.more != nil {
		return n.more.decoded
	}
	return n.text[1 : len(n.text)-1]
}

// elems are the elements of a list; there are none in anything else.
func (n *node) elems() []node {
	if n.more == nil {
		return nil
	}
	return n.more.elems
}

// members are the members of an object; there are none in anything else.
func (n *node) members() []member {
	if n.more == nil {
		return nil
	}
	return n.more.members
}

// member is one member of an object.
type member struct {
	key string
	off int // of the key's opening quote
	val node
}

// member finds a member; nil when there is none.
func (n *node) member(key string) *member {
	ms := n.members()
	for i := range ms {
		if ms[i].key == key {
			return &ms[i]
		}
	}
	return nil
}

// textError is a place where a text stops being JSON.
type textError struct {
	off     int
	detail  string
	tooDeep bool
}

func (e *textError) Error() string { return fmt.Sprintf("%s (byte %d)", e.detail, e.off) }

// reader reads JSON strictly (RFC 8259): one value, unique member names, valid UTF-8, whole surrogate pairs.
type reader struct {
	s    string
	pos  int
	deep int // levels left
}

// parse reads the one value that raw holds.
func parse(raw []byte, depth int) (*node, *textError) {
	if len(raw) > math.MaxInt32 {
		return nil, &textError{detail: "the text is too long"}
	}
	r := reader{s: string(raw), deep: depth}
	if off, bad := invalidUTF8(r.s); bad {
		return nil, &textError{off: off, detail: "the text is not valid UTF-8"}
	}
	var n node
	if err := r.value(&n); err != nil {
		return nil, err
	}
	r.space()
	if r.pos < len(r.s) {
		return nil, r.unexpected("the end")
	}
	return &n, nil
}

// ValidateJSON says whether raw is exactly one JSON value of bounded depth in which no object has a member twice. When it
// is not, offset is the byte at which it goes wrong and detail says how.
func ValidateJSON(raw []byte) (offset int, detail string, ok bool) {
	if _, err := parse(raw, MaxDepth); err != nil {
		return err.off, err.detail, false
	}
	return 0, "", true
}

func invalidUTF8(s string) (int, bool) {
	if utf8.ValidString(s) {
		return 0, false
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i, true
		}
		i += size
	}
	return 0, false
}

func (r *reader) space() {
	for r.pos < len(r.s) {
		switch r.s[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

func (r *reader) fail(off int, format string, args ...any) *textError {
	return &textError{off: off, detail: fmt.Sprintf(format, args...)}
}

// unexpected reports what stands at the present place instead of what is wanted.
func (r *reader) unexpected(wanted string) *textError {
	if r.pos >= len(r.s) {
		return r.fail(len(r.s), "expected %s, found the end", wanted)
	}
	c, _ := utf8.DecodeRuneInString(r.s[r.pos:])
	return r.fail(r.pos, "expected %s, found `%s`", wanted, printable(c))
}

// printable shows a character in a message; controls are written by number.
func printable(c rune) string {
	if c < 0x20 || c == 0x7f {
		return fmt.Sprintf("U+%04X", c)
	}
	return string(c)
}

func (r *reader) value(n *node) *textError {
	r.space()
	if r.pos >= len(r.s) {
		return r.unexpected("a value")
	}
	n.off = int32(r.pos) // parse bounds the text
	var err *textError
	switch c := r.s[r.pos]; {
	case c == '{':
		err = r.nested(n, r.object)
	case c == '[':
		err = r.nested(n, r.array)
	case c == '"':
		n.kind = jsonString
		var s string
		if s, err = r.string(); err == nil && len(s) != r.pos-n.at()-2 {
			n.more = &more{decoded: s}
		}
	case c == '-' || c >= '0' && c <= '9':
		n.kind = jsonNumber
		err = r.number()
	case c == 't':
		n.kind, err = jsonBool, r.literal("true")
	case c == 'f':
		n.kind, err = jsonBool, r.literal("false")
	case c == 'n':
		n.kind, err = jsonNull, r.literal("null")
	default:
		err = r.unexpected("a value")
	}
	n.text = r.s[n.off:r.pos]
	return err
}

func (r *reader) literal(word string) *textError {
	if !strings.HasPrefix(r.s[r.pos:], word) {
		return r.unexpected("a value")
	}
	r.pos += len(word)
	return nil
}

func (r *reader) nested(n *node, read func(*node) *textError) *textError {
	if r.deep == 0 {
		return &textError{off: r.pos, tooDeep: true, detail: "the nesting is too deep"}
	}
	r.deep--
	r.pos++
	err := read(n)
	r.deep++
	return err
}

func (r *reader) array(n *node) *textError {
	n.kind = jsonArray
	r.space()
	if r.eat(']') {
		return nil
	}
	m := &more{}
	n.more = m
	for {
		m.elems = append(m.elems, node{})
		if err := r.value(&m.elems[len(m.elems)-1]); err != nil {
			return err
		}
		r.space()
		if r.eat(']') {
			return nil
		}
		if !r.eat(',') {
			return r.unexpected("`,` or `]`")
		}
	}
}

func (r *reader) object(n *node) *textError {
	n.kind = jsonObject
	r.space()
	if r.eat('}') {
		return nil
	}
	n.more = &more{}
	for {
		if err := r.member(n.more); err != nil {
			return err
		}
		r.space()
		if r.eat('}') {
			return uniqueMembers(n.more.members)
		}
		if !r.eat(',') {
			return r.unexpected("`,` or `}`")
		}
	}
}

func (r *reader) member(n *more) *textError {
	r.space()
	m := member{off: r.pos}
	if r.pos >= len(r.s) || r.s[r.pos] != '"' {
		return r.unexpected("a member name in quotes")
	}
	var err *textError
	if m.key, err = r.string(); err != nil {
		return err
	}
	r.space()
	if !r.eat(':') {
		return r.unexpected("`:`")
	}
	if err := r.value(&m.val); err != nil {
		return err
	}
	n.members = append(n.members, m)
	return nil
}

// uniqueMembers refuses a name that occurs twice: readers of JSON disagree on which one counts.
func uniqueMembers(ms []member) *textError {
	const few = 12
	if len(ms) <= few {
		for i := range ms {
			for j := range i {
				if ms[i].key == ms[j].key {
					return twice(ms[i])
				}
			}
		}
		return nil
	}
	seen := make(map[string]struct{}, len(ms))
	for i := range ms {
		if _, ok := seen[ms[i].key]; ok {
			return twice(ms[i])
		}
		seen[ms[i].key] = struct{}{}
	}
	return nil
}

func twice(m member) *textError {
	return &textError{off: m.off, detail: fmt.Sprintf("the member %s occurs twice", strconv.Quote(shorten(m.key)))}
}

func (r *reader) eat(c byte) bool {
	if r.pos < len(r.s) && r.s[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) digits() bool {
	start := r.pos
	for r.pos < len(r.s) && r.s[r.pos] >= '0' && r.s[r.pos] <= '9' {
		r.pos++
	}
	return r.pos > start
}

func (r *reader) number() *textError {
	start := r.pos
	r.eat('-')
	if !r.eat('0') && !r.digits() {
		return r.unexpected("a digit")
	}
	if r.pos < len(r.s) && r.s[r.pos] >= '0' && r.s[r.pos] <= '9' {
		return r.fail(start, "a number does not start with 0")
	}
	if r.eat('.') && !r.digits() {
		return r.unexpected("a digit")
	}
	if r.eat('e') || r.eat('E') {
		if !r.eat('+') {
			r.eat('-')
		}
		if !r.digits() {
			return r.unexpected("a digit")
		}
	}
	return nil
}
