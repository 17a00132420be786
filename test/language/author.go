package language

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// author writes one random document. It keeps track of types and names, so that what it writes is well typed by
// construction.
type author struct {
	t      *rapid.T
	names  int
	budget int // statements that may still be written
	size   int // how often the statement at hand may run

	types    []*typ
	enums    []*typ
	records  []*typ
	consts   []variable
	duration []string // names of duration consts
	inputs   []variable
	signals  []signal
	outcomes []outcome
	actions  []operation
	children []operation
	subflows []operation

	out strings.Builder
}

// signal is a declared signal. One that may stay silent is waited for with a timeout only.
type signal struct {
	name   string
	t      *typ
	silent bool
}

type outcome struct {
	name    string
	t       *typ
	failure bool
}

// operation is an action, a child or a subflow.
type operation struct {
	name   string
	params []field
	result *typ
}

// The bounds of a document: statements, and how often one of them may run.
const (
	maxStatements = 40
	maxSize       = 30
	perBlock      = 3 // passes of a loop, items of a list
)

// Document writes a random well-typed workflow document. The name of a signal says whether the world may leave it silent.
func Document(t *rapid.T) string {
	a := &author{t: t, budget: maxStatements, size: 1}
	a.declareTypes()
	a.declareConsts()
	a.declareOperations()
	header := a.header()
	var subflows strings.Builder
	for range a.n("subflows", 0, 2) {
		subflows.WriteString(a.subflow())
	}
	steps := a.mainFlow()
	a.out.WriteString(header)
	blocks := []string{a.constsText(), a.typesText(), a.workersText(), a.childrenText(), subflows.String(), steps}
	if a.chance(20) { // the order of declarations is free
		blocks[0], blocks[4] = blocks[4], blocks[0]
		blocks[1], blocks[2] = blocks[2], blocks[1]
	}
	for _, b := range blocks {
		a.out.WriteString("\n" + b)
	}
	return a.out.String()
}

// n draws a number about evenly: rapid prefers small ones, which would leave out what is drawn by a large one. Zero stays
// zero, so that a document shrinks to a small one.
func (a *author) n(label string, low, high int) int {
	drawn := rapid.Uint32().Draw(a.t, label)
	if drawn == 0 {
		return low
	}
	return low + int(mix(uint64(drawn), label)%uint64(high-low+1))
}

// mix is FNV-1a over a number and a text, with a last round that spreads the high bits.
func mix(n uint64, text string) uint64 {
	h := uint64(14695981039346656037)
	for range 8 {
		h = (h ^ n&0xff) * 1099511628211
		n >>= 8
	}
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// chance is drawn so that a smaller draw writes less.
func (a *author) chance(percent int) bool { return a.n("chance", 1, 100) > 100-percent }

func pick[T any](a *author, list []T) T { return list[a.n("pick", 0, len(list)-1)] }

// fresh makes a name that nothing else has.
func (a *author) fresh(prefix string) string {
	a.names++
	return fmt.Sprintf("%s%d", prefix, a.names)
}

// doc is a doc line now and then.
func (a *author) doc(indent string) string {
	if !a.chance(8) {
		return ""
	}
	return indent + "/// What this is for.\n"
}

// remark is a comment line now and then.
func (a *author) remark(indent string) string {
	if !a.chance(4) {
		return ""
	}
	return indent + "// A remark.\n"
}

// trailing is a comment behind code now and then.
func (a *author) trailing() string {
	if !a.chance(4) {
		return ""
	}
	return " // A remark."
}

func (a *author) header() string {
	var b strings.Builder
	b.WriteString("//! A random document.\nworkflow random\n")
	if a.chance(20) {
		b.WriteString("  timeout " + a.durationText() + "\n")
	}
	for range a.n("inputs", 1, 4) {
		v := variable{name: a.fresh("in"), t: a.anyType(2), opt: a.chance(25)}
		a.inputs = append(a.inputs, v)
		fmt.Fprintf(&b, "%s  input %s: %s\n", a.doc("  "), v.name, a.ref(v.t, v.opt))
	}
	for range a.n("signals", 0, 2) {
		s := signal{name: a.fresh("sig"), t: a.anyType(2), silent: a.chance(40)}
		if s.silent {
			s.name = a.fresh(Silent)
		}
		a.signals = append(a.signals, s)
		fmt.Fprintf(&b, "%s  signal %s: %s\n", a.doc("  "), s.name, a.ref(s.t, false))
	}
	for i := range a.n("outcomes", 2, 4) {
		o := outcome{name: a.fresh("out"), t: a.anyType(2), failure: i > 0 && a.chance(40)}
		if a.chance(15) {
			o.t = nilType
		}
		a.outcomes = append(a.outcomes, o)
		end := "success"
		if o.failure {
			end = "failure"
		}
		fmt.Fprintf(&b, "%s  outcome %s: type %s, route %s\n", a.doc("  "), o.name, a.ref(o.t, false), end)
	}
	return b.String()
}

// durationText is a short duration, by value or by name.
func (a *author) durationText() string {
	if len(a.duration) > 0 && a.chance(40) {
		return pick(a, a.duration)
	}
	return fmt.Sprintf("%d%s", a.n("duration", 1, 90), pick(a, []string{"ms", "s", "m", "h"}))
}
