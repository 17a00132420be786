package gormstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/test/fake"
	"aion/test/postgres"
)

// changedDSN is a DSN with a user, a password, a host or a database of another name.
func changedDSN(t *testing.T, dsn string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

const secret = "s3cr3t-w0rd"

func TestPostgresIsRefusedInOneSentence(t *testing.T) { // server 5.2
	t.Parallel()
	dsn := postgres.Database(t)
	host := connect(t, dsn).Config()
	role := "aion_nobody_" + strings.ReplaceAll(host.Database, "aion_test_", "")
	execute(t, dsn, `CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() { execute(t, dsn, `DROP ROLE `+role) })
	foreign := withSchema(t, dsn, 1)
	execute(t, foreign, `CREATE TABLE invoices (n BIGINT)`)
	alike := withSchema(t, dsn, 2)
	execute(t, alike, `CREATE TABLE schema_migrations (version TEXT)`)
	newer := withSchema(t, dsn, 3)
	noErrors(t, []error{mustOpenPostgres(t, postgresOptions(t, newer)).Close()})
	execute(t, newer, `INSERT INTO schema_migrations VALUES (31, 'later', 0)`)
	older := withSchema(t, dsn, 5)
	execute(t, older, `CREATE TABLE schema_migrations (version BIGINT, name TEXT, applied_at BIGINT); INSERT INTO schema_migrations VALUES (-5, 'never', 0)`)
	nowhere := withSchema(t, dsn, 4)
	execute(t, dsn, `DROP SCHEMA case_4`)

	with := func(change func(u *url.URL)) string {
		return changedDSN(t, dsn, func(u *url.URL) { u.User = url.UserPassword("postgres", secret); change(u) })
	}
	for name, c := range map[string]struct {
		dsn   string
		code  domain.Code
		typ   string
		words string
	}{
		"a schema of nobody": {older, domain.CodeInvalidInput, "StoreMisplaced", "has schema -5, which no aion has written"},
		"no DSN":             {"postgres://postgres:" + secret + "@[::1:99999/x", domain.CodeInvalidInput, "StoreMisplaced", "postgres://USER:PASSWORD@HOST:5432/DATABASE"},
		"no DSN in words":    {"host=127.0.0.1 password=" + secret + " port=none", domain.CodeInvalidInput, "StoreMisplaced", "postgres://USER:PASSWORD@HOST:5432/DATABASE"},
		"nobody there":       {with(func(u *url.URL) { u.Host = "127.0.0.1:1" }), domain.CodeUnavailable, "StoreUnavailable", "at 127.0.0.1:1 cannot be reached"},
		"an unknown user":    {changedDSN(t, dsn, func(u *url.URL) { u.User = url.UserPassword("stranger", secret) }), domain.CodeInvalidInput, "StoreMisplaced", "does not let user stranger in"},
		"no such database":   {with(func(u *url.URL) { u.Path = "/nowhere" }), domain.CodeInvalidInput, "StoreMisplaced", "createdb --owner postgres nowhere"},
		"no rights":          {changedDSN(t, dsn, func(u *url.URL) { u.User = url.UserPassword(role, secret) }), domain.CodeInvalidInput, "StoreMisplaced", "GRANT CREATE, USAGE ON SCHEMA public TO " + role},
		"no such schema":     {nowhere, domain.CodeInvalidInput, "StoreMisplaced", "may not create tables"},
		"other tables":       {foreign, domain.CodeInvalidInput, "StoreMisplaced", "holds tables of another program"},
		"other migrations":   {alike, domain.CodeInvalidInput, "StoreMisplaced", "holds tables of another program"},
		"a newer schema":     {newer, domain.CodeInvalidState, "SchemaNewer", fmt.Sprintf("has schema 31; this binary knows up to %d", gormstore.PostgresSchema())},
		"an unknown option":  {with(func(u *url.URL) { u.RawQuery = "sslmode=disable&no_such_setting=1" }), domain.CodeInvalidInput, "StoreMisplaced", "set store.postgres.simple_protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, simple := range modes {
				o := postgresOptions(t, c.dsn)
				o.SimpleProtocol = simple
				_, err := gormstore.OpenPostgres(t.Context(), o)
				wantRefusal(t, err, c.code, c.typ, c.words)
				for ; err != nil; err = errors.Unwrap(err) {
					if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
						t.Errorf("the password is told: %v", err)
					}
				}
			}
		})
	}
}

func TestAPostgresOpenThatIsBrokenOffGivesTheReason(t *testing.T) {
	t.Parallel()
	reason := errors.New("not wanted any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	_, err := gormstore.OpenPostgres(ctx, postgresOptions(t, postgres.Database(t)))
	var refused *domain.Error
	if !errors.Is(err, reason) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestServersThatBeginTogetherMigrateOnce(t *testing.T) { // engine 19
	t.Parallel()
	dsn := postgres.Database(t)
	noErrors(t, crowd(make([]*gormstore.Store, 8), 1, func(*gormstore.Store, int) error {
		s, err := gormstore.OpenPostgres(t.Context(), postgresOptions(t, dsn))
		if err != nil {
			return err
		}
		return s.Close()
	}))
	conn := connect(t, dsn)
	if n := value[int](t, conn, `SELECT count(*) FROM schema_migrations`); n != gormstore.PostgresSchema() {
		t.Errorf("%d migrations were written", n)
	}
}

func TestAClosedPostgresStoreRefuses(t *testing.T) {
	t.Parallel()
	s := openPostgres(t)
	noErrors(t, []error{s.Close(), s.Close()})
	for what, err := range calls(t.Context(), s, chains(1)[0].next()) {
		if domain.TypeOf(err) != "StoreUnavailable" || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The clock of the store is the local one, set by the database's: here the local one stands still, months away.
// engine 8: of several looks at the database's clock the best one counts, but none from before one of the clocks was set.
func TestTheClockFollowsAClockThatIsSet(t *testing.T) {
	t.Parallel()
	look := func(offset, journey time.Duration) [2]time.Duration { return [2]time.Duration{offset, journey} }
	steady := [][2]time.Duration{look(100*time.Millisecond, 40*time.Millisecond), look(85*time.Millisecond, 2*time.Millisecond), look(110*time.Millisecond, 60*time.Millisecond)}
	if got := gormstore.OffsetAfter(steady); got != 85*time.Millisecond {
		t.Errorf("of steady clocks: %s", got)
	}
	for _, step := range []time.Duration{time.Minute, -90 * time.Second, 24 * time.Hour, 40 * time.Millisecond} {
		set := append(slices.Clone(steady), look(85*time.Millisecond+step, 30*time.Millisecond))
		if got := gormstore.OffsetAfter(set); got != 85*time.Millisecond+step {
			t.Errorf("after a step of %s: %s", step, got)
		}
	}
}

func TestTheClockIsSetByTheDatabase(t *testing.T) { // engine 8
	t.Parallel()
	dsn := postgres.Database(t)
	conn := connect(t, dsn)
	const now = `SELECT clock_timestamp()`
	before := value[time.Time](t, conn, now).Truncate(time.Microsecond)
	local := fake.NewClock(time.Time{})
	s := mustOpenPostgres(t, gormstore.PostgresOptions{DSN: dsn, Clock: local, Instance: "one"})
	between := func(what string, from time.Time) time.Time {
		t.Helper()
		got, to := s.Clock().Now(), value[time.Time](t, conn, now)
		if got.Before(from) || got.After(to) {
			t.Errorf("%s: the clock shows %s, which is not from %s to %s", what, got, from, to)
		}
		if offset := s.ClockOffset(); !local.Now().Add(offset).Equal(got) {
			t.Errorf("%s: the offset is %s", what, offset)
		}
		return got
	}
	between("after opening", before)
	local.Advance(time.Hour) // it is ahead now
	if got := s.Clock().Now(); got.Sub(before) < time.Hour {
		t.Errorf("the clock does not go on with the local one: %s", got)
	}
	if s := openPostgres(t); !s.Clock().Now().Equal(fake.Epoch) || s.ClockOffset() < 24*time.Hour {
		t.Errorf("a clock that is not to be set shows %s, off by %s", s.Clock().Now(), s.ClockOffset())
	}
	if off := open(t).ClockOffset(); off != 0 {
		t.Errorf("SQLite's clock is off by %s", off)
	}
}
