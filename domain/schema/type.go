// Package schema holds the structural types of AWL and their other face, the JSON Schema subset: projecting a schema to
// a type, deriving a schema from a type, and validating values with JSON pointers.
package schema

// Kind of a type.
type Kind int

// The kinds. Unknown is compatible with everything: it keeps one mistake from becoming two findings.
const (
	Unknown Kind = iota + 1
	Bool
	Int
	Float
	String
	Dir
	Nil
	List     // Elem
	Optional // Elem; nothing, or the value
	Record   // Fields
	Enum     // Variants
)

// Type is one type. Types are compared structurally; Name serves messages and $defs. A recursive type points to itself.
type Type struct {
	Kind     Kind
	Name     string // the declared name; empty for builtin and anonymous types
	Doc      string
	Elem     *Type
	Fields   []Field  // declared order
	Variants []string // declared order
	Raw      []byte   // the inline or imported schema's own JSON; nil for a type written in AWL
}

// Field is one member of a record, and one input or parameter. A member that may be missing has a Type of kind Optional.
type Field struct {
	Name string
	Doc  string
	Type *Type
}
