package syntax

import "aion/domain/awl/diag"

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
