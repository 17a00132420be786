package shell

import "sync/atomic"

// Counts is what operators watch of processes: supervisors now, and what has happened since the start.
type Counts struct {
	Idle, Busy, Stuck   int // supervisors without a command, with one, and with a tree that could not be ended
	Escaped             uint64
	ContainmentFailures uint64
}

// counters are the parts of Counts that nothing else keeps.
type counters struct {
	busy     atomic.Int64
	failures atomic.Uint64
}

// Counts tells how many supervisors there are and what has gone wrong. The supervisor that only looks after the others
// is not counted.
func (x *Executor) Counts() Counts {
	c := Counts{Busy: int(x.counts.busy.Load()), Escaped: x.registry.escaped.Load(), ContainmentFailures: x.counts.failures.Load()}
	x.pool.mu.Lock()
	c.Idle = len(x.pool.free)
	x.pool.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	c.Stuck = len(x.stuck)
	return c
}

// take gets a supervisor for one command; release gives it back.
func (x *Executor) take() (*supervisor, error) {
	s, err := x.pool.get()
	if err == nil {
		x.counts.busy.Add(1)
	}
	return s, err
}
