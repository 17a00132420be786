package check

import (
	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// nesting is the kind of block that a statement list stands in.
type nesting int

const (
	inStep nesting = iota + 1
	inHandler
	inLoop
	inFork
)

func (n nesting) String() string {
	switch n {
	case inHandler:
		return "`on failure`"
	case inLoop:
		return "a loop"
	case inFork:
		return "a fork"
	default:
		return "a substep"
	}
}

// flow is a list of steps that control moves through: the workflow, a subflow, or a group of substeps.
type flow struct {
	sub      *syntax.Subflow // nil unless it is one
	uni      *universe
	nodes    []*node
	byName   map[string]*node
	outcomes map[string]*outcome
	base     *scope    // what is known before its first step
	around   *node     // of a group: the step it stands in
	nest     nesting   // of a group: the block it stands in
	record   []siteKey // of a group: what bindings that survive the group are bindings of, besides
	loose    bool      // its graph was not understood: every name it binds counts as bound
	sites    map[string]*nameSites
	waiting  [][]*node  // the cycles of `after`
	soft     [][2]*node // ways that count for reachability only, because a mistake hides the real ones
	leave    *state     // of a group: what leaving it at its end does; nil when that never happens
	exits    []*node    // of a group: the steps that end it so
	jumps    map[string]*state
	types    map[typeKey]*schema.Type // remembered by typeInto
}

// node is a step of a flow.
type node struct {
	flow    *flow
	index   int
	step    *syntax.Step
	after   []*node // the steps it waits for; mistaken names are left out
	in      []*edge
	out     []*edge
	waited  bool // some step waits for it
	routed  bool // some route leads to it
	escapes bool // a route, other than on failure, leaves the flow or the region
	falls   bool // it falls through to the step below

	region *region // the innermost one that it belongs to
	opens  *region
	closes *region

	ends      bool   // its statements can be done without a route
	end       *state // at the end of its statements; nil when they always route
	done      *state // at any completion
	jumps     map[string]*state
	clauseAt  []*state // at the target of a clause that substeps route to; nil for the others
	stray     *state   // at a mistaken route, which may have been meant to end the group
	clauseOut []jump   // routes to clauses of the step around

	entry   *state // from the start of the flow; nil when no way is known
	reached bool
	cyclic  bool
}

// jump is a route of a substep to a clause of the step around it.
type jump struct {
	clause string
	at     *state
}

// edgeKind says how control passes.
type edgeKind int

const (
	byRoute edgeKind = iota + 1
	byFailure
	byFall
	byAfter
	byBypass // from an opener to its collect, for an empty list
)

// edge is a way from one step to another. out is what the first does before it is left.
type edge struct {
	from, to *node
	kind     edgeKind
	out      *state
	at       diag.Span // of a route's target
}

func (f *flow) connect(e *edge) {
	e.from.out = append(e.from.out, e)
	e.to.in = append(e.to.in, e)
}

// newFlow makes the nodes of a list of steps.
func newFlow(uni *universe, steps []*syntax.Step) *flow {
	f := &flow{
		uni: uni, byName: map[string]*node{}, sites: map[string]*nameSites{}, jumps: map[string]*state{},
		types: map[typeKey]*schema.Type{},
	}
	for i, s := range steps {
		n := &node{flow: f, index: i, step: s, jumps: map[string]*state{}}
		f.nodes = append(f.nodes, n)
		if _, taken := f.byName[s.Name.Name]; !taken && s.Name.Name != "" {
			f.byName[s.Name.Name] = n
		}
	}
	return f
}

// isGroup says whether the flow is a group of substeps.
func (f *flow) isGroup() bool { return f.around != nil }

// isEnd says whether a name is that of an outcome of the flow, or of a clause of the step around it.
func (f *flow) isEnd(name string) bool {
	return f.outcomes[name] != nil || f.isGroup() && hasClause(f.around.step, name)
}

// exists says whether a step, outcome or clause of the flow, or of one around it, bears the name.
func (f *flow) exists(name string) bool {
	for ; f != nil; f = f.outer() {
		if _, ok := f.byName[name]; ok || f.isEnd(name) {
			return true
		}
	}
	return false
}

func (f *flow) outer() *flow {
	if f.around == nil {
		return nil
	}
	return f.around.flow
}

func hasClause(s *syntax.Step, name string) bool {
	for _, cl := range s.Clauses {
		if cl.Name.Name == name {
			return true
		}
	}
	return false
}

// group gives the flow of consecutive substeps.
func (c *checker) group(run []*syntax.Step, around *node, nest nesting) *flow {
	if f, ok := c.groups[run[0]]; ok {
		return f
	}
	f := newFlow(around.flow.uni, run)
	f.around, f.nest, f.loose = around, nest, around.flow.loose
	c.groups[run[0]] = f
	return f
}

// substeps gives the steps of the group that starts at statement i, and the statement after it.
func substeps(list []syntax.Stmt, i int) ([]*syntax.Step, int) {
	var run []*syntax.Step
	for ; i < len(list); i++ {
		s, ok := list[i].(*syntax.Substep)
		if !ok {
			break
		}
		run = append(run, s.Step)
	}
	return run, i
}
