package actions

import (
	"slices"

	"aion/application/engine"
	"aion/domain"
)

// waitingTasks bounds the tasks that wait in memory, about 300 bytes each. More of them wait in the store.
const waitingTasks = 8192

// waiting is a task that waits for a slot. A parked one goes on under an attempt that history knows as started.
type waiting struct {
	engine.Queued
	parked bool
}

// lanes hold the waiting tasks: first in, first out inside a task queue, rotation over the queues of a namespace, and
// rotation over namespaces. Every attempt costs one slot, so deficit round robin with equal shares is plain rotation.
type lanes struct {
	count int
	known map[domain.AttemptKey]struct{}
	rings []*ring // namespaces with waiting tasks; the first one's turn is next
}

// ring is one namespace.
type ring struct {
	namespace domain.Namespace
	queues    []*line // task queues with waiting tasks; the first one's turn is next
}

type line struct {
	name  string
	tasks []waiting
}

func newLanes() lanes { return lanes{known: map[domain.AttemptKey]struct{}{}} }

// add lets a task wait; a known one is not added again. false: there is no room.
func (l *lanes) add(q waiting) bool {
	if _, ok := l.known[q.Key]; ok {
		return true
	}
	if l.count >= waitingTasks {
		return false
	}
	l.known[q.Key] = struct{}{}
	l.count++
	i := slices.IndexFunc(l.rings, func(r *ring) bool { return r.namespace == q.Namespace })
	if i < 0 {
		i = len(l.rings)
		l.rings = append(l.rings, &ring{namespace: q.Namespace})
	}
	r := l.rings[i]
	j := slices.IndexFunc(r.queues, func(n *line) bool { return n.name == q.TaskQueue })
	if j < 0 {
		j = len(r.queues)
		r.queues = append(r.queues, &line{name: q.TaskQueue})
	}
	r.queues[j].tasks = append(r.queues[j].tasks, q)
	return true
}

// take gives the task whose turn it is among the namespaces that may have a slot, and moves its namespace and its queue
// behind the others.
func (l *lanes) take(may func(domain.Namespace) bool) (waiting, bool) {
	for i, r := range l.rings {
		if !may(r.namespace) {
			continue
		}
		n := r.queues[0]
		q := n.tasks[0]
		n.tasks[0] = waiting{}
		n.tasks = n.tasks[1:]
		r.queues = append(r.queues[:0:0], r.queues[1:]...)
		if len(n.tasks) > 0 {
			r.queues = append(r.queues, n)
		}
		l.rings = slices.Delete(l.rings, i, i+1)
		if len(r.queues) > 0 {
			l.rings = append(l.rings, r)
		}
		delete(l.known, q.Key)
		l.count--
		return q, true
	}
	return waiting{}, false
}
