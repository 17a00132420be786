package gormstore

import (
	"context"
	"errors"

	"github.com/mattn/go-sqlite3"

	"aion/domain"
)

// refuse turns an error of the database into a refusal. What the caller's context ended counts as the caller's.
func refuse(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *domain.Error
	if errors.As(err, &known) {
		return err
	}
	if stopped(ctx, err) || ctx.Err() != nil && sqliteCode(err) == sqlite3.ErrInterrupt {
		return context.Cause(ctx)
	}
	switch sqliteCode(err) {
	case sqlite3.ErrFull:
		return domain.Unavailable("StoreReadOnly", "the store's disk is full; free some space, then repeat the call", err)
	case sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return domain.Unavailable("StoreReadOnly", "the store cannot write to its disk; repeat the call later", err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrNomem, sqlite3.ErrInterrupt, sqlite3.ErrProtocol:
		return domain.Unavailable("StoreUnavailable", "the store is busy; repeat the call later", err)
	default:
		return fault("the store cannot carry out the call; if its file is damaged, stop aion and put a copy of its directory back", err)
	}
}

// stopped tells whether err comes from the end of the context.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

func fault(message string, cause error) error {
	return &domain.Error{Code: domain.CodeBackend, Type: "StoreFault", Message: message, Err: cause}
}

func closed() error {
	return domain.Unavailable("StoreUnavailable", "the store is closed; repeat the call later", nil)
}

// sqliteCode is 0 for an error that SQLite did not give.
func sqliteCode(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
