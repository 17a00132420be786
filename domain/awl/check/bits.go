package check

import "slices"

// bits is a set of small numbers. Sets of one universe may differ in length; what is missing is not in them.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bits) set(i int) {
	if i/64 >= len(*b) {
		*b = append(*b, make(bits, i/64+1-len(*b))...)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bits) unset(i int) {
	if i/64 < len(b) {
		b[i/64] &^= 1 << (i % 64)
	}
}

func (b bits) clone() bits { return slices.Clone(b) }

// union gives a new set.
func (b bits) union(o bits) bits {
	if len(b) < len(o) {
		b, o = o, b
	}
	r := b.clone()
	for i, w := range o {
		r[i] |= w
	}
	return r
}

func (b bits) intersect(o bits) bits {
	r := make(bits, min(len(b), len(o)))
	for i := range r {
		r[i] = b[i] & o[i]
	}
	return r
}

// minus gives what is in b and not in o.
func (b bits) minus(o bits) bits {
	r := b.clone()
	for i := range min(len(b), len(o)) {
		r[i] &^= o[i]
	}
	return r
}

func (b bits) equal(o bits) bool {
	if len(b) < len(o) {
		b, o = o, b
	}
	for i, w := range b {
		if i < len(o) && w != o[i] || i >= len(o) && w != 0 {
			return false
		}
	}
	return true
}
