package run

import "sort"

// ordered keeps things under rising ids: adding is at the end, finding by halving, and removing is amortised constant,
// because a fork opens and closes thousands at a time.
type ordered[T any] struct {
	slots []slot[T]
	dead  int
}

type slot[T any] struct {
	id   int64
	dead bool
	item T
}

// add takes an id above all that were added before.
func (o *ordered[T]) add(id int64, item T) *T {
	o.slots = append(o.slots, slot[T]{id: id, item: item})
	return &o.slots[len(o.slots)-1].item
}

// find points to a living item until the next add or remove; nil when there is none.
func (o *ordered[T]) find(id int64) *T {
	i := sort.Search(len(o.slots), func(i int) bool { return o.slots[i].id >= id })
	if i == len(o.slots) || o.slots[i].id != id || o.slots[i].dead {
		return nil
	}
	return &o.slots[i].item
}

func (o *ordered[T]) remove(id int64) (T, bool) {
	var none T
	i := sort.Search(len(o.slots), func(i int) bool { return o.slots[i].id >= id })
	if i == len(o.slots) || o.slots[i].id != id || o.slots[i].dead {
		return none, false
	}
	item := o.slots[i].item
	o.slots[i] = slot[T]{id: id, dead: true}
	o.dead++
	if o.dead == len(o.slots) {
		*o = ordered[T]{}
	} else if o.dead > 16 && o.dead*2 > len(o.slots) {
		o.compact()
	}
	return item, true
}

func (o *ordered[T]) compact() {
	kept := make([]slot[T], 0, len(o.slots)-o.dead)
	for _, s := range o.slots {
		if !s.dead {
			kept = append(kept, s)
		}
	}
	o.slots, o.dead = kept, 0
}

func (o *ordered[T]) len() int { return len(o.slots) - o.dead }

// each visits the living items by id until visit says stop.
func (o *ordered[T]) each(visit func(*T) bool) {
	for i := range o.slots {
		if !o.slots[i].dead && !visit(&o.slots[i].item) {
			return
		}
	}
}

// list copies the living items, by id.
func (o *ordered[T]) list() []T {
	if o.len() == 0 {
		return nil
	}
	out := make([]T, 0, o.len())
	o.each(func(t *T) bool { out = append(out, *t); return true })
	return out
}
