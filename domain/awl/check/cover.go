package check

import (
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// question is a path whose values are few: a Bool, an enum, or whether the path is present.
type question struct {
	path   string
	isEnum bool
	values []string
	number map[string]int
	all    bits
}

// The values of the questions that are no enum.
var (
	truths    = []string{"true", "false"}
	presences = []string{"present", "absent"}
)

// answer says for which values of a question an expression is certainly true, and for which certainly false.
type answer struct{ yes, no bits }

// maxQuestions bounds how many paths are tried as the one that clauses go through.
const maxQuestions = 8

// checkCovered reports clauses that leave a case open (AWL4008, AWL4009). They cover every case when one is `otherwise`,
// or when each value of one path makes some guard true.
func (c *checker) checkCovered(n *node, r *reader) {
	for _, cl := range n.step.Clauses {
		if always(cl.Guard) {
			return
		}
	}
	var missing []string
	for _, e := range subjects(n.step.Clauses) {
		for _, q := range r.questions(e) {
			open, decides := q.open(n.step.Clauses)
			if len(open) == 0 {
				return
			}
			if decides && q.isEnum && missing == nil {
				missing = open
			}
		}
	}
	if missing != nil {
		c.found.add("AWL4009", n.step.Name.Span, "name", n.step.Name.Name, "variants", listed(missing))
		return
	}
	c.found.add("AWL4008", n.step.Name.Span, "name", n.step.Name.Name)
}

// open gives the values that make no guard true, and whether every guard is about this question alone.
func (q *question) open(clauses []*syntax.Clause) (open []string, decides bool) {
	var covered bits
	decides = true
	for _, cl := range clauses {
		a := q.judge(cl.Guard)
		covered = covered.union(a.yes)
		decides = decides && a.yes.union(a.no).equal(q.all)
	}
	for i, v := range q.values {
		if !covered.has(i) && len(open) <= maxListed {
			open = append(open, v)
		}
	}
	return open, decides
}

// questions gives what can be asked about a path. The path was read before, so its mistakes are not reported again.
func (r *reader) questions(e syntax.Expr) []*question {
	r.c.found.muted++
	narrowed, declared := r.declared(e)
	r.c.found.muted--
	var list []*question
	path := pathOf(e)
	if isOptional(declared) {
		list = append(list, r.c.shapes.newQuestion(path+"?", presences))
	}
	if narrowed.Kind == schema.Bool {
		list = append(list, r.c.shapes.newQuestion(path, truths))
	}
	if narrowed.Kind == schema.Enum {
		q := r.c.shapes.newQuestion(path, narrowed.Variants)
		q.isEnum = true
		list = append(list, q)
	}
	return list
}

func (s *shapes) newQuestion(path string, values []string) *question {
	q := &question{path: path, values: values, number: s.numbers(values)}
	q.all = make(bits, 0, len(values)/64+1)
	for i := range values {
		q.all.set(i)
	}
	return q
}

// judge answers the question for an expression, from its form.
func (q *question) judge(e syntax.Expr) answer {
	switch v := e.(type) {
	case *syntax.Paren:
		return q.judge(v.Of)
	case *syntax.Not:
		a := q.judge(v.Of)
		return answer{yes: a.no, no: a.yes}
	case *syntax.BoolLit:
		if v.Value {
			return answer{yes: q.all}
		}
		return answer{no: q.all}
	case *syntax.Is:
		if v.Of != nil && pathOf(v.Of)+"?" == q.path {
			return q.given(v.Word)
		}
	case *syntax.Binary:
		return q.judgeBinary(v)
	case *syntax.Name, *syntax.Access:
		if pathOf(e) == q.path {
			return q.given("true")
		}
	}
	return answer{}
}

// given is the answer of a test that holds for one value.
func (q *question) given(value string) answer {
	var a answer
	if i, ok := q.number[value]; ok {
		a.yes.set(i)
	}
	a.no = q.all.minus(a.yes)
	return a
}

func (q *question) judgeBinary(v *syntax.Binary) answer {
	switch v.Op {
	case "and", "or":
		first, links := spine(v)
		sum := q.judge(first)
		for _, link := range links {
			a := q.judge(link.R)
			if v.Op == "and" {
				sum = answer{yes: sum.yes.intersect(a.yes), no: sum.no.union(a.no)}
			} else {
				sum = answer{yes: sum.yes.union(a.yes), no: sum.no.intersect(a.no)}
			}
		}
		return sum
	case "==", "!=":
		subject, value := v.L, spelled(v.R)
		if value == "" {
			subject, value = v.R, spelled(v.L)
		}
		if value == "" || pathOf(subject) != q.path {
			return answer{}
		}
		a := q.given(value)
		if v.Op == "!=" {
			a.yes, a.no = a.no, a.yes
		}
		return a
	}
	return answer{}
}

// spelled is the value that a literal names; empty when the expression is none.
func spelled(e syntax.Expr) string {
	switch v := bare(e).(type) {
	case *syntax.StringLit:
		return v.Value
	case *syntax.Construct:
		if !v.HasArgs {
			return v.Name.Name
		}
	case *syntax.BoolLit:
		if v.Value {
			return "true"
		}
		return "false"
	}
	return ""
}

// subjects gives the paths that the guards of clauses are about, each once.
func subjects(clauses []*syntax.Clause) []syntax.Expr {
	s := collected{seen: map[string]bool{}}
	for _, cl := range clauses {
		s.from(cl.Guard)
	}
	return s.list
}

type collected struct {
	seen map[string]bool
	list []syntax.Expr
}

func (s *collected) from(e syntax.Expr) {
	if len(s.list) >= maxQuestions {
		return
	}
	switch v := e.(type) {
	case *syntax.Paren:
		s.from(v.Of)
	case *syntax.Not:
		s.from(v.Of)
	case *syntax.Is:
		if v.Of != nil {
			s.from(v.Of)
		}
	case *syntax.Binary:
		if v.Op == "and" || v.Op == "or" {
			first, links := spine(v)
			s.from(first)
			for _, link := range links {
				s.from(link.R)
			}
			return
		}
		s.from(v.L)
		s.from(v.R)
	case *syntax.Name, *syntax.Access:
		if path := pathOf(e); path != "" && !s.seen[path] {
			s.seen[path] = true
			s.list = append(s.list, e)
		}
	}
}

// looksExhaustive says whether clauses may cover every case, before types are known: one is `otherwise` or true, two are
// opposites, or together they name every variant of some enum.
func (c *checker) looksExhaustive(s *syntax.Step) bool {
	named := map[string]bool{}
	for _, cl := range s.Clauses {
		if always(cl.Guard) {
			return true
		}
		literals(cl.Guard, named)
	}
	for _, e := range subjects(s.Clauses) {
		path := pathOf(e)
		for _, q := range []*question{c.shapes.newQuestion(path, truths), c.shapes.newQuestion(path+"?", presences)} {
			if open, _ := q.open(s.Clauses); len(open) == 0 {
				return true
			}
		}
	}
	for value := range named {
		for _, enum := range c.variants[value] {
			if len(enum.typ.Variants) <= len(named) && allIn(enum.typ.Variants, named) {
				return true
			}
		}
	}
	return false
}

// always says whether a clause fires whenever it is asked.
func always(guard syntax.Expr) bool {
	if guard == nil {
		return true
	}
	lit, ok := bare(guard).(*syntax.BoolLit)
	return ok && lit.Value
}

func allIn(names []string, set map[string]bool) bool {
	for _, n := range names {
		if !set[n] {
			return false
		}
	}
	return true
}

// literals notes the values that a guard compares something with.
func literals(e syntax.Expr, into map[string]bool) {
	switch v := bare(e).(type) {
	case *syntax.Not:
		literals(v.Of, into)
	case *syntax.Binary:
		if v.Op == "and" || v.Op == "or" {
			first, links := spine(v)
			literals(first, into)
			for _, link := range links {
				literals(link.R, into)
			}
			return
		}
		for _, side := range []syntax.Expr{v.L, v.R} {
			if value := spelled(side); value != "" {
				into[value] = true
			}
		}
	}
}
