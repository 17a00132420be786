package shell

import (
	"bytes"
	"time"

	"aion/domain/action"
)

// maxLine is where a line is cut into pieces (actions 7.2).
const maxLine = 65536

// lines turns a stream of bytes into records: one for each line, without its LF or CRLF. It keeps at most one piece in
// memory. It is used by one goroutine.
type lines struct {
	emit    func(at time.Time, text string, partial bool)
	pending []byte
	since   time.Time // when pending began to wait
	open    bool      // a piece of the present line was already shown
}

// take adds what was read at a time.
func (l *lines) take(p []byte, at time.Time) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.hold(p, at)
			return
		}
		l.hold(p[:end], at)
		text, _ := bytes.CutSuffix(l.pending, []byte("\r"))
		l.show(at, text, false)
		l.pending = l.pending[:0]
		p = p[end+1:]
	}
}

// hold keeps text of an unfinished line, and shows whole pieces of it.
func (l *lines) hold(p []byte, at time.Time) {
	for len(p) > 0 {
		if len(l.pending) == maxLine {
			// One piece is full and the line goes on.
			cut := maxLine - action.IncompleteRune(l.pending)
			l.show(at, l.pending[:cut], true)
			l.pending = append(l.pending[:0], l.pending[cut:]...)
		}
		if len(l.pending) == 0 {
			l.since = at
		}
		n := min(maxLine-len(l.pending), len(p))
		l.pending = append(l.pending, p[:n]...)
		p = p[n:]
	}
}

// ready gives the time at which waiting text is to be shown; zero when nothing waits.
func (l *lines) ready() time.Time {
	if l.showable() == 0 {
		return time.Time{}
	}
	return l.since.Add(partialAfter)
}

// showable counts the waiting bytes that may be shown before the line is finished: not a rune whose rest is missing, not
// a CR that may belong to a line break.
func (l *lines) showable() int {
	n := len(l.pending) - action.IncompleteRune(l.pending)
	if n > 0 && n == len(l.pending) && l.pending[n-1] == '\r' {
		n--
	}
	return n
}

// flush shows text that has waited long enough.
func (l *lines) flush(at time.Time) {
	n := l.showable()
	if n == 0 || at.Before(l.since.Add(partialAfter)) {
		return
	}
	l.show(at, l.pending[:n], true)
	l.pending = append(l.pending[:0], l.pending[n:]...)
	l.since = at
}

// end shows what is left at the end of the stream: a last line without a line break.
func (l *lines) end(at time.Time) {
	if len(l.pending) > 0 || l.open {
		l.show(at, l.pending, false)
	}
	l.pending = nil
}

func (l *lines) show(at time.Time, text []byte, partial bool) {
	l.open = partial
	l.emit(at, action.Repair(text), partial)
}
