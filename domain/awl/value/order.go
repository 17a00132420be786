package value

import (
	"cmp"
	"sort"
)

// Equal compares two values by content. An absent value equals nothing but another absent one.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case Null, Absent, Bool, Int, Float, String:
		return scalarEqual(a, b)
	case List:
		other, ok := b.(List)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !Equal(a[i], other[i]) {
				return false
			}
		}
		return true
	case Object:
		other, ok := b.(Object)
		if !ok || len(a.members) != len(other.members) {
			return false
		}
		for i, m := range a.members {
			if m.Name != other.members[i].Name || !Equal(m.Value, other.members[i].Value) {
				return false
			}
		}
		return true
	}
	return false
}

func scalarEqual(a, b Value) bool {
	switch b.(type) {
	case Null, Absent, Bool, Int, Float, String:
		return a == b
	case List, Object:
		return false
	}
	return false
}

// Compare orders two numbers or two strings (by code point): negative, zero or positive.
func Compare(a, b Value) (int, *Failure) {
	switch x := a.(type) {
	case Int:
		switch y := b.(type) {
		case Int:
			return cmp.Compare(x, y), nil
		case Float:
			return compareIntFloat(int64(x), float64(y)), nil
		default:
		}
	case Float:
		switch y := b.(type) {
		case Int:
			return -compareIntFloat(int64(y), float64(x)), nil
		case Float:
			return cmp.Compare(x, y), nil
		default:
		}
	case String:
		if y, ok := b.(String); ok {
			return cmp.Compare(x, y), nil // UTF-8 keeps the order of code points
		}
	default:
	}
	return 0, Failed(Invalid, "%s and %s have no order", Kind(a), Kind(b))
}

// Sort gives the elements in ascending order of their keys, equal keys in their old order. keys[i] belongs to list[i].
func Sort(list List, keys []Value) (List, *Failure) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	var failure *Failure
	sort.SliceStable(order, func(i, j int) bool {
		c, f := Compare(keys[order[i]], keys[order[j]])
		if f != nil {
			failure = f
		}
		return c < 0
	})
	if failure != nil {
		return nil, failure
	}
	sorted := make(List, len(list))
	for i, from := range order {
		sorted[i] = list[from]
	}
	return sorted, nil
}
