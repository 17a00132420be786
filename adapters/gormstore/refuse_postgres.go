package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"aion/domain"
)

func away(cause error) error {
	return domain.Unavailable("StoreUnavailable", "the database does not answer; repeat the call later", cause)
}

// refusePostgres turns an error of Postgres, or of the way to it, into a refusal. What the caller's context ended counts as
// the caller's.
func refusePostgres(ctx context.Context, err error) error {
	var known *domain.Error
	var e *pgconn.PgError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case stopped(ctx, err):
		return context.Cause(ctx)
	case broken(err):
		return away(err)
	case !errors.As(err, &e):
		return fault("the database has given an answer that nobody understands", err)
	}
	const typ = "StoreReadOnly"
	switch e.Code {
	case "53100":
		return domain.Unavailable(typ, "the database's disk is full; free some space, then repeat the call", err)
	case "58030":
		return domain.Unavailable(typ, "the database cannot write to its disk; repeat the call later", err)
	case "25006":
		return domain.Unavailable(typ, "the database takes no writes; name the primary in store.dsn, or wait until it is one", err)
	case "55P03":
		return domain.Unavailable("StoreUnavailable", "somebody holds a row of the database that the call needs; repeat the call later", err)
	case "53300":
		return domain.Unavailable("StoreUnavailable", "the database has no connection left; raise its max_connections, or lower store.postgres.max_connections; then repeat the call", err)
	case "42501":
		return fault("the database does not permit the call; make the user of store.dsn the owner of aion's tables", err)
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "28":
		return domain.Unavailable("StoreUnavailable", "the database does not let this server in any more; correct the password in store.dsn, restart the server, then repeat the call", err)
	case "3D":
		return domain.Unavailable("StoreUnavailable", "the database of store.dsn is not there any more; bring it back, or correct store.dsn and restart the server; then repeat the call", err)
	case "08", "53", "55", "57", "40":
		return domain.Unavailable("StoreUnavailable", "the database is busy or restarts; repeat the call later", err)
	case "25": // the server has ended a transaction that stood still
		return away(err)
	}
	return fault("the database cannot carry out the call; its log tells why", err)
}

// rowHeld tells whether a transaction waited in vain for a row that somebody else holds.
func rowHeld(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "55P03"
}

// broken tells whether a connection failed, or could not be made.
func broken(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	if errors.As(err, &network) || errors.As(err, &connect) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) {
		return true
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// place names a database without what opens it.
func place(c *pgx.ConnConfig) string {
	return fmt.Sprintf("database %s at %s", domain.Quote(c.Database, 64), net.JoinHostPort(c.Host, fmt.Sprint(c.Port)))
}

// unreachable refuses a start whose first connection failed.
func unreachable(c *pgx.ConnConfig, err error) error {
	user := domain.Quote(c.User, 64)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return domain.Unavailable("StoreUnavailable", place(c)+" cannot be reached; start it, or correct store.dsn", err)
	}
	switch {
	case strings.HasPrefix(e.Code, "28"):
		return misplaced("%s does not let user %s in; correct the user or the password in store.dsn", place(c), user)
	case e.Code == "3D000":
		return misplaced("%s does not exist; create it: createdb --owner %s %s", place(c), user, domain.Quote(c.Database, 64))
	case e.Code == "42704" || e.Code == "08P01" && strings.Contains(e.Message, "parameter"): // the second is what poolers say
		return &domain.Error{
			Code: domain.CodeInvalidInput, Type: "StoreMisplaced", Err: err,
			Message: place(c) + " does not know a setting of its connections; if it is a pooler, or no Postgres, set store.postgres.simple_protocol",
		}
	}
	return domain.Unavailable("StoreUnavailable", place(c)+" takes no connection now; start again when it does", err)
}

// unusable refuses a start on a database that was reached.
func unusable(ctx context.Context, c *pgx.ConnConfig, err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && (e.Code == "42501" || e.Code == "3F000") {
		return misplaced("user %s may not create tables in %s; let it: GRANT CREATE, USAGE ON SCHEMA public TO %s", domain.Quote(c.User, 64), place(c), domain.Quote(c.User, 64))
	}
	return refusePostgres(ctx, err)
}
