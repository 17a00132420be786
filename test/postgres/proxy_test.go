package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"aion/test/postgres"
)

// echo is a server that gives back what it gets, and its end. It counts who connects.
type echo struct {
	addr string
	mu   sync.Mutex
	n    int
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{addr: listener.Addr().String()}
	var tasks sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); tasks.Wait() })
	tasks.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			e.mu.Lock()
			e.n++
			e.mu.Unlock()
			tasks.Go(func() { _, _ = io.Copy(c, c); _ = c.Close() })
		}
	})
	return e
}

func (e *echo) connected() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("heard %q, %v; want %q", got, err, want)
	}
}

func TestLinkPassesBytesAndEnds(t *testing.T) {
	t.Parallel()
	l := postgres.Proxy(t, newEcho(t).addr)
	c := dial(t, l.Addr())
	say(t, c, "one")
	hear(t, c, "one")
	say(t, c, "two")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(c); string(rest) != "two" || err != nil {
		t.Errorf("heard %q, %v", rest, err)
	}
}

func TestCutLinkIsABlackHoleThatLosesNothing(t *testing.T) {
	t.Parallel()
	e := newEcho(t)
	l := postgres.Proxy(t, e.addr)
	old := dial(t, l.Addr())
	say(t, old, "before")
	hear(t, old, "before")
	l.Cut()
	late := dial(t, l.Addr())
	for _, c := range []*net.TCPConn{old, late} {
		say(t, c, "within")
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		starves(t, c)
	}
	if n := e.connected(); n != 1 {
		t.Errorf("%d connections reached the target", n)
	}
	l.Mend()
	for _, c := range []*net.TCPConn{old, late} {
		if rest, err := io.ReadAll(c); string(rest) != "within" || err != nil {
			t.Errorf("heard %q, %v", rest, err)
		}
	}
}

func TestCutLinkHidesTheEndOfEitherSide(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	l := postgres.Proxy(t, listener.Addr().String())
	for name, reset := range map[string]bool{"end": false, "reset": true} {
		client := dial(t, l.Addr())
		target, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		l.Cut()
		if reset {
			_ = target.(*net.TCPConn).SetLinger(0)
		}
		_ = target.Close()
		starves(t, client)
		l.Mend()
		if n, err := client.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%s: the mended link gives %d bytes, %v", name, n, err)
		}
	}
}

// Both directions are full: the client reads nothing, so the target's echo waits, and with it what the client writes.
func TestCutDoesNotWaitForWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	l := postgres.Proxy(t, newEcho(t).addr)
	c := dial(t, l.Addr())
	sent := bytes.Repeat([]byte("0123456789abcdef"), 4<<20)
	var writer sync.WaitGroup
	writer.Go(func() { _, _ = c.Write(sent); _ = c.CloseWrite() })
	defer func() { _ = c.Close(); writer.Wait() }()
	hash := sha256.New()
	for n := int64(0); n < int64(len(sent)); {
		l.Cut()
		l.Cut()
		l.Mend()
		l.Mend()
		got, err := io.CopyN(hash, c, min(1<<20, int64(len(sent))-n))
		if n += got; err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	if got, want := hash.Sum(nil), sha256.Sum256(sent); !bytes.Equal(got, want[:]) {
		t.Error("what came back is not what was sent")
	}
}

func TestRefusingLinkClosesAllAndLetsNobodyIn(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*postgres.Link){
		"passing": func(*postgres.Link) {},
		"cut":     (*postgres.Link).Cut,
		"refused": (*postgres.Link).Refuse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := postgres.Proxy(t, newEcho(t).addr)
			c := dial(t, l.Addr())
			say(t, c, "one")
			hear(t, c, "one")
			before(l)
			l.Refuse()
			l.Cut() // nothing is left to cut
			if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("a refused connection gives %d bytes, %v", n, err)
			}
			if listens(l.Addr()) {
				t.Error("a refusing link lets somebody in")
			}
			l.Mend()
			c = dial(t, l.Addr())
			say(t, c, "two")
			hear(t, c, "two")
		})
	}
}

func TestLinkToNobodyEndsItsClients(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	c := dial(t, postgres.Proxy(t, listener.Addr().String()).Addr())
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestLinkCutsOneClientOfAPostgresOff(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	direct := connect(t, dsn)
	config := direct.Config()
	l := postgres.Proxy(t, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
	addr := netip.MustParseAddrPort(l.Addr())
	config.Host, config.Port = addr.Addr().String(), addr.Port()
	linked, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer linked.Close(context.Background())
	execute(t, linked, "CREATE TABLE t (n int)")
	l.Cut()
	answered := make(chan error, 1)
	go func() {
		_, err := linked.Exec(t.Context(), "INSERT INTO t VALUES (1)")
		answered <- err
	}()
	if n := ask[int](t, direct, "SELECT count(*) FROM t"); n != 0 {
		t.Errorf("%d rows came through", n)
	}
	l.Mend()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := ask[int](t, direct, "SELECT count(*) FROM t"); n != 1 {
		t.Errorf("%d rows after the link was mended", n)
	}
}
