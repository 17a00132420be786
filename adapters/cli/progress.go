package cli

import (
	"fmt"
	"time"
)

// The pace of progress lines (server 3.1).
const (
	progressAfter = time.Second
	progressFast  = 100 * time.Millisecond // a line that rewrites itself
	progressSlow  = 10 * time.Second       // lines one below the other
)

// progress shows how far something that lasts has come. It is used by one goroutine.
type progress struct {
	p     *Program
	what  string
	quiet bool

	began, shown time.Time
	open         bool // a line stands there that is rewritten
}

func (p *Program) progress(g *globals, what string) *progress {
	return &progress{p: p, what: what, quiet: g.quiet, began: time.Now()}
}

// at tells how many are done.
func (s *progress) at(done int) {
	now := time.Now()
	took := now.Sub(s.began)
	pace := progressSlow
	if s.p.ErrTerminal {
		pace = progressFast
	}
	if s.quiet || took < progressAfter || now.Sub(s.shown) < pace {
		return
	}
	s.shown = now
	line := fmt.Sprintf("%s: %d, %.0f/s, %s", s.what, done, float64(done)/took.Seconds(), took.Round(time.Second))
	if s.p.ErrTerminal {
		s.open = true
		fmt.Fprintf(s.p.Err, "\r%s\x1b[K", line)
		return
	}
	fmt.Fprintln(s.p.Err, line)
}

// end takes the line away.
func (s *progress) end() {
	if s.open {
		fmt.Fprint(s.p.Err, "\r\x1b[K")
	}
}
