package machine

import (
	"time"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// flowKind says what a flow is the body of.
type flowKind uint8

const (
	flowWorkflow flowKind = iota + 1
	flowSubflow
	flowGroup    // substeps inside a statement list
	flowInstance // of a region
)

// flow is one execution of a list of steps, with its own visit counters and tokens.
type flow struct {
	kind    flowKind
	def     *plan.Flow
	subflow string // its name, of a subflow call
	region  string // the opener, of an instance; its steps are those of def with this region
	scope   string
	owner   *strand // waits for this flow; nil: the workflow
	index   int     // of an instance
	ended   bool
	active  []*activation // in activation order
	pending []arrival     // activations that have to wait
	visits  []visitCount
	tokens  []*tokens
	done    []completion // the last one of each step that others wait for
	left    *env         // of a group: what the ways through it bound
}

type visitCount struct {
	step *plan.Step
	n    int64
}

// tokens are those that one step holds: per name in its `after`, the environments of completions, oldest first.
type tokens struct {
	step   *plan.Step
	queues [][]*env
}

type completion struct {
	step string
	env  *env
}

// arrival asks for an activation of a step.
type arrival struct {
	step     *plan.Step
	env      *env
	routed   bool // by a route or a fall-through, not by tokens
	gathered *gathered
}

// gathered is what a region hands to its collect.
type gathered struct {
	slots   value.List
	failure *history.Failure // of a strict region
}

// phase is where an activation stands.
type phase uint8

const (
	phaseEnter   phase = iota + 1 // not entered yet
	phaseBody                     // runs its statements, then its clauses
	phaseHandler                  // runs its `on failure` block
)

// activation is one visit of one step. Its strand runs the step's statements.
type activation struct {
	strand   strand
	flow     *flow
	step     *plan.Step
	phase    phase
	visit    int64
	start    *env
	gathered *gathered
}

// strand is a thread of statements: that of an activation, or a branch of a fork in it.
type strand struct {
	ord    int64 // counted over the run, in the order of becoming active
	act    *activation
	parent *strand // whose fork this is a branch of; nil: the strand of the activation
	index  int     // of a branch
	env    *env
	scope  string
	frames []frame // the innermost last
	wait   wait
	got    *delivery // what it waited for, until it runs again
	dead   bool
}

// waitKind says what a strand waits for.
type waitKind uint8

const (
	waitNothing waitKind = iota
	waitActivity
	waitTimer
	waitSignal
	waitChild
	waitParts // branches, instances or a flow of its own
)

const noTimer = -1

// wait is what a strand waits for.
type wait struct {
	kind  waitKind
	id    int64  // of the activity, timer or child
	timer int64  // of a signal's timeout; noTimer: none
	name  string // of the signal or child
	since time.Time
	due   time.Time // of a timer; zero: none
}

// delivery is the end of a wait.
type delivery struct {
	val     value.Value
	failure *history.Failure
	cancel  int64 // the timer that has lost against it; noTimer: none
}

// frame is one level of a strand's program: a closed set.
//
//sumtype:decl
type frame interface{ frame() }

// The frames. A new statement that takes more than one turn is a new frame.
type (
	// listFrame runs statements; pc is the current one.
	listFrame struct {
		stmts []plan.Stmt
		pc    int
	}
	// pipeFrame carries a value through the stages of a pipe; next is the coming one.
	pipeFrame struct {
		stmt *plan.Stmt
		next int
		val  value.Value
	}
	// loopFrame repeats a body; base and scope are those around the loop.
	loopFrame struct {
		stmt   *plan.Stmt
		pass   int64
		max    int64
		inside bool // a pass has begun and `until` was not evaluated yet
		val    value.Value
		base   *env
		scope  string
	}
	// forkFrame waits for branches.
	forkFrame struct {
		stmt     *plan.Stmt
		items    value.List // of a collection fork
		count    int
		next     int // the branch that starts next
		open     int
		branches []*strand // nil: not started or ended
		yields   value.List
		joined   *env // of a named fork: what the ended branches bound
	}
	// regionFrame waits for instances; it stands in the strand of the opener.
	regionFrame struct {
		stmt      *plan.Stmt
		collect   *plan.Step
		items     value.List
		next      int
		open      int
		instances []*flow
		slots     value.List
		pumping   bool
	}
	// flowFrame waits for a subflow call or a group.
	flowFrame struct{ flow *flow }
)

func (*listFrame) frame()   {}
func (*pipeFrame) frame()   {}
func (*loopFrame) frame()   {}
func (*forkFrame) frame()   {}
func (*regionFrame) frame() {}
func (*flowFrame) frame()   {}

func (st *strand) top() frame {
	if len(st.frames) == 0 {
		return nil
	}
	return st.frames[len(st.frames)-1]
}

func (st *strand) push(f frame) { st.frames = append(st.frames, f) }

func (st *strand) pop() {
	st.frames[len(st.frames)-1] = nil
	st.frames = st.frames[:len(st.frames)-1]
}

// ref is a text of its own for an event, since the scope of a strand moves on.
func ref(text string) *string { return &text }

func within(scope, segment string) string {
	if scope == "" {
		return segment
	}
	return scope + "/" + segment
}

// step finds a step that belongs to the flow; nil when there is none.
func (fl *flow) step(name string) *plan.Step {
	for i := range fl.def.Steps {
		if s := &fl.def.Steps[i]; s.Name == name && s.Region == fl.region {
			return s
		}
	}
	return nil
}

// collect is the step at which an instance ends.
func (fl *flow) collect() *plan.Step { return fl.owner.region().collect }

// region is the region that the strand of an opener waits for. Nothing ever stands above it.
func (st *strand) region() *regionFrame {
	f, ok := st.top().(*regionFrame)
	if !ok {
		panic("machine: an instance without its region in step " + st.act.step.Name)
	}
	return f
}

// target finds the step that a route of this flow leads to: one of its own, or the collect of an instance.
func (fl *flow) target(name string) *plan.Step {
	if fl.kind == flowInstance {
		if c := fl.collect(); c.Name == name {
			return c
		}
	}
	return fl.step(name)
}

func (fl *flow) remove(act *activation) {
	for i, a := range fl.active {
		if a == act {
			fl.active = append(fl.active[:i], fl.active[i+1:]...)
			return
		}
	}
}

func (fl *flow) visiting(s *plan.Step) bool {
	for _, act := range fl.active {
		if act.step == s {
			return true
		}
	}
	return false
}
