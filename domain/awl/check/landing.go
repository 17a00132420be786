package check

// landKind is where a route leads.
type landKind int

const (
	toNowhere landKind = iota + 1
	toStep
	toOutcome
	toClause
)

// landing is a route's target. code is the finding about it, if it is mistaken; node and outcome may be set even then, as
// what was meant.
type landing struct {
	kind    landKind
	node    *node
	outcome *outcome
	code    string
	pairs   []string
}

// land finds what a route leads to that stands in a block of step n.
func (n *node) land(name string, nest nesting) landing {
	switch nest {
	case inLoop:
		return landing{kind: toNowhere, code: "AWL5005"}
	case inFork:
		return landing{kind: toNowhere, code: "AWL5021"}
	case inStep, inHandler:
	}
	f := n.flow
	if f.isGroup() {
		return f.landInGroup(name)
	}
	if o := f.outcomes[name]; o != nil {
		l := landing{kind: toOutcome, outcome: o}
		if n.region != nil {
			l.leaves(name, n.region)
		}
		return l
	}
	if to := f.byName[name]; to != nil {
		return n.landOnStep(to)
	}
	return landing{kind: toNowhere, code: "AWL2012", pairs: []string{"name", name}}
}

func (f *flow) landInGroup(name string) landing {
	isPlain := f.nest == inStep || f.nest == inHandler
	if isPlain && hasClause(f.around.step, name) {
		return landing{kind: toClause}
	}
	if to := f.byName[name]; to != nil {
		return landing{kind: toStep, node: to}
	}
	l := landing{kind: toNowhere, code: "AWL2012", pairs: []string{"name", name}}
	if !f.exists(name) {
		return l
	}
	switch f.nest {
	case inLoop:
		l.code, l.pairs = "AWL5005", nil
	case inFork:
		l.code, l.pairs = "AWL5021", nil
	case inStep, inHandler:
		l.code, l.pairs = "AWL4014", []string{"name", name, "parent", f.around.step.Name.Name}
	}
	return l
}

// landOnStep judges a route between steps of one flow by the regions they belong to. A collect is reached from its own
// region only.
func (n *node) landOnStep(to *node) landing {
	l := landing{kind: toStep, node: to}
	name := to.step.Name.Name
	switch {
	case to.closes != nil && to.closes == n.region:
	case n.region != nil && !n.region.holds(to):
		l.leaves(name, n.region)
	case to.closes != nil:
		l.enters(name, to.closes)
	case to.region != n.region:
		l.enters(name, to.region.outermost(n.region))
	}
	return l
}

func (l *landing) leaves(name string, r *region) {
	l.code = "AWL5013"
	l.pairs = []string{"name", name, "opener", r.opener.step.Name.Name, "collect", r.collect.step.Name.Name}
}

func (l *landing) enters(name string, r *region) {
	l.code = "AWL5014"
	l.pairs = []string{"name", name, "opener", r.opener.step.Name.Name}
}
