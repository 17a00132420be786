package syntax

import "aion/domain/awl/diag"

// Trivia is what the printer must give back around a node: whole-line comments and the blank line before it, and the
// comment behind its code. The checker ignores it.
type Trivia struct {
	BlankBefore bool      // the author left at least one blank line before the node (and before its Leading comments)
	Leading     []Comment // whole-line comments above the node, in order
	BlankAfter  bool      // the author left a blank line between the last of them and the node
	Trailing    string    // text of a comment after the code on the node's last own line, without the marker
}

// Comment is one whole-line comment; BlankBefore says that a blank line stood before it.
type Comment struct {
	Text        string // without marker and one following space
	BlankBefore bool
}

// Ident is a name where it stands. The parser accepts any word here and the checker judges its shape (AWL2001, AWL2002).
type Ident struct {
	Name string
	Span diag.Span
}

// Document is one parsed file: a workflow, or a worker contract. Header is nil in a worker document, and Workers then
// has exactly the one block that opens it; a document without either has an empty Header. Each slice keeps the written order of its kind.
type Document struct {
	Leading    []Comment // comments above the narration
	BlankAfter bool      // the author left a blank line between them and the narration
	Narration  []string  // text of the `//!` lines
	Header     *Header
	Consts     []*Const
	Types      []*TypeDecl
	Commands   []*Command
	Workers    []*Worker
	Children   []*Child
	Subflows   []*Subflow
	Steps      []*Step
	Trailing   []Comment // comments after the last declaration
	// Order lists the top-level declarations as they were written (after the header, or after the worker block).
	Order []Decl
	End   diag.Pos
}

// Decl is a top-level declaration.
type Decl interface{ decl() }

func (*Const) decl()    {}
func (*TypeDecl) decl() {}
func (*Command) decl()  {}
func (*Worker) decl()   {}
func (*Child) decl()    {}
func (*Subflow) decl()  {}
func (*Step) decl()     {}

// Header is `workflow NAME` and its items.
type Header struct {
	Trivia
	Keyword       diag.Span
	Name          Ident
	Timeout       *Duration // nil when not declared
	TimeoutTrivia Trivia
	Inputs        []*Input
	Signals       []*Signal
	Outcomes      []*OutcomeDecl
	Trailing      []Comment // comments after the last item
}

// Input is `input NAME: TYPE`.
type Input struct {
	Trivia
	Doc  []string
	Name Ident
	Type *TypeRef // nil when missing (already reported)
}

// Signal is `signal NAME: TYPE`.
type Signal struct {
	Trivia
	Doc  []string
	Name Ident
	Type *TypeRef
}

// OutcomeDecl is `outcome NAME: type TYPE, route success|failure` of a header.
type OutcomeDecl struct {
	Trivia
	Doc     []string
	Name    Ident
	Type    *TypeRef
	Failure bool // `route failure`
}

// Duration is a literal, or the name of a const that holds one.
type Duration struct {
	Text string // the literal as written; empty when Name is set
	MS   int64  // of a literal
	Name *Ident
	Span diag.Span
}

// Const is `const NAME = EXPR`. A duration literal is a DurationLit.
type Const struct {
	Trivia
	Doc   []string
	Name  Ident
	Value Expr // nil when missing
}

// TypeDecl is one of three forms: exactly one of Record, Enum, Schema is set (none when the body was not understood).
type TypeDecl struct {
	Trivia
	Doc      []string
	Name     Ident
	IsRecord bool
	Fields   []*Field
	Trailing []Comment // comments before the closing brace
	IsEnum   bool
	Variants []Ident
	Schema   *SchemaSource
}

// Field is one record field.
type Field struct {
	Trivia
	Doc  []string
	Name Ident
	Type *TypeRef
}

// SchemaSource is `schema { … }` (Body) or `schema("path")` (Path).
type SchemaSource struct {
	Keyword  diag.Span
	Inline   bool
	Body     string   // verbatim from `{` to `}`, CRLF read as LF
	BodyPos  diag.Pos // of the `{`
	Path     string
	PathSpan diag.Span // of the string token
}

// TypeRef is a written type. Exactly one of Name, Elem is set.
type TypeRef struct {
	Name     Ident    // TYPENAME; Name.Name is empty for a list
	Elem     *TypeRef // of `[T]` and `List<T>`
	Optional bool     // `?` follows
	Span     diag.Span
}

// Command is a recipe.
type Command struct {
	Trivia
	Doc        []string
	Name       Ident
	Params     []*CommandParam
	Directives []*Directive
	Lines      []*CommandLine
	Trailing   []Comment
}

// CommandParam is one parameter: Kind is "one", "list" (`*`) or "list1" (`+`).
type CommandParam struct {
	Name    Ident
	Kind    string
	Default *StringLit // nil: none
}

// Directive is `cwd "…"` (Name.Name is "cwd") or `export NAME = "…"`.
type Directive struct {
	Trivia
	Export bool
	Name   Ident // the exported variable
	Value  *StringLit
	Span   diag.Span
}

// CommandLine is the raw text of one line; Pos is the place of its first character.
type CommandLine struct {
	Trivia
	Text string
	Pos  diag.Pos
	Span diag.Span
}

// Worker is a worker block.
type Worker struct {
	Trivia
	Doc      []string
	Name     Ident
	Actions  []*Action
	Trailing []Comment
}

// Action is one declared action.
type Action struct {
	Trivia
	Doc      []string
	Name     Ident
	Params   []*Param
	Result   *TypeRef // nil when missing
	Settings *Settings
	Body     *Body // nil: a requirement on a worker
	Trailing []Comment
}

// Param is `LABEL: TYPE`.
type Param struct {
	Trivia // only Leading is used; the printer moves it above the declaration
	Name   Ident
	Type   *TypeRef
}

// Settings are the config lines of an action or a call.
type Settings struct {
	Trivia
	Node    *NodeSetting
	Timeout *TimeoutSetting
	Retry   *RetrySetting
	First   diag.Span // of the first setting's keyword
}

// NodeSetting is `node NAME`.
type NodeSetting struct {
	Keyword diag.Span
	Name    Ident
}

// TimeoutSetting is `timeout D`.
type TimeoutSetting struct {
	Keyword diag.Span
	Value   *Duration
}

// RetrySetting is `retry N every D` (Every set) or `retry N backoff A..B` (Min and Max set).
type RetrySetting struct {
	Keyword   diag.Span
	Count     int64
	CountSpan diag.Span
	Every     *Duration
	Min, Max  *Duration
}

// Body is `run "…"` (Run set) or `runs command NAME` (Command set). Capture is empty when not written.
type Body struct {
	Trivia
	Keyword     diag.Span
	Run         *StringLit
	Command     *Ident
	Capture     string
	CaptureSpan diag.Span
}

// Child is `child NAME(params) -> TYPE`.
type Child struct {
	Trivia
	Doc    []string
	Name   Ident
	Params []*Param
	Result *TypeRef
}

// Subflow is a flow with parameters and one outcome.
type Subflow struct {
	Trivia
	Doc      []string
	Name     Ident
	Params   []*Param
	Outcome  *SubflowOutcome // nil when missing
	Steps    []*Step
	Trailing []Comment
}

// SubflowOutcome is `outcome NAME: type TYPE`.
type SubflowOutcome struct {
	Trivia
	Name Ident
	Type *TypeRef
}

// Step is a step of a flow, or a substep in a statement list. Clauses, Handler and Visits are printed after the body.
type Step struct {
	Trivia
	Doc      []string
	Name     Ident
	After    []Ident
	Body     []Stmt
	Handler  *Handler
	Clauses  []*Clause
	Visits   *Visits
	Trailing []Comment
	Broken   bool // a 0xxx or 1xxx error stands inside: the checker does not analyse it
	Keyword  diag.Span
}

// Handler is `on failure`.
type Handler struct {
	Trivia
	Keyword  diag.Span // `on`
	Body     []Stmt
	Trailing []Comment
}

// Visits is `max EXPR visits`.
type Visits struct {
	Trivia
	Keyword diag.Span // `max`
	Max     Expr
}

// Clause is `outcome NAME: when EXPR, route TARGET`; Guard is nil for `otherwise`.
type Clause struct {
	Trivia
	Name      Ident
	Guard     Expr
	GuardSpan diag.Span // of the guard's keyword
	Target    *Target
}

// Target is what a route leads to. Named arguments (Args, HasArgs) or one value (Value) or neither.
type Target struct {
	Name    Ident
	HasArgs bool // parentheses with named arguments, possibly none
	Args    []*Arg
	Value   Expr
	Span    diag.Span
}

// Arg is `LABEL: EXPR`.
type Arg struct {
	Trivia // only Leading is used
	Name   Ident
	Value  Expr
}

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

// Expr is an expression.
type Expr interface {
	expr()
	// Range is the expression from its first token to its last.
	Range() diag.Span
}

// X is the part that all expressions share.
type X struct{ Span diag.Span }

// Range implements Expr.
func (x *X) Range() diag.Span { return x.Span }

// StringLit is `"…"` or `"""…"""` (Raw). Value is the decoded text.
type StringLit struct {
	X
	Value string
	Raw   bool
	// Offsets maps byte i of Value to its place in the document, so that findings inside a text can be placed.
	// It has len(Value)+1 entries.
	Offsets []diag.Pos
}

// IntLit is an integer with its sign.
type IntLit struct {
	X
	Value int64
}

// FloatLit keeps its spelling.
type FloatLit struct {
	X
	Text string
}

// BoolLit is true or false.
type BoolLit struct {
	X
	Value bool
}

// DurationLit stands only as the value of a const; elsewhere the checker refuses it (AWL3018).
type DurationLit struct {
	X
	Text string
	MS   int64
}

// ListLit is `[a, b]`.
type ListLit struct {
	X
	Elems []Expr
}

// JSONLit is `json { … }`: the body verbatim, from `{` to `}`.
type JSONLit struct {
	X
	Body    string
	BodyPos diag.Pos
}

// SchemaOf is `schema of TYPENAME`.
type SchemaOf struct {
	X
	Type Ident
}

// Name is a reference to a binding, input, parameter or const.
type Name struct {
	X
	Name string
}

// VisitsRef is `visits`.
type VisitsRef struct{ X }

// WorkflowID is `workflow.id`. Bad is set for `workflow` alone or another field (already reported by nobody: AWL2022 is the checker's).
type WorkflowID struct {
	X
	Field *Ident // the accessor; nil for `workflow` alone
}

// Construct is `TYPENAME(args)`, or a bare TYPENAME (a variant) when HasArgs is false.
type Construct struct {
	X
	Name    Ident
	HasArgs bool
	Args    []*Arg
}

// ItemField is a leading accessor: a field of the enclosing combinator's item.
type ItemField struct {
	X
	Name Ident // without the dot; its span starts at the dot
}

// Access is `e.field`.
type Access struct {
	X
	Of   Expr
	Name Ident // its span starts at the dot
}

// Index is `e[0]`.
type Index struct {
	X
	Of        Expr
	Value     int64
	IndexSpan diag.Span
}

// Combine is `e |> combinator`.
type Combine struct {
	X
	Of   Expr
	Comb *Combinator
}

// Paren keeps the author's parentheses.
type Paren struct {
	X
	Of Expr
}

// Not is `not e`.
type Not struct {
	X
	Of Expr
}

// Binary is `and or == != < <= > >= +`.
type Binary struct {
	X
	Op     string
	OpSpan diag.Span
	L, R   Expr
}

// Is is `e is empty|present|absent`; Of is nil when the subject is the item.
type Is struct {
	X
	Of   Expr
	Word string
	// IsSpan is the place of `is`.
	IsSpan diag.Span
}

// BadExpr stands where an expression was not understood (already reported). Text is how it is printed: `null` for the
// value that does not exist (AWL3011), else empty.
type BadExpr struct {
	X
	Text string
}

func (*StringLit) expr()   {}
func (*IntLit) expr()      {}
func (*FloatLit) expr()    {}
func (*BoolLit) expr()     {}
func (*DurationLit) expr() {}
func (*ListLit) expr()     {}
func (*JSONLit) expr()     {}
func (*SchemaOf) expr()    {}
func (*Name) expr()        {}
func (*VisitsRef) expr()   {}
func (*WorkflowID) expr()  {}
func (*Construct) expr()   {}
func (*ItemField) expr()   {}
func (*Access) expr()      {}
func (*Index) expr()       {}
func (*Combine) expr()     {}
func (*Paren) expr()       {}
func (*Not) expr()         {}
func (*Binary) expr()      {}
func (*Is) expr()          {}
func (*BadExpr) expr()     {}
