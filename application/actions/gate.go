package actions

import (
	"sync"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
)

// Bodies says what the server does with declared bodies.
type Bodies string

// The modes: run them, refuse them, or leave them to workers.
const (
	BodiesOn       Bodies = "on"
	BodiesOff      Bodies = "off"
	BodiesDelegate Bodies = "delegate"
)

// Serves reports whether the server takes an action itself (BodiesOff takes it in order to refuse it).
func (b Bodies) Serves(a *plan.Action) bool { return a != nil && a.Body != nil && b != BodiesDelegate }

// Limits bound the attempts that run at one time: InFlight on this server, PerNamespace of one namespace. Own gives the
// bound of a namespace that has one of its own, else 0; it must not wait. nil: none has.
type Limits struct {
	InFlight     int
	PerNamespace int
	Own          func(domain.Namespace) int
}

// Gate grants slots. An attempt holds one from before its start is recorded until its end; waiting ones get the next slot
// by rotation over namespaces, then over their task queues. It is safe for concurrent use.
type Gate struct {
	bodies Bodies
	freed  chan struct{}

	mu     sync.Mutex
	limits Limits
	held   map[domain.AttemptKey]domain.Namespace
	perNS  map[domain.Namespace]int
	lanes  lanes
	closed bool
	empty  chan struct{} // closed when nothing holds a slot and nothing will
	// What remote workers hold: by grants of this server, and of each namespace by all.
	granted int
	remote  map[domain.Namespace]int
	doubt   bool // a commit that would have started an attempt failed: it may yet have happened
}

// NewGate gives a gate with all slots free. Zero limits are 256 and 1,024.
func NewGate(bodies Bodies, l Limits) *Gate {
	g := &Gate{
		bodies: bodies, freed: make(chan struct{}, 1), empty: make(chan struct{}), held: map[domain.AttemptKey]domain.Namespace{},
		perNS: map[domain.Namespace]int{}, lanes: newLanes(),
	}
	g.Change(l)
	return g
}

// Change takes other limits over. What holds a slot keeps it, also beyond a lower limit.
func (g *Gate) Change(l Limits) {
	if l.InFlight <= 0 {
		l.InFlight = 256
	}
	if l.PerNamespace <= 0 {
		l.PerNamespace = 1024
	}
	g.mu.Lock()
	g.limits = l
	g.mu.Unlock()
	wake(g.freed)
}

// Widened tells that a namespace may have got a higher bound of its own.
func (g *Gate) Widened() { wake(g.freed) }

// Admit gives a slot to an attempt that may begin in the commit that schedules it: the server serves its action, a slot
// is free, and nobody waits who could use it.
func (g *Gate) Admit(t history.Task, declared *plan.Action) bool {
	if !g.bodies.Serves(declared) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lanes.count > 0 || !g.free(t.Namespace) {
		return false
	}
	return g.hold(t.Key, t.Namespace)
}

// Revoke gives back the slot of an attempt whose start was not recorded, as far as is known.
func (g *Gate) Revoke(key domain.AttemptKey) {
	g.doubted()
	g.release(key)
}

// doubted notes that a start may have been recorded although its commit failed.
func (g *Gate) doubted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doubt = true
}

// rest reports whether a slot is free that nobody waits for, and whether a start is in doubt.
func (g *Gate) rest() (idle, doubt bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lanes.count == 0 && len(g.held)+g.granted < g.limits.InFlight, g.doubt
}

func (g *Gate) free(ns domain.Namespace) bool {
	return !g.closed && len(g.held)+g.granted < g.limits.InFlight && g.perNS[ns]+g.remote[ns] < g.most(ns)
}

// most is the bound of a namespace.
func (g *Gate) most(ns domain.Namespace) int {
	if g.limits.Own != nil {
		if own := g.limits.Own(ns); own > 0 {
			return own
		}
	}
	return g.limits.PerNamespace
}

func (g *Gate) hold(key domain.AttemptKey, ns domain.Namespace) bool {
	if _, twice := g.held[key]; twice {
		return false
	}
	g.held[key] = ns
	g.perNS[ns]++
	return true
}

// release frees the slot of an attempt; without one it does nothing.
func (g *Gate) release(key domain.AttemptKey) {
	g.mu.Lock()
	ns, ok := g.held[key]
	if ok {
		delete(g.held, key)
		if g.perNS[ns]--; g.perNS[ns] == 0 {
			delete(g.perNS, ns)
		}
		g.rests()
	}
	g.mu.Unlock()
	if ok {
		wake(g.freed)
	}
}

// enqueue lets a task wait for a slot. One that waits already or holds one is left as it is; false: there is no room and
// the task stays in the store.
func (g *Gate) enqueue(q waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, runs := g.held[q.Key]; runs {
		return true
	}
	return g.lanes.add(q)
}

// next gives the waiting task whose turn it is, with a slot; false when nobody waits or no slot is free.
func (g *Gate) next() (waiting, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q, ok := g.lanes.take(g.free)
	return q, ok && g.hold(q.Key, q.Namespace)
}

// spare reports how many more tasks may wait in memory.
func (g *Gate) spare() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return waitingTasks - g.lanes.count
}

// holds reports whether an attempt has a slot.
func (g *Gate) holds(key domain.AttemptKey) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.held[key]
	return ok
}

// doubtful reports, once, that a start may have been recorded although its commit failed.
func (g *Gate) doubtful() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.doubt
	g.doubt = false
	return was
}

// shut closes the gate for good: nothing begins any more. The channel is closed when nothing holds a slot.
func (g *Gate) shut() (empty <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.rests()
	return g.empty
}

func (g *Gate) rests() {
	if g.closed && len(g.held) == 0 {
		select {
		case <-g.empty:
		default:
			close(g.empty)
		}
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
