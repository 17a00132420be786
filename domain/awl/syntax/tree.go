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
