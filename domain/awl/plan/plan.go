// Package plan is the compiled form of a document: what the engine stores with a deployed version and the machine
// interprets. A plan is immutable. Its encoding is versioned and deterministic: the same document gives the same bytes.
package plan

import (
	"encoding/json"

	"aion/domain/action"
)

// Format is the plan format that this program writes and reads.
const Format = 1

// Plan is one compiled workflow document.
type Plan struct {
	Format        int             `json:"plan_format"`
	WorkflowType  string          `json:"workflow_type"`
	ContentHash   string          `json:"content_hash"`
	Narration     string          `json:"narration"`
	TimeoutMS     int64           `json:"timeout_ms"`
	InputSchema   json.RawMessage `json:"input_schema"`
	OutcomeSchema json.RawMessage `json:"outcome_schema"`
	Inputs        []Port          `json:"inputs"`
	Signals       []Port          `json:"signals"`
	Outcomes      []Outcome       `json:"outcomes"`
	Types         []TypeDef       `json:"types"`
	Workers       []Worker        `json:"workers"`
	Children      []Child         `json:"children"`
	Flow          Flow            `json:"flow"`
	Subflows      []Subflow       `json:"subflows"`
	Edges         []Edge          `json:"edges"`
}

// Port is an input or a signal.
type Port struct {
	Name     string          `json:"name"`
	Schema   json.RawMessage `json:"schema"`
	Doc      string          `json:"doc"`
	Optional bool            `json:"optional,omitempty"` // an input that may be left out
}

// Outcome is one declared ending.
type Outcome struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Status string          `json:"status"` // success or failure
	Doc    string          `json:"doc"`
}

// The statuses of outcomes.
const (
	Success = "success"
	Failure = "failure"
)

// TypeDef is one reachable type.
type TypeDef struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Worker is one task queue and its actions.
type Worker struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Actions []Action `json:"actions"`
}

// Action is one declared action.
type Action struct {
	Name         string          `json:"name"`
	Doc          string          `json:"doc"`
	Params       []action.Param  `json:"params"` // declared order
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Node         string          `json:"node,omitempty"`
	TimeoutMS    int64           `json:"timeout_ms,omitempty"` // 0: no bound
	Retry        *Retry          `json:"retry,omitempty"`
	Body         *action.Body    `json:"body,omitempty"`
}

// Retry is an authored schedule: Count retries after the first attempt, EveryMS apart, or between BackoffMS[0] and [1].
type Retry struct {
	Count     int     `json:"count"`
	EveryMS   int64   `json:"every_ms,omitempty"`
	BackoffMS []int64 `json:"backoff_ms,omitempty"`
}

// Child is one declared child workflow.
type Child struct {
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Called       bool            `json:"called"`
	Spawned      bool            `json:"spawned"`
}

// Subflow is a flow with parameters. Outcome is the name a route inside it leads to when it ends.
type Subflow struct {
	Name    string   `json:"name"`
	Params  []string `json:"params"`
	Outcome string   `json:"outcome"`
	Flow    Flow     `json:"flow"`
}

// Flow is a list of steps in written order; the first one is entered first. The steps of a region stand in the list of
// the flow that holds their opener, marked by Step.Region.
type Flow struct {
	Steps []Step `json:"steps"`
	Edges []Edge `json:"edges,omitempty"` // of a subflow or a group; those of the workflow stand in the plan
}

// Step kinds.
const (
	KindPlain      = "plain"
	KindDecision   = "decision"   // clauses only
	KindDistribute = "distribute" // Body is the one opening statement
	KindSequence   = "sequence"
	KindCollect    = "collect" // Body opens with the collect statement
	KindSubflow    = "subflow" // Body is the one subflow call
	KindGroup      = "group"   // has substeps
)

// Step is one step.
type Step struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Doc         string   `json:"doc"`
	Line        int      `json:"line"`
	After       []string `json:"after,omitempty"`
	FallThrough string   `json:"fall_through,omitempty"` // the step that follows a completion without a route; empty: none
	// Region is the opener of the innermost region that this step belongs to; empty outside regions. An opener and its
	// collect belong to the enclosing region.
	Region  string   `json:"region,omitempty"`
	Collect string   `json:"collect,omitempty"` // of an opener: the step that collects it
	Body    []Stmt   `json:"body,omitempty"`
	Handler *Handler `json:"handler,omitempty"` // `on failure`
	Clauses []Clause `json:"clauses,omitempty"`
	Visits  *Expr    `json:"visits,omitempty"` // the bound of `max … visits`
}

// Handler is an `on failure` block; it ends in a route.
type Handler struct {
	Body []Stmt `json:"body"`
}

// Clause is one guarded route; Guard is nil for `otherwise`.
type Clause struct {
	Name   string `json:"name"`
	Guard  *Expr  `json:"guard,omitempty"`
	Target Target `json:"target"`
}

// Target kinds.
const (
	TargetStep    = "step"    // of the same flow (or region)
	TargetOutcome = "outcome" // of the workflow, or of the subflow that the step stands in
	TargetClause  = "clause"  // a clause of the step around a group of substeps
)

// Target is what a route leads to. Payload is nil for steps and clauses; for outcomes it is always set (a bare route is
// compiled to a reference to the binding of the outcome's name; `Nil` outcomes carry the literal null).
type Target struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Payload *Expr  `json:"payload,omitempty"`
}

// Statement operations.
const (
	OpCall       = "call"       // an action: Name, Queue, Args, Bind, Node, TimeoutMS
	OpChild      = "child"      // an awaited child: Name, Args, Bind
	OpSpawn      = "spawn"      // a detached child: Name, Args
	OpSubflow    = "subflow"    // Name, Args, Bind
	OpPipe       = "pipe"       // Value (the head), Stages, then Bind or Target
	OpWait       = "wait"       // Name (the signal), TimeoutMS (0: none), Bind
	OpSleep      = "sleep"      // DurationMS
	OpRoute      = "route"      // Target
	OpFork       = "fork"       // K; Item, Value, Sequential, Body, Yield, Bind; or Branches
	OpLoop       = "loop"       // K; Bind (the threaded name), Value (the seed), Counter, Body, Until, Max
	OpDistribute = "distribute" // Item, Value
	OpSequence   = "sequence"   // Item, Value
	OpCollect    = "collect"    // Name, Tolerant, Bind
	OpGroup      = "group"      // Flow: consecutive substeps
)

// Stmt is one statement; Op says which members are meaningful.
type Stmt struct {
	Op         string  `json:"op"`
	Line       int     `json:"line"`
	Name       string  `json:"name,omitempty"`
	Queue      string  `json:"queue,omitempty"` // task queue of an action call
	Args       []Arg   `json:"args,omitempty"`
	Bind       string  `json:"bind,omitempty"` // empty: nothing is bound
	Node       string  `json:"node,omitempty"` // of this call, after its own settings
	TimeoutMS  int64   `json:"timeout_ms,omitempty"`
	DurationMS int64   `json:"duration_ms,omitempty"`
	Value      *Expr   `json:"value,omitempty"`
	Stages     []Stage `json:"stages,omitempty"`
	Target     *Target `json:"target,omitempty"`
	K          int     `json:"k,omitempty"` // number of the fork or loop in its step, from 1 in written order
	Item       string  `json:"item,omitempty"`
	Sequential bool    `json:"sequential,omitempty"`
	Body       []Stmt  `json:"body,omitempty"`
	// Yield is the name under which a branch of a collection fork leaves its value; the compiler gives the last
	// statement of Body this binding when it has none of its own. Empty when the join binds nothing.
	Yield    string   `json:"yield,omitempty"`
	Branches [][]Stmt `json:"branches,omitempty"` // of a named fork, one statement (or group) each
	Counter  string   `json:"counter,omitempty"`
	Until    *Expr    `json:"until,omitempty"`
	Max      *Expr    `json:"max,omitempty"`
	Tolerant bool     `json:"tolerant,omitempty"`
	Flow     *Flow    `json:"flow,omitempty"`
}

// Arg is one named argument.
type Arg struct {
	Name  string `json:"name"`
	Value Expr   `json:"value"`
}

// Stage is one stage of a pipe. Op is OpCall or OpChild with the parameter that takes the value, or StageExpr with an
// expression in which ExprItem is the value.
type Stage struct {
	Op        string `json:"op"`
	Name      string `json:"name,omitempty"`
	Queue     string `json:"queue,omitempty"`
	Param     string `json:"param,omitempty"`
	Node      string `json:"node,omitempty"`
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
	Expr      *Expr  `json:"expr,omitempty"`
}

// StageExpr is the operation of a stage that selects, projects or counts.
const StageExpr = "expr"

// Expression operations. Operands stand in Args.
const (
	ExprLit        = "lit"         // Value: any JSON value; consts are folded to literals
	ExprRef        = "ref"         // Name: a binding
	ExprItem       = "item"        // the item of the innermost combinator, or the value that a stage receives
	ExprVisits     = "visits"      //
	ExprWorkflowID = "workflow_id" //
	ExprList       = "list"        // Args
	ExprRecord     = "record"      // Fields; an absent value leaves its member out
	ExprField      = "field"       // Args[0], Name; a missing member gives absent
	ExprIndex      = "index"       // Args[0], Index
	ExprNot        = "not"         //
	ExprAnd        = "and"         //
	ExprOr         = "or"          //
	ExprEq         = "eq"          //
	ExprNe         = "ne"          //
	ExprLt         = "lt"          //
	ExprLe         = "le"          //
	ExprGt         = "gt"          //
	ExprGe         = "ge"          //
	ExprAdd        = "add"         // two strings or two lists
	ExprEmpty      = "is_empty"    //
	ExprPresent    = "is_present"  //
	ExprAbsent     = "is_absent"   //
	ExprFilter     = "filter"      // Args[0] the list, Args[1] the condition on the item
	ExprMap        = "map"         //
	ExprSort       = "sort"        // Args[1] the key; without it the elements are the keys
	ExprCount      = "count"       //
	ExprAny        = "any"         //
	ExprAll        = "all"         //
)

// Expr is one node of an expression tree.
type Expr struct {
	Op     string          `json:"op"`
	Value  json.RawMessage `json:"value,omitempty"`
	Name   string          `json:"name,omitempty"`
	Index  int64           `json:"index,omitempty"`
	Args   []Expr          `json:"args,omitempty"`
	Fields []Arg           `json:"fields,omitempty"`
}

// Edge kinds.
const (
	EdgeRoute       = "route"
	EdgeAfter       = "after"
	EdgeFallThrough = "fall_through"
	EdgeFailure     = "failure"
)

// Edge is one arrow of the graph that people are shown.
type Edge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Kind   string `json:"kind"`
	Clause string `json:"clause,omitempty"`
}

// Action finds a declared action by task queue and name; nil when there is none.
func (p *Plan) Action(queue, name string) *Action {
	for i := range p.Workers {
		if p.Workers[i].Name != queue {
			continue
		}
		for j := range p.Workers[i].Actions {
			if p.Workers[i].Actions[j].Name == name {
				return &p.Workers[i].Actions[j]
			}
		}
	}
	return nil
}

// Signal finds a declared signal; nil when there is none.
func (p *Plan) Signal(name string) *Port {
	for i := range p.Signals {
		if p.Signals[i].Name == name {
			return &p.Signals[i]
		}
	}
	return nil
}

// Outcome finds a declared outcome of the workflow; nil when there is none.
func (p *Plan) Outcome(name string) *Outcome {
	for i := range p.Outcomes {
		if p.Outcomes[i].Name == name {
			return &p.Outcomes[i]
		}
	}
	return nil
}
