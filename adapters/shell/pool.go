package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aion/domain"
)

// pool keeps supervisors between commands: starting one for each command would cost five times the command.
type pool struct {
	o          Options
	registry   *registry
	cgroups    *cgroups // nil: there are none
	prefix     string   // of the names of slots
	server     entry    // an entry of the ledger without an attempt
	running    sync.WaitGroup
	unanswered atomic.Int64 // looks at files that nobody waits for any more, see aside

	hiring sync.Mutex // held while a guard is started
	mu     sync.Mutex
	slots  int           // that were made
	guard  *supervisor   // never has a command: it looks after the others when this process dies
	free   []*supervisor // the last one used is taken first
	rests  bool          // a look at what they keep is due
	closed bool
	remain []string // directories that could not be removed
}

// restAfter is how long a directory is kept for the next command.
const restAfter = 100 * time.Millisecond

// get gives a supervisor without work; the caller returns it with put or dismiss.
func (p *pool) get() (*supervisor, error) {
	p.mu.Lock()
	for len(p.free) > 0 {
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		if s.alive() {
			p.mu.Unlock()
			return s, nil
		}
		p.dismiss(s, p.o.KillWait)
	}
	closed, guarded := p.closed, p.guard != nil && p.guard.alive()
	p.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("the executor is closed")
	}
	if !guarded && p.o.Containment != ContainGroup {
		p.running.Go(func() { // the command need not wait for it
			if err := p.hireGuard(); err != nil {
				p.o.Logger.Warn("no supervisor looks after the others", "error", err)
			}
		})
	}
	return p.hire()
}

// hireGuard starts the supervisor that has no command which could stop it.
func (p *pool) hireGuard() error {
	p.hiring.Lock()
	defer p.hiring.Unlock()
	p.mu.Lock()
	old := p.guard
	p.mu.Unlock()
	if old != nil && old.alive() {
		return nil
	}
	if old != nil {
		p.dismiss(old, p.o.KillWait)
	}
	s, err := p.hire()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.guard = s
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.dismiss(s, p.o.KillWait)
	}
	return nil
}

// idle is the entry of a supervisor without a command.
func (p *pool) idle(s *supervisor) entry {
	e := p.server
	if s.group != nil {
		return e
	}
	e.Supervisor = processID{s.pid, s.process.Start}
	return e
}

// put takes back a supervisor whose tree is proved empty.
func (p *pool) put(s *supervisor) {
	s.idleSince = time.Now()
	if err := s.slot.clear(p.idle(s)); err != nil {
		p.o.Logger.Warn("ledger entry not removed", "error", err)
		p.dismiss(s, p.o.KillWait)
		return
	}
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.free = append(p.free, s)
		p.lookLater()
	}
	p.mu.Unlock()
	if closed {
		p.dismiss(s, p.o.KillWait)
	}
}

// lookLater is called with the lock held.
func (p *pool) lookLater() {
	if !p.rests {
		p.rests = true
		time.AfterFunc(restAfter, p.rest)
	}
}

// rest removes the directories of supervisors that no command has come to for a while.
func (p *pool) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rests = false
	p.free = slices.DeleteFunc(p.free, func(s *supervisor) bool {
		if s.slot.made == nil {
			return false
		}
		if time.Since(s.idleSince) < restAfter {
			p.lookLater()
			return false
		}
		err := s.slot.drop()
		if err != nil {
			p.o.Logger.Warn("scratch directory not removed", "error", err)
			p.dismiss(s, p.o.KillWait)
		}
		return err != nil
	})
}

// dismiss ends a supervisor in the background, and what it kept: by itself once its tree is empty, and killed after a
// time; 0: never.
func (p *pool) dismiss(s *supervisor, limit time.Duration) {
	p.running.Go(func() { p.endFor(s, limit) })
}

func (p *pool) endFor(s *supervisor, limit time.Duration) {
	s.end(limit)
	_ = s.slot.clear(p.idle(s)) // what is left now is no command's
	if !p.inTime(func() {
		if err := s.slot.remove(); err != nil {
			p.o.Logger.Warn("what a supervisor used was not removed", "error", err)
			p.keepTrying(s.slot.dir)
		}
	}) {
		p.o.Logger.Warn("what a supervisor used is still being removed", "directory", s.slot.dir)
	}
}

// drop removes the directory of a slot, and reports whether that was done in time.
func (p *pool) drop(s *slot, tell bool) bool {
	var failed bool
	inTime := p.inTime(func() {
		err := s.drop()
		if failed = err != nil; !failed {
			return
		}
		p.keepTrying(s.dir)
		if tell {
			p.o.Logger.Warn("scratch directory not removed", "error", err)
		}
	})
	return inTime && !failed
}

// mostRemain bounds the list of what is tried again; the next start finds the rest.
const mostRemain = 1024

func (p *pool) keepTrying(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.remain) < mostRemain && !slices.Contains(p.remain, dir) {
		p.remain = append(p.remain, dir)
	}
}

// removeRest tries again to remove what could not be removed.
func (p *pool) removeRest() {
	p.mu.Lock()
	dirs := p.remain
	p.remain = nil
	p.mu.Unlock()
	for _, dir := range dirs {
		if errors.Join(removeScratch(dir), removeScratch(dir+restName)) != nil {
			p.keepTrying(dir)
		}
	}
}

// shrink ends idle supervisors beyond keep that have had no work since before, and those whose entry of the ledger was taken
// away.
func (p *pool) shrink(keep int, before time.Time) {
	p.mu.Lock()
	var over []*supervisor
	p.free = slices.DeleteFunc(p.free, func(s *supervisor) bool {
		_, err := os.Lstat(s.slot.file.Name())
		gone := errors.Is(err, fs.ErrNotExist)
		if gone {
			over = append(over, s)
		}
		return gone
	})
	for len(p.free) > keep && p.free[0].idleSince.Before(before) {
		over = append(over, p.free[0])
		p.free = p.free[1:]
	}
	p.mu.Unlock()
	for _, s := range over {
		p.dismiss(s, p.o.KillWait)
	}
}

// close ends all idle supervisors and waits for every one that was ever started, for a bounded time.
func (p *pool) close() error {
	p.mu.Lock()
	idle := p.free
	if p.guard != nil && !p.closed {
		idle = append(idle, p.guard)
	}
	p.free, p.closed = nil, true
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
	case <-time.After(2*p.o.KillWait + time.Second): // of a supervisor, and of what it used
		return &domain.Error{
			Code: domain.CodeUnavailable, Type: "ProcessesLeft",
			Message: "processes of a command could not be ended; look for them with ps below the server",
		}
	}
}
