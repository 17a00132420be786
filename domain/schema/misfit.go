package schema

import (
	"fmt"
	"slices"
)

// Misfit says where a value of one type may be none of another: `items[].size: Float where Int is expected`. It is empty
// when every value fits, and whatever is Unknown fits. A member that is not expected is a misfit, because derived schemas
// are closed. Recursive types are compared coinductively: a pair met again fits.
func Misfit(from, to *Type) string {
	m := misfits{met: map[[2]*Type]bool{}}
	return m.at("", from, to)
}

type misfits struct{ met map[[2]*Type]bool }

func (m *misfits) at(path string, from, to *Type) string {
	for to.Kind == Optional {
		to = to.Elem
		if from.Kind == Optional {
			from = from.Elem
		}
	}
	pair := [2]*Type{from, to}
	if from == to || from.Kind == Unknown || to.Kind == Unknown || m.met[pair] {
		return ""
	}
	m.met[pair] = true
	switch {
	case from.Kind == Int && to.Kind == Float, from.Kind == Enum && to.Kind == String:
		return ""
	case from.Kind != to.Kind:
		return found(path, from, to)
	case to.Kind == List:
		return m.at(path+"[]", from.Elem, to.Elem)
	case to.Kind == Record:
		return m.members(path, from, to)
	case to.Kind == Enum:
		for _, v := range from.Variants {
			if !slices.Contains(to.Variants, v) {
				return prefix(path) + fmt.Sprintf("%q is no value that is expected", v)
			}
		}
	}
	return ""
}

func (m *misfits) members(path string, from, to *Type) string {
	given := make(map[string]*Type, len(from.Fields))
	for _, f := range from.Fields {
		given[f.Name] = f.Type
	}
	for _, f := range to.Fields {
		t, ok := given[f.Name]
		delete(given, f.Name)
		switch {
		case !ok && f.Type.Kind == Optional:
		case !ok:
			return prefix(path) + "`" + f.Name + "` is missing"
		default:
			if wrong := m.at(join(path, f.Name), t, f.Type); wrong != "" {
				return wrong
			}
		}
	}
	for _, f := range from.Fields {
		if _, extra := given[f.Name]; extra {
			return prefix(path) + "`" + f.Name + "` is not expected"
		}
	}
	return ""
}

func found(path string, from, to *Type) string {
	return prefix(path) + word(from) + " where " + word(to) + " is expected"
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return "`" + path + "`: "
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// word names a type as AWL spells it; a type without a name by its kind.
func word(t *Type) string {
	if t.Name != "" {
		return t.Name
	}
	switch t.Kind {
	case Bool:
		return "Bool"
	case Int:
		return "Int"
	case Float:
		return "Float"
	case String:
		return "String"
	case Dir:
		return "Dir"
	case Nil:
		return "Nil"
	case List:
		return "[" + word(t.Elem) + "]"
	case Optional:
		return word(t.Elem) + "?"
	case Record:
		return "a record"
	case Enum:
		return "an enum"
	case Unknown:
	}
	return "any value"
}
