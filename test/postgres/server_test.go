package postgres_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"aion/test/postgres"
)

func address(s *postgres.Server) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())) }

func TestServerIsADefaultOneOnLoopback(t *testing.T) {
	t.Parallel()
	conn := connect(t, postgres.Start(t, "work_mem = 5MB").DSN())
	for setting, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "default_transaction_isolation": "read committed",
		"listen_addresses": "127.0.0.1", "server_encoding": "UTF8", "work_mem": "5MB",
	} {
		if got := ask[string](t, conn, "SELECT current_setting($1)", setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	if n := ask[int](t, conn, "SELECT current_setting('max_connections')::int"); n < 200 {
		t.Errorf("%d connections at most", n)
	}
}

func TestWrongSettingIsRefusedWithWhatTheServerSays(t *testing.T) {
	t.Parallel()
	err := postgres.With([]string{"no_such_setting = 1"}, func(string) { t.Error("the server runs") })
	if err == nil || !contains(err, "no_such_setting") {
		t.Errorf("the refusal is %v", err)
	}
}

// An unlogged table tells the two ends apart: recovery after a crash empties it.
func TestStopAndKillDifferAndRestartServesTheSamePortAndData(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	dsn, addr := s.DSN(), address(s)
	for _, c := range []struct {
		name     string
		end      func()
		unlogged int
	}{
		{"stop", s.Stop, 1},
		{"stop, frozen", func() { s.Freeze(); s.Stop() }, 1},
		{"kill", s.Kill, 0},
		{"kill, frozen", func() { s.Freeze(); s.Kill() }, 0},
		{"kill, then stop", func() { s.Kill(); s.Stop() }, 0},
		{"stop, then kill", func() { s.Stop(); s.Kill() }, 1},
		{"restart while up", s.Restart, 1},
	} {
		conn := connect(t, dsn)
		execute(t, conn, "DROP TABLE IF EXISTS logged, unlogged", "CREATE TABLE logged (n int)", "CREATE UNLOGGED TABLE unlogged (n int)",
			"INSERT INTO logged VALUES (1)", "INSERT INTO unlogged VALUES (1)", "BEGIN", "INSERT INTO logged VALUES (2)")
		c.end()
		if up := listens(addr); up != (c.name == "restart while up") {
			t.Errorf("%s: the server listens: %v", c.name, up)
		}
		if _, err := conn.Exec(t.Context(), "COMMIT"); err == nil {
			t.Errorf("%s: a connection outlived its server", c.name)
		}
		s.Restart()
		if s.DSN() != dsn || address(s) != addr {
			t.Errorf("%s: the server was %s and is %s", c.name, dsn, s.DSN())
		}
		conn = connect(t, dsn)
		logged, unlogged := ask[int](t, conn, "SELECT count(*) FROM logged"), ask[int](t, conn, "SELECT count(*) FROM unlogged")
		if logged != 1 || unlogged != c.unlogged {
			t.Errorf("%s: %d rows committed, want 1; %d unlogged, want %d", c.name, logged, unlogged, c.unlogged)
		}
	}
}

func TestFrozenServerAnswersNobodyUntilItThaws(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	conn := connect(t, s.DSN())
	s.Freeze()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := connectWithin(short, s.DSN()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server lets somebody in: %v", err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT 1")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("a frozen server answers: %v", err)
	case <-short.Done():
	}
	s.Thaw()
	if err := <-answered; err != nil {
		t.Errorf("what began while the server was frozen ends with %v", err)
	}
	connect(t, s.DSN())
}

func TestFrozenServerEndsWithTheTest(t *testing.T) {
	t.Parallel()
	var addr, folder string
	t.Run("inner", func(t *testing.T) {
		s := postgres.Start(t)
		addr, folder = address(s), ask[string](t, connect(t, s.DSN()), "SHOW data_directory")
		s.Freeze()
	})
	if _, err := os.Stat(folder); listens(addr) || !os.IsNotExist(err) {
		t.Errorf("the server is still there: listens %v, its folder %v", listens(addr), err)
	}
}
