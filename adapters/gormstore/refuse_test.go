package gormstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"aion/adapters/gormstore"
	"aion/domain"
)

func TestErrorsOfPostgresBecomeRefusals(t *testing.T) { // engine 21
	t.Parallel()
	answer := func(code string) error {
		return fmt.Errorf("somewhere: %w", &pgconn.PgError{Code: code, Message: "m"})
	}
	for _, c := range []struct {
		err   error
		code  domain.Code
		typ   string
		words string
	}{
		{answer("53100"), domain.CodeUnavailable, "StoreReadOnly", "disk is full"},
		{answer("58030"), domain.CodeUnavailable, "StoreReadOnly", "cannot write to its disk"},
		{answer("25006"), domain.CodeUnavailable, "StoreReadOnly", "name the primary"},
		{answer("42501"), domain.CodeBackend, "StoreFault", "owner of aion's tables"},
		{answer("57P01"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("57014"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("53300"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("40P01"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("55P03"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("25P03"), domain.CodeUnavailable, "StoreUnavailable", "does not answer"},
		{answer("28P01"), domain.CodeUnavailable, "StoreUnavailable", "repeat the call"},
		{answer("23505"), domain.CodeBackend, "StoreFault", "its log tells why"},
		{answer("42P01"), domain.CodeBackend, "StoreFault", "its log tells why"},
		{answer(""), domain.CodeBackend, "StoreFault", "its log tells why"},
		{io.ErrUnexpectedEOF, domain.CodeUnavailable, "StoreUnavailable", "does not answer"},
		{&net.OpError{Op: "read", Err: errors.New("gone")}, domain.CodeUnavailable, "StoreUnavailable", "does not answer"},
		{context.DeadlineExceeded, domain.CodeUnavailable, "StoreUnavailable", "does not answer"},
		{errors.New("cannot encode"), domain.CodeBackend, "StoreFault", "nobody understands"},
	} {
		wantRefusal(t, gormstore.RefusePostgres(t.Context(), c.err), c.code, c.typ, c.words)
	}
	reason := errors.New("not wanted any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if err := gormstore.RefusePostgres(ctx, fmt.Errorf("x: %w", context.Canceled)); !errors.Is(err, reason) {
		t.Errorf("what the caller ended is answered by %v", err)
	}
}
