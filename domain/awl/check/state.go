package check

// state says what a way through a flow does, from some point on: the names that are certain to be bound after it, those
// that may be, and what becomes of the facts that held before. A fact that held still holds unless it is in lost; those in
// proved hold in any case. A state is not changed once it has been handed out.
type state struct {
	sure, maybe  bits // names
	lost, proved bits // facts
}

func (s *state) clone() *state {
	return &state{s.sure.clone(), s.maybe.clone(), s.lost.clone(), s.proved.clone()}
}

// then gives what going s and after it t does.
func (s *state) then(t *state) *state {
	return &state{
		sure:   s.sure.union(t.sure),
		maybe:  s.maybe.union(t.maybe),
		lost:   s.lost.union(t.lost),
		proved: s.proved.minus(t.lost).union(t.proved),
	}
}

// or gives what is certain when one of two ways was gone. Either may be nil: a way that does not exist.
func (s *state) or(t *state) *state {
	if s == nil {
		return t
	}
	if t == nil || s == t {
		return s
	}
	return &state{
		sure:   s.sure.intersect(t.sure),
		maybe:  s.maybe.union(t.maybe),
		lost:   s.lost.minus(s.proved).union(t.lost.minus(t.proved)),
		proved: s.proved.intersect(t.proved),
	}
}

// and gives what is certain when both ways were gone side by side.
func (s *state) and(t *state) *state {
	if s == nil {
		return t
	}
	if t == nil {
		return s
	}
	return &state{
		sure:   s.sure.union(t.sure),
		maybe:  s.maybe.union(t.maybe),
		lost:   s.lost.union(t.lost),
		proved: s.proved.union(t.proved),
	}
}

func (s *state) equal(t *state) bool {
	return s == t || s != nil && t != nil && s.sure.equal(t.sure) && s.maybe.equal(t.maybe) &&
		s.lost.equal(t.lost) && s.proved.equal(t.proved)
}

// universe numbers the names that the steps of a flow bind, at any depth, and the facts that their clauses prove.
type universe struct {
	names   map[string]int
	facts   map[string]int
	factsOf map[string][]int // by the name at the root of their path
}

func newUniverse() *universe {
	return &universe{names: map[string]int{}, facts: map[string]int{}, factsOf: map[string][]int{}}
}

func (u *universe) addName(name string) {
	if _, ok := u.names[name]; !ok && name != "" {
		u.names[name] = len(u.names)
	}
}

func (u *universe) addFact(path string) {
	if _, ok := u.facts[path]; ok {
		return
	}
	u.facts[path] = len(u.facts)
	u.factsOf[rootOf(path)] = append(u.factsOf[rootOf(path)], u.facts[path])
}

// bind changes s by the binding of a name, which drops the facts about it.
func (u *universe) bind(s *state, name string) {
	i, ok := u.names[name]
	if !ok {
		return
	}
	s.sure.set(i)
	s.maybe.set(i)
	for _, f := range u.factsOf[name] {
		s.lost.set(f)
		s.proved.unset(f)
	}
}

// prove changes s by facts that hold from here on.
func (u *universe) prove(s *state, paths []string) {
	for _, p := range paths {
		if f, ok := u.facts[p]; ok {
			s.proved.set(f)
		}
	}
}
