package syntax

import "aion/domain/awl/diag"

// Stmt is a statement.
type Stmt interface {
	stmt()
	// Range is the statement from its first token to its last.
	Range() diag.Span
}

// Node is the part that all statements share.
type Node struct {
	Trivia
	Span diag.Span
}

// Range implements Stmt.
func (n *Node) Range() diag.Span { return n.Span }

// Call is `NAME(args) [-> NAME]` with optional settings.
type Call struct {
	Node
	Name     Ident
	Args     []*Arg
	Bind     *Ident
	Settings *Settings
}

// Spawn is `spawn NAME(args)`.
type Spawn struct {
	Node
	Name Ident
	Args []*Arg
}

// Pipe is `EXPR |> stage … -> NAME` or `… |> route TARGET`.
type Pipe struct {
	Node
	Head   Expr
	Stages []*Stage
	Bind   *Ident
	Route  *Target
}

// Stage is one stage of a pipe: exactly one of Name (an action or child), Path (accessors) and Comb is set.
type Stage struct {
	Name *Ident
	Path []Ident
	Comb *Combinator
	Span diag.Span
}

// Combinator is `filter(p)`, `map(e)`, `sort(k)`, `sort`, `count`, `any(p)`, `all(p)`. Arg is nil when there is none.
type Combinator struct {
	Name Ident
	Arg  Expr
	Span diag.Span
}

// Wait is `wait SIGNAL [timeout D] -> NAME`.
type Wait struct {
	Node
	Signal  Ident
	Timeout *Duration
	Bind    *Ident
}

// Sleep is `sleep D`.
type Sleep struct {
	Node
	Duration *Duration
}

// Route is `route TARGET`.
type Route struct {
	Node
	Target *Target
}

// Fork is `fork x in xs [sequential]` (Item set) or `fork` with one branch per statement.
type Fork struct {
	Node
	Item         *Ident
	Over         Expr
	Sequential   bool
	Body         []Stmt
	BodyTrailing []Comment
	Join         diag.Span // `join`
	JoinTrivia   Trivia
	Bind         *Ident
}

// Loop is `loop x = seed [counting n]`.
type Loop struct {
	Node
	Name         Ident
	Seed         Expr
	Counter      *Ident
	Body         []Stmt
	BodyTrailing []Comment
	Until        Expr // nil when missing
	UntilTrivia  Trivia
	Max          Expr // nil when missing
	MaxTrivia    Trivia
}

// Region is `distribute x in xs` or `sequence x in xs`.
type Region struct {
	Node
	Verb string
	Item Ident
	Over Expr
}

// Collect is `collect v[?] -> vs`.
type Collect struct {
	Node
	Name     Ident
	Tolerant bool
	Bind     *Ident
}

// Substep is a step inside a statement list.
type Substep struct {
	Node // Trivia is the step's own
	Step *Step
}

func (*Call) stmt()    {}
func (*Spawn) stmt()   {}
func (*Pipe) stmt()    {}
func (*Wait) stmt()    {}
func (*Sleep) stmt()   {}
func (*Route) stmt()   {}
func (*Fork) stmt()    {}
func (*Loop) stmt()    {}
func (*Region) stmt()  {}
func (*Collect) stmt() {}
func (*Substep) stmt() {}
