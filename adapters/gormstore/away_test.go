package gormstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
	"aion/test/fake"
	"aion/test/postgres"
)

// outage is a way in which a database goes away and comes back.
type outage struct{ leave, back func() }

func outages(server *postgres.Server, link *postgres.Link) map[string]outage {
	return map[string]outage{
		"stopped": {server.Stop, server.Restart},
		"killed":  {server.Kill, server.Restart},
		"frozen":  {server.Freeze, server.Thaw},
		"cut off": {link.Cut, link.Mend},
		"refused": {link.Refuse, link.Mend},
	}
}

// through is the DSN that leads over a link.
func through(server *postgres.Server, link *postgres.Link) string {
	return strings.Replace(server.DSN(), fmt.Sprint("127.0.0.1:", server.Port()), link.Addr(), 1)
}

// A database that is away is answered for, by reads and by writes, and the store works again when it is back: nobody has to
// start anything again, what was acknowledged is there, and what was not is there whole or not at all.
func TestADatabaseThatIsAwayIsAnsweredFor(t *testing.T) { // engine 21
	t.Parallel()
	for _, name := range []string{"stopped", "killed", "frozen", "cut off", "refused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := postgres.Start(t)
			link := postgres.Proxy(t, net.JoinHostPort("127.0.0.1", fmt.Sprint(server.Port())))
			o := postgresOptions(t, through(server, link)).WithPatience(700 * time.Millisecond)
			o.MaxConnections = 8
			s := mustOpenPostgres(t, o)
			c := chains(1)[0]
			noErrors(t, s.Append(t.Context(), oneCommit(c)))
			noErrors(t, crowd([]*gormstore.Store{s}, 8, func(s *gormstore.Store, _ int) error { // so that the pool is full
				_, err := s.Head(t.Context(), c.id)
				return err
			}))
			way := outages(server, link)[name]
			way.leave()
			acknowledged := c.head
			doubtful := c.next()
			for what, err := range calls(t.Context(), s, doubtful) {
				if domain.CodeOf(err) != domain.CodeUnavailable || domain.TypeOf(err) != "StoreUnavailable" {
					t.Errorf("%s while the database was %s: %v", what, name, err)
				}
			}
			way.back()
			head := eventually(t, s, c.id)
			if head != acknowledged && head != c.head {
				t.Errorf("head %d, neither %d nor %d", head, acknowledged, c.head)
			}
			events, err := s.History(t.Context(), c.id, 1, 100)
			if err != nil || int64(len(events)) != head {
				t.Errorf("%d events to head %d, %v", len(events), head, err)
			}
			if head == acknowledged {
				noErrors(t, s.Append(t.Context(), oneOf(doubtful)))
			}
			noErrors(t, s.Append(t.Context(), oneCommit(c)))
		})
	}
}

// calls makes a call of each kind, all at once.
func calls(ctx context.Context, s *gormstore.Store, c history.Commit) map[string]error {
	all := map[string]func() error{
		"append":  func() error { return errors.Join(s.Append(ctx, oneOf(c))...) },
		"head":    func() error { _, err := s.Head(ctx, c.WorkflowID); return err },
		"list":    func() error { _, err := s.List(ctx, ports.RunFilter{Namespace: "default"}, nil, 1); return err },
		"count":   func() error { _, err := s.Count(ctx, ports.RunFilter{Namespace: "default"}); return err },
		"timers":  func() error { _, err := s.DueTimers(ctx, nil, fake.Epoch, 1); return err },
		"change":  func() error { return s.Delivered(ctx, []string{"m"}) },
		"replica": func() error { _, err := s.RenewReplica(ctx, ports.Replica{ID: "one"}, time.Minute); return err },
		"audit":   func() error { return s.Audit(ctx, domain.AuditRecord{}) },
		"task": func() error {
			_, err := s.ChangeMCPTask(ctx, "x", func(k task.Task) (task.Task, error) { return k, nil })
			return err
		},
	}
	type answer struct {
		what string
		err  error
	}
	answers := make(chan answer, len(all))
	for what, call := range all {
		go func() { answers <- answer{what, call()} }()
	}
	errs := map[string]error{}
	for range all {
		a := <-answers
		errs[a.what] = a.err
	}
	return errs
}

// eventually repeats a read until the database answers.
func eventually(t *testing.T, s *gormstore.Store, id domain.WorkflowID) history.Seq {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		head, err := s.Head(ctx, id)
		if err == nil {
			return head
		}
		if domain.CodeOf(err) != domain.CodeUnavailable || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// The bound of a call is under 5 s: whoever waits so long is answered by the store, and not by the end of his patience.
func TestAnAnswerTakesLessThanFiveSeconds(t *testing.T) { // engine 8
	t.Parallel()
	server := postgres.Start(t)
	s := mustOpenPostgres(t, postgresOptions(t, server.DSN()))
	c := chains(1)[0]
	noErrors(t, s.Append(t.Context(), oneCommit(c)))
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for what, err := range calls(ctx, s, c.next()) {
		if domain.TypeOf(err) != "StoreUnavailable" {
			t.Errorf("%s: %v", what, err)
		}
	}
	server.Thaw()
}

// connect gives a connection of the test's own.
func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// value reads one.
func value[T any](t *testing.T, conn *pgx.Conn, query string) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// until repeats a question until it is answered with yes.
func until(t *testing.T, conn *pgx.Conn, query string) {
	t.Helper()
	for !value[bool](t, conn, query) {
	}
}

const blocked = `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`

func TestAServerProcessKilledInMidAppendLeavesNothing(t *testing.T) { // engine 21
	t.Parallel()
	dsn := postgres.Database(t)
	s := mustOpenPostgres(t, postgresOptions(t, dsn))
	cs := chains(3)
	for _, c := range cs {
		noErrors(t, s.Append(t.Context(), oneCommit(c)))
	}
	other, watch := connect(t, dsn), connect(t, dsn)
	hold, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec(t.Context(), `SELECT 1 FROM workflows WHERE id = $1 FOR UPDATE`, string(cs[1].id)); err != nil {
		t.Fatal(err)
	}
	group := []history.Commit{cs[0].next(), cs[1].next(), cs[2].next()}
	answer := make(chan []error, 1)
	go func() { answer <- s.Append(t.Context(), group) }()
	until(t, watch, blocked)
	if _, err := watch.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`); err != nil {
		t.Fatal(err)
	}
	for _, err := range <-answer {
		wantRefusal(t, err, domain.CodeUnavailable, "StoreUnavailable")
	}
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, c := range cs {
		head, err := s.Head(t.Context(), c.id)
		events, err2 := s.History(t.Context(), c.id, 1, 100)
		if err != nil || err2 != nil || head != group[i].ExpectedSeq || int64(len(events)) != head {
			t.Errorf("workflow %d: head %d, %d events, %v, %v", i, head, len(events), err, err2)
		}
	}
	noErrors(t, s.Append(t.Context(), group))
}

// A row that somebody holds for too long makes a call fail, and no connection stays behind.
func TestALockThatIsHeldTooLongIsAnsweredFor(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	s := mustOpenPostgres(t, postgresOptions(t, dsn).WithPatience(500*time.Millisecond))
	c := chains(1)[0]
	noErrors(t, s.Append(t.Context(), oneCommit(c)))
	other := connect(t, dsn)
	hold, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec(t.Context(), `SELECT 1 FROM workflows FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	late := c.next()
	wantRefusal(t, s.Append(t.Context(), oneOf(late))[0], domain.CodeUnavailable, "StoreUnavailable")
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, other, `SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`)
	noErrors(t, s.Append(t.Context(), oneOf(late)))
}

// engine 6: a commit that waits for a row in vain fails alone, and those of its group are written.
func TestARowThatIsHeldHoldsUpItsOwnCommitOnly(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	s := mustOpenPostgres(t, postgresOptions(t, dsn))
	all := chains(3)
	for _, c := range all {
		noErrors(t, s.Append(t.Context(), oneCommit(c)))
	}
	other := connect(t, dsn)
	hold, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := all[1].next()
	if _, err := hold.Exec(t.Context(), `SELECT 1 FROM workflows WHERE id = $1 FOR UPDATE`, string(held.WorkflowID)); err != nil {
		t.Fatal(err)
	}
	errs := s.Append(t.Context(), []history.Commit{all[0].next(), held, all[2].next()})
	wantRefusal(t, errs[1], domain.CodeUnavailable, "StoreUnavailable", "somebody holds a row")
	noErrors(t, []error{errs[0], errs[2], hold.Rollback(t.Context()), s.Append(t.Context(), oneOf(held))[0]})
}

// A client that has vanished in mid-transaction holds its rows for seconds at most, whoever kept the connection.
func TestTransactionsAreDurableAndEndByThemselves(t *testing.T) { // engine 6
	t.Parallel()
	for name, simple := range modes {
		for _, unsafe := range []bool{false, true} {
			t.Run(fmt.Sprint(name, unsafe), func(t *testing.T) {
				t.Parallel()
				dsn := postgres.Database(t)
				execute(t, dsn, `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$`)
				execute(t, dsn, `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_isolation = serializable'; END $$`)
				o := postgresOptions(t, dsn)
				o.SimpleProtocol, o.UnsafeNoFsync = simple, unsafe
				s := mustOpenPostgres(t, o)
				durable := "on"
				if unsafe {
					durable = "off"
				}
				for setting, want := range map[string]string{
					"synchronous_commit": durable, "idle_in_transaction_session_timeout": "4s", "lock_timeout": "1s", "statement_timeout": "4500ms",
					"transaction_isolation": "read committed",
				} {
					got, err := s.PostgresSetting(t.Context(), setting)
					if err != nil || got != want {
						t.Errorf("%s is %v, want %s; %v", setting, got, want, err)
					}
				}
			})
		}
	}
}

func TestThePoolerKeepsNothingOfAConnection(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	o := postgresOptions(t, dsn)
	o.SimpleProtocol, o.Changed = true, func(ports.Changes) { t.Error("something was heard through a pooler") }
	s := mustOpenPostgres(t, o)
	everyCall(t, s)
	var prepared, settings int
	row := s.Pool().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_settings WHERE source = 'session')`)
	if err := row.Scan(&prepared, &settings); err != nil || prepared != 0 || settings != 0 {
		t.Errorf("a connection has %d prepared statements and %d settings, %v", prepared, settings, err)
	}
	until(t, connect(t, dsn), `SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
}
