package value

import "sort"

// Value is one run-time value: a closed set. A value is never changed after it was made.
//
//sumtype:decl
type Value interface{ value() }

// The kinds of values. A whole number within 64 bits is always an Int, however it was written (`1.0`, `1e2`), so a Float is
// a fraction or a number outside of that range.
type (
	// Null is the result of an action or an outcome of type Nil.
	Null struct{}
	// Absent is an optional that is not there: a record leaves the member out; a list writes it as null.
	Absent struct{}
	// Bool is true or false.
	Bool bool
	// Int is a whole number within 64 bits.
	Int int64
	// Float is any other number; never NaN or infinite.
	Float float64
	// String is text: a String, a Dir or a variant of an enum.
	String string
	// List is an array.
	List []Value
	// Object is a record.
	Object struct{ members []Member }
)

// Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

func (Null) value()   {}
func (Absent) value() {}
func (Bool) value()   {}
func (Int) value()    {}
func (Float) value()  {}
func (String) value() {}
func (List) value()   {}
func (Object) value() {}

// NewObject makes a record. It sorts members by name and takes ownership of the slice; absent members are left out, and the
// last of two members with one name stays.
func NewObject(members []Member) Object {
	sort.SliceStable(members, func(i, j int) bool { return members[i].Name < members[j].Name })
	kept := members[:0]
	for i, m := range members {
		if i+1 < len(members) && members[i+1].Name == m.Name {
			continue
		}
		if _, absent := m.Value.(Absent); !absent {
			kept = append(kept, m)
		}
	}
	return Object{members: kept}
}

// Get gives a member; Absent when there is none.
func (o Object) Get(name string) Value {
	i := sort.Search(len(o.members), func(i int) bool { return o.members[i].Name >= name })
	if i < len(o.members) && o.members[i].Name == name {
		return o.members[i].Value
	}
	return Absent{}
}

// Members gives the members in order of their names. The caller must not change the slice.
func (o Object) Members() []Member { return o.members }

// Present reports whether a value is there at all.
func Present(v Value) bool {
	_, absent := v.(Absent)
	return !absent
}

// Kind names the kind of a value for messages.
func Kind(v Value) string {
	switch v.(type) {
	case Null:
		return "null"
	case Absent:
		return "an absent value"
	case Bool:
		return "a boolean"
	case Int, Float:
		return "a number"
	case String:
		return "a string"
	case List:
		return "a list"
	case Object:
		return "a record"
	}
	return "nothing"
}
