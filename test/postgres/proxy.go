package postgres

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// mode is what a link does with bytes.
type mode int

const (
	passing mode = iota + 1
	starving
	refusing
)

// Link is a loopback TCP proxy that can cut off whoever connects through it. Its methods are for one goroutine at a time.
type Link struct {
	tb     testing.TB
	addr   string
	target string
	tasks  sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond // mode or busy
	mode     mode
	busy     int // how many write at this moment
	listener net.Listener
	conns    map[net.Conn]bool
}

// Proxy starts a link to a target, host:port. It passes all bytes until it is told otherwise, and closes with the test.
func Proxy(tb testing.TB, target string) *Link {
	tb.Helper()
	listener, err := listen()
	if err != nil {
		tb.Fatalf("start a link: %v", err)
	}
	l := &Link{tb: tb, addr: listener.Addr().String(), target: target, mode: passing, listener: listener, conns: map[net.Conn]bool{}}
	l.changed = sync.NewCond(&l.mu)
	l.tasks.Go(func() { l.accept(listener) })
	tb.Cleanup(l.Refuse)
	return l
}

// Addr is the host:port to connect to. It stays the same.
func (l *Link) Addr() string { return l.addr }

// Cut makes a black hole: connections stay open and pass nothing, neither bytes nor an end; new ones are accepted and reach
// nobody. When Cut returns, nothing passes any more. A link that refuses stays as it is.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mode != passing {
		return
	}
	l.mode = starving
	for c := range l.conns {
		_ = c.SetWriteDeadline(time.Unix(1, 0)) // ends a write whose reader does not read
	}
	for l.busy > 0 {
		l.changed.Wait()
	}
}

// Refuse closes all connections and lets no new one in. When Refuse returns, all have ended.
func (l *Link) Refuse() {
	l.mu.Lock()
	l.mode = refusing
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
	for c := range l.conns {
		_ = c.Close()
	}
	l.changed.Broadcast()
	l.mu.Unlock()
	l.tasks.Wait()
}

// Mend passes bytes again. What starved goes on where it stopped, and loses no byte.
func (l *Link) Mend() {
	l.tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		listener, err := net.Listen("tcp", l.addr)
		if err != nil {
			l.tb.Fatalf("mend a link: %v", err)
		}
		l.listener = listener
		l.tasks.Go(func() { l.accept(listener) })
	}
	for c := range l.conns {
		_ = c.SetWriteDeadline(time.Time{})
	}
	l.mode = passing
	l.changed.Broadcast()
}

func (l *Link) accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		if l.hold(c) {
			l.tasks.Go(func() { l.serve(c.(*net.TCPConn)) })
		}
	}
}

// hold takes a connection in; a link that refuses closes it.
func (l *Link) hold(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mode == refusing {
		_ = c.Close()
		return false
	}
	l.conns[c] = true
	return true
}

// drop closes connections.
func (l *Link) drop(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		delete(l.conns, c)
		_ = c.Close()
	}
}

// serve joins a client to the target until both directions have ended, or one has failed.
func (l *Link) serve(client *net.TCPConn) {
	defer l.drop(client)
	var target net.Conn
	err := l.pass(func() (err error) {
		target, err = net.DialTimeout("tcp", l.target, patience)
		return err
	})
	if err != nil || !l.hold(target) {
		return
	}
	defer l.drop(target)
	var back sync.WaitGroup
	back.Go(func() { l.pump(client, target.(*net.TCPConn)) })
	l.pump(target.(*net.TCPConn), client)
	back.Wait()
}

// pump carries one direction. Its end passes like a byte, and a failure ends both directions.
func (l *Link) pump(to, from *net.TCPConn) {
	buffer := make([]byte, 32<<10)
	for {
		n, failed := from.Read(buffer)
		rest := buffer[:n]
		err := l.pass(func() error {
			n, err := to.Write(rest)
			rest = rest[n:]
			return err
		})
		switch {
		case err == nil && failed == nil:
			continue
		case err == nil && errors.Is(failed, io.EOF):
			err = l.pass(to.CloseWrite)
		}
		if err != nil || !errors.Is(failed, io.EOF) {
			l.drop(to, from)
		}
		return
	}
}

// pass does a piece of work towards the other side when the link lets it: to its end, however often it is cut meanwhile.
func (l *Link) pass(work func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for l.mode == starving {
			l.changed.Wait()
		}
		if l.mode == refusing {
			return net.ErrClosed
		}
		l.busy++
		l.mu.Unlock()
		err := work()
		l.mu.Lock()
		l.busy--
		l.changed.Broadcast()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}
