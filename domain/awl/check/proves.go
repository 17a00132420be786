package check

import (
	"slices"

	"aion/domain/awl/syntax"
)

// proof is what an expression proves present (awl 4.3): paths, when it is true and when it is false.
type proof struct{ ifTrue, ifFalse []string }

func (p proof) negated() proof { return proof{p.ifFalse, p.ifTrue} }

// own gives a copy that can be appended to.
func (p proof) own() proof { return proof{slices.Clone(p.ifTrue), slices.Clone(p.ifFalse)} }

// proves gives what an expression proves. It looks at its form only.
func proves(e syntax.Expr) proof {
	switch v := e.(type) {
	case *syntax.Paren:
		return proves(v.Of)
	case *syntax.Not:
		return proves(v.Of).negated()
	case *syntax.Is:
		return provesIs(v)
	case *syntax.Binary:
		switch v.Op {
		case "and":
			return provesAll(v)
		case "or":
			return provesAny(v)
		}
	}
	return proof{}
}

func provesIs(v *syntax.Is) proof {
	path := "."
	if v.Of != nil {
		path = pathOf(v.Of)
	}
	switch {
	case path == "":
		return proof{}
	case v.Word == "present":
		return proof{ifTrue: []string{path}}
	case v.Word == "absent":
		return proof{ifFalse: []string{path}}
	}
	return proof{}
}

// provesAll: true proves what each operand proves; false only what all of them do.
func provesAll(v *syntax.Binary) proof {
	first, links := spine(v)
	sum := proves(first).own()
	for _, link := range links {
		p := proves(link.R)
		sum.ifTrue = append(sum.ifTrue, p.ifTrue...)
		sum.ifFalse = both(sum.ifFalse, p.ifFalse)
	}
	return sum
}

func provesAny(v *syntax.Binary) proof {
	first, links := spine(v)
	sum := proves(first).own()
	for _, link := range links {
		p := proves(link.R)
		sum.ifTrue = both(sum.ifTrue, p.ifTrue)
		sum.ifFalse = append(sum.ifFalse, p.ifFalse...)
	}
	return sum
}

// both is what two lists have in common.
func both(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	set := make(map[string]bool, len(b))
	for _, s := range b {
		set[s] = true
	}
	var common []string
	for _, s := range a {
		if set[s] {
			common = append(common, s)
		}
	}
	return common
}
