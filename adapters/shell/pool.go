package shell

import (
	"fmt"
	"sync"
	"time"

	"aion/domain"
)

// pool keeps supervisors between commands: starting one for each command would cost five times the command.
type pool struct {
	o        Options
	registry *registry
	running  sync.WaitGroup // the readers of all supervisors

	mu     sync.Mutex
	idle   []*supervisor // the last one used is taken first
	closed bool
}

// get gives a supervisor without work; the caller returns it with put or dismiss.
func (p *pool) get() (*supervisor, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		s := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if s.alive() {
			p.mu.Unlock()
			return s, nil
		}
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("the executor is closed")
	}
	return p.hire()
}

// put takes back a supervisor whose tree is proved empty.
func (p *pool) put(s *supervisor) {
	s.idleSince = time.Now()
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if closed {
		p.dismiss(s, p.o.KillWait)
	}
}

// dismiss ends a supervisor in the background: by itself once its tree is empty, and killed after a time; 0: never.
func (p *pool) dismiss(s *supervisor, limit time.Duration) {
	p.running.Go(func() { s.end(limit) })
}

// shrink ends idle supervisors beyond keep that have had no work since before.
func (p *pool) shrink(keep int, before time.Time) {
	p.mu.Lock()
	var over []*supervisor
	for len(p.idle) > keep && p.idle[0].idleSince.Before(before) {
		over = append(over, p.idle[0])
		p.idle = p.idle[1:]
	}
	p.mu.Unlock()
	for _, s := range over {
		p.dismiss(s, p.o.KillWait)
	}
}

// close ends all idle supervisors and waits for every one that was ever started, for a bounded time.
func (p *pool) close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, s := range idle {
		p.dismiss(s, p.o.KillWait)
	}
	gone := make(chan struct{})
	go func() { // waited for, unless a tree cannot be killed
		p.running.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-time.After(2 * p.o.KillWait):
		return &domain.Error{
			Code: domain.CodeUnavailable, Type: "ProcessesLeft",
			Message: "processes of a command could not be ended; look for them with ps below the server",
		}
	}
}
