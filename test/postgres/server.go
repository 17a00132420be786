package postgres

import (
	"errors"
	"testing"
)

// With runs use with the DSN of a server of its own, as a superuser, and stops the server. A setting is a line of
// postgresql.conf, such as "fsync = off".
func With(settings []string, use func(dsn string)) error {
	k, err := keep(settings)
	if err != nil {
		return err
	}
	use(k.dsn())
	return k.close()
}

// Server is a Postgres of one test, which may end it in every way and start it again. It is for one goroutine at a time. A
// method that cannot do its work fails the test.
type Server struct {
	tb testing.TB
	k  *keeper
}

// Start starts a server, which ends with the test. A setting is a line of postgresql.conf, such as "fsync = off".
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	k, err := keep(settings)
	if err != nil {
		tb.Fatalf("start a Postgres: %v", err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(k.thaw(), k.close()); err != nil {
			tb.Errorf("end a Postgres: %v", err)
		}
	})
	return &Server{tb: tb, k: k}
}

// DSN names the server's database postgres, as a superuser. It stays the same.
func (s *Server) DSN() string { return s.k.dsn() }

// Port is where the server listens on 127.0.0.1. It stays the same.
func (s *Server) Port() int { return s.k.port }

// Stop ends the server in order: open transactions are rolled back, what was written is checkpointed. A frozen server thaws; a
// server that is down stays so.
func (s *Server) Stop() {
	s.tb.Helper()
	s.must(s.k.thaw())
	if s.k.postmaster() != 0 {
		s.must(s.k.do("stop -m fast"))
	}
}

// Kill ends the server like a loss of power of its machine but for what the system keeps: no process of it does one thing
// more, not even when it was frozen. A server that is down stays so.
func (s *Server) Kill() {
	s.tb.Helper()
	s.must(s.k.kill())
}

// Freeze stops all processes of the server where they are. Connections stay open and starve; new ones are still accepted, by
// the system.
func (s *Server) Freeze() {
	s.tb.Helper()
	s.must(s.k.freeze())
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw() {
	s.tb.Helper()
	s.must(s.k.thaw())
}

// Restart starts the server again with its data on its port, after a Stop if it is up.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	s.must(s.k.do("start"))
}

func (s *Server) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}
