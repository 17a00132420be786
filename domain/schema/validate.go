package schema

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"aion/domain"
)

// MaxViolations bounds what is said about one value.
const MaxViolations = 100

// Violation is one place where a value does not fit. Pointer is a JSON pointer (RFC 6901) into the value, empty for the
// value as a whole; for a missing member it names the member. Expected and Got are short; Message says in a sentence what
// is wrong there and what would be right.
type Violation struct {
	Pointer  string
	Expected string
	Got      string
	Message  string
}

// Validate holds a JSON text against the schema and lists what does not fit, in the order of the text; nil when everything
// does. Numbers are compared exactly: an integer has 64 bits, and `1.0` is one. An object with a member twice, and a text
// that is no JSON, do not fit any schema.
func (s *Schema) Validate(text []byte) []Violation {
	n, err := parse(text, MaxValueDepth)
	if err != nil {
		return []Violation{{
			Expected: "JSON", Got: err.detail,
			Message: fmt.Sprintf("the value is not valid JSON: %s at byte %d", err.detail, err.off),
		}}
	}
	v := validator{}
	v.check(s.root, n)
	return v.found
}

// segment is one step into the value: a member, or an element.
type segment struct {
	name  string
	index int // of an element; a member has -1
}

type validator struct {
	path  []segment // to the present value
	spare bool      // it is a null that could have been left out
	found []Violation
}

// pointer is the place of the present value; pointers are only written for violations.
func (v *validator) pointer() string {
	p := ""
	for _, s := range v.path {
		if s.index >= 0 {
			p += "/" + strconv.Itoa(s.index)
			continue
		}
		p = token(p, s.name)
	}
	return p
}

func (v *validator) enter(name string, index int) { v.path = append(v.path, segment{name, index}) }

func (v *validator) leave() { v.path = v.path[:len(v.path)-1] }

func (v *validator) full() bool { return len(v.found) >= MaxViolations }

func (v *validator) add(expected, got string) {
	v.say(expected, got, ": expected "+expected+", got "+got)
}

// say reports the present value with what a sentence says of it.
func (v *validator) say(expected, got, sentence string) {
	if v.full() {
		return
	}
	p := v.pointer()
	where := domain.Quote(p, 128)
	if where == "" {
		where = "the value"
	}
	v.found = append(v.found, Violation{Pointer: p, Expected: expected, Got: got, Message: where + sentence})
}

func (v *validator) check(r *rule, n *node) {
	for ; r != nil && !v.full(); r = r.ref {
		if !v.own(r, n) {
			return
		}
	}
}

// own holds a value against what a rule asks by itself; false when the value is of another kind, so that nothing else
// about it is worth saying.
func (v *validator) own(r *rule, n *node) bool {
	switch {
	case r.never:
		v.add("nothing", got(n))
		return false
	case r.kind != 0 && r.kind != n.kind:
		v.misfit(r, n)
		return false
	case n.kind == jsonNumber && !v.numeric(r, n):
		return false
	}
	if r.options != nil && !r.allowed[canonical(n)] ||
		r.fixed != nil && *r.fixed != canonical(n) {
		v.add(r.expected(), show(n))
		return false
	}
	switch n.kind {
	case jsonObject:
		v.object(r.object, n)
	case jsonArray:
		v.array(r.array, n)
	case jsonString:
		v.text(r.str, n)
	case jsonNull, jsonBool, jsonNumber:
	}
	return true
}

func (v *validator) object(o *objectRule, n *node) {
	if o == nil {
		return
	}
	members := n.members()
	for i := range members {
		if v.full() {
			return
		}
		m := &members[i]
		r, declared := o.properties[m.key]
		switch {
		case declared:
			v.spare = m.val.kind == jsonNull && !slices.Contains(o.required, m.key)
			v.inside(r, &m.val, m.key)
			v.spare = false
		case o.others == nil:
		case o.others.never:
			v.sayAt(m.key, o.known(), got(&m.val), " is an unknown member; "+o.listing())
		default:
			v.inside(o.others, &m.val, m.key)
		}
	}
	v.missing(o, n)
	v.size(len(n.members()), o.min, o.max, "members")
}

func (v *validator) missing(o *objectRule, n *node) {
	has := func(name string) bool { return n.member(name) != nil }
	const few = 16
	if len(n.members()) > few && len(o.required) > few {
		keys := make(map[string]bool, len(n.members()))
		for i := range n.members() {
			keys[n.members()[i].key] = true
		}
		has = func(name string) bool { return keys[name] }
	}
	for _, name := range o.required {
		if has(name) {
			continue
		}
		expected := "a value"
		if r := o.properties[name]; r != nil {
			expected = r.expected()
		}
		v.sayAt(name, expected, "absent", " is missing; expected "+expected)
	}
}

// inside holds a member against a rule.
func (v *validator) inside(r *rule, n *node, name string) {
	v.enter(name, -1)
	v.check(r, n)
	v.leave()
}

// sayAt reports a member.
func (v *validator) sayAt(name, expected, got, sentence string) {
	v.enter(name, -1)
	v.say(expected, got, sentence)
	v.leave()
}

// misfit reports a value of another kind than the rule's. Two slips have an advice of their own: a value that was encoded
// twice, and a null where a member should be absent.
func (v *validator) misfit(r *rule, n *node) {
	expected, got := r.expected(), got(n)
	sentence := ": expected " + expected + ", got " + got
	if v.spare {
		sentence += "; leave the member out"
	}
	if n.kind == jsonString {
		if inner, err := parse([]byte(n.str()), MaxValueDepth); err == nil && inner.kind == r.kind {
			sentence += "; pass the " + r.kind.word() + " itself, not its JSON text"
		}
	}
	v.say(expected, got, sentence)
}

// known says what an undeclared member should have been.
func (o *objectRule) known() string {
	if len(o.names) == 0 {
		return "no members"
	}
	return "no member but " + listed(o.names)
}

// listing names the members that there are.
func (o *objectRule) listing() string {
	if len(o.names) == 0 {
		return "there are none"
	}
	return "the members are: " + listed(o.names)
}

func (v *validator) array(a *arrayRule, n *node) {
	if a == nil {
		return
	}
	elems := n.elems()
	v.size(len(elems), a.min, a.max, "elements")
	for i := range elems {
		if a.items == nil || v.full() {
			break
		}
		v.enter("", i)
		v.check(a.items, &elems[i])
		v.leave()
	}
	if a.unique {
		v.unique(elems)
	}
}

func (v *validator) unique(elems []node) {
	first := make(map[string]int, len(elems))
	for i := range elems {
		c := canonical(&elems[i])
		j, twice := first[c]
		if !twice {
			first[c] = i
			continue
		}
		v.enter("", i)
		v.add("a value of its own", fmt.Sprintf("the same as element %d", j))
		v.leave()
	}
}

func (v *validator) size(n, low, high int, what string) {
	switch {
	case n < low:
		v.add(fmt.Sprintf("at least %d %s", low, what), strconv.Itoa(n))
	case n > high:
		v.add(fmt.Sprintf("at most %d %s", high, what), strconv.Itoa(n))
	}
}

func (v *validator) text(s *stringRule, n *node) {
	if s == nil {
		return
	}
	v.size(utf8.RuneCountInString(n.str()), s.min, s.max, "characters")
	if s.pattern != nil && !s.pattern.MatchString(n.str()) {
		v.add("a string matching "+shorten(s.pattern.String()), show(n))
	}
}

// numeric holds a number against the rule; false when it is not even of the type.
func (v *validator) numeric(r *rule, n *node) bool {
	d := newDecimal(n.text)
	if r.whole {
		if _, whole, fits := d.int64(); !whole || !fits {
			expected := "integer"
			if whole {
				expected = "integer of 64 bits"
			}
			v.add(expected, show(n))
			return false
		}
	} else if r.kind == jsonNumber && !double(n.text) {
		v.add("number within the range of a double", show(n))
		return false
	}
	if b := r.number; b != nil {
		v.bound(n, b.min != nil && d.compare(*b.min) < 0, "at least "+b.minText)
		v.bound(n, b.max != nil && d.compare(*b.max) > 0, "at most "+b.maxText)
		v.bound(n, b.overMin != nil && d.compare(*b.overMin) <= 0, "more than "+b.overText)
		v.bound(n, b.belowMax != nil && d.compare(*b.belowMax) >= 0, "less than "+b.belowTxt)
		v.bound(n, b.multiple != nil && !d.multipleOf(*b.multiple), "a multiple of "+b.multipleText)
	}
	return true
}

func (v *validator) bound(n *node, broken bool, expected string) {
	if broken {
		v.add(expected, show(n))
	}
}

// got names what a value is.
func got(n *node) string { return n.kind.word() }

// show quotes a short value, and names the kind of a large one.
func show(n *node) string {
	if n.kind == jsonObject || n.kind == jsonArray {
		return got(n)
	}
	return shorten(n.text)
}
