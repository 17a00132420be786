package machine

import "sort"

// table maps ascending ids to what is open under them. It is small when little is open: most runs wait for one thing. Ids
// are added in ascending order; deleting is cheap at the front and amortised elsewhere.
type table[T any] struct {
	rows []row[T]
	live int
}

type row[T any] struct {
	id   int64
	open *T // nil: deleted
}

func (t *table[T]) add(id int64, open *T) {
	t.rows = append(t.rows, row[T]{id: id, open: open})
	t.live++
}

func (t *table[T]) find(id int64) int {
	return sort.Search(len(t.rows), func(i int) bool { return t.rows[i].id >= id })
}

// get gives what is open under an id; nil: nothing.
func (t *table[T]) get(id int64) *T {
	if i := t.find(id); i < len(t.rows) && t.rows[i].id == id {
		return t.rows[i].open
	}
	return nil
}

func (t *table[T]) delete(id int64) {
	i := t.find(id)
	if i == len(t.rows) || t.rows[i].id != id || t.rows[i].open == nil {
		return
	}
	t.rows[i].open = nil
	t.live--
	switch {
	case t.live == 0:
		t.rows = nil
	case i == 0:
		for t.rows[0].open == nil {
			t.rows = t.rows[1:]
		}
	case len(t.rows) > 2*t.live+8:
		t.compact()
	}
}

func (t *table[T]) compact() {
	kept := make([]row[T], 0, t.live)
	for _, r := range t.rows {
		if r.open != nil {
			kept = append(kept, r)
		}
	}
	t.rows = kept
}

// each visits what is open in ascending order of ids.
func (t *table[T]) each(visit func(id int64, open *T)) {
	for _, r := range t.rows {
		if r.open != nil {
			visit(r.id, r.open)
		}
	}
}
