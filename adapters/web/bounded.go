package web

import (
	"net"
	"sync"
)

// bounded is a listener whose Accept waits while too many of its connections are open.
type bounded struct {
	net.Listener
	slots  chan struct{} // one element per open connection
	closed chan struct{}
	once   sync.Once
}

func newBounded(inner net.Listener, limit int) *bounded {
	return &bounded{Listener: inner, slots: make(chan struct{}, limit), closed: make(chan struct{})}
}

func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.slots <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &boundedConn{Conn: conn, release: func() { <-b.slots }}, nil
}

func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type boundedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *boundedConn) Close() error {
	c.once.Do(c.release)
	return c.Conn.Close()
}
