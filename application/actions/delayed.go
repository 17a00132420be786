package actions

import (
	"container/heap"
	"time"
)

// delayed holds the tasks whose time has not come, earliest first. Beyond its bound tasks stay in the store.
type delayed struct{ tasks byTime }

func (d *delayed) add(w waiting) bool {
	if len(d.tasks) >= waitingTasks {
		return false
	}
	heap.Push(&d.tasks, w)
	return true
}

func (d *delayed) next() (time.Time, bool) {
	if len(d.tasks) == 0 {
		return time.Time{}, false
	}
	return d.tasks[0].NotBefore, true
}

func (d *delayed) due(now time.Time) []waiting {
	var due []waiting
	for len(d.tasks) > 0 && !d.tasks[0].NotBefore.After(now) {
		due = append(due, heap.Pop(&d.tasks).(waiting))
	}
	return due
}

type byTime []waiting

func (t byTime) Len() int           { return len(t) }
func (t byTime) Less(i, j int) bool { return t[i].NotBefore.Before(t[j].NotBefore) }
func (t byTime) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *byTime) Push(x any)        { *t = append(*t, x.(waiting)) }
func (t *byTime) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = waiting{}
	*t = (*t)[:len(*t)-1]
	return last
}
