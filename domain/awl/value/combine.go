package value

// Predicate decides about one item.
type Predicate func(Value) (bool, *Failure)

// Filter keeps the items for which keep holds, in order.
func Filter(list List, keep Predicate) (List, *Failure) {
	kept := make(List, 0, len(list))
	for _, item := range list {
		ok, f := keep(item)
		if f != nil {
			return nil, f
		}
		if ok {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

// Map gives what fn makes of each item, in order, and the bytes that it weighed. It stops as soon as the list is larger than
// a value may be.
func Map(list List, fn func(Value) (Value, *Failure)) (List, int, *Failure) {
	mapped := make(List, len(list))
	weight := 0
	for i, item := range list {
		v, f := fn(item)
		if f != nil {
			return nil, weight, f
		}
		n, f := Weigh(v, MaxBytes-weight)
		if f != nil {
			return nil, MaxBytes, f
		}
		weight += n
		mapped[i] = v
	}
	return mapped, weight, nil
}

// Any reports whether holds is true for an item; it stops at the first one.
func Any(list List, holds Predicate) (bool, *Failure) {
	for _, item := range list {
		if ok, f := holds(item); ok || f != nil {
			return ok, f
		}
	}
	return false, nil
}

// All reports whether holds is true for every item; it stops at the first for which it is not.
func All(list List, holds Predicate) (bool, *Failure) {
	for _, item := range list {
		if ok, f := holds(item); !ok || f != nil {
			return false, f
		}
	}
	return true, nil
}

// Concat joins one or more strings, or one or more lists, in one pass, and gives the bytes that it weighed.
func Concat(parts []Value) (joined Value, weight int, f *Failure) {
	for _, part := range parts {
		n, f := Weigh(part, MaxBytes-weight)
		if f != nil {
			return nil, MaxBytes, f
		}
		weight += n
	}
	switch parts[0].(type) {
	case String:
		joined, f = concatText(parts, weight)
	case List:
		joined, f = concatLists(parts)
	default:
		f = Failed(Invalid, "%s cannot be joined", Kind(parts[0]))
	}
	return joined, weight, f
}

func concatText(parts []Value, size int) (Value, *Failure) {
	text := make([]byte, 0, size)
	for _, part := range parts {
		s, ok := part.(String)
		if !ok {
			return nil, Failed(Invalid, "a string and %s cannot be joined", Kind(part))
		}
		text = append(text, s...)
	}
	return String(text), nil
}

func concatLists(parts []Value) (Value, *Failure) {
	n := 0
	for _, part := range parts {
		list, ok := part.(List)
		if !ok {
			return nil, Failed(Invalid, "a list and %s cannot be joined", Kind(part))
		}
		n += len(list)
	}
	joined := make(List, 0, n)
	for _, part := range parts {
		if list, ok := part.(List); ok {
			joined = append(joined, list...)
		}
	}
	return joined, nil
}

// Index gives the item at a position from 0.
func Index(list List, i int64) (Value, *Failure) {
	if i < 0 || i >= int64(len(list)) {
		return nil, Failed(OutOfRange, "index %d is out of range; the list has %d items", i, len(list))
	}
	return list[i], nil
}
