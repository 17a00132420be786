package bootstrap

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"aion/domain"
)

// embedded is a link that becomes the server of the local store when there is none, on a socket that only this user can
// reach. Other links find it by the lock of the store, and follow it in this role when it ends.
type embedded struct {
	*link
	log *slog.Logger

	mu   sync.Mutex
	stop func(ctx context.Context) error // nil: this process owns nothing
}

const (
	takeOver    = 10 * time.Second // what another process gets to say where it serves
	lookAgain   = 50 * time.Millisecond
	socketGrace = 2 * time.Second // clients wait about 5 s for the end of a process
)

// find is the endpoint of the store's owner; without one this process becomes it.
func (e *embedded) find(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for end := time.Now().Add(takeOver); ; {
		url, found, err := e.endpoint("")
		if found || err != nil && domain.TypeOf(err) != "StoreOwned" {
			return url, err
		}
		if err == nil {
			if err = e.own(ctx); err == nil {
				continue
			}
		}
		owned := domain.TypeOf(err) == "StoreOwned" || domain.CodeOf(err) == domain.CodeStoreLocked
		if !owned || time.Now().After(end) {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}

// own opens the store, and serves it.
func (e *embedded) own(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // the engine outlives the call that began it
	if e.c.StoreBackend != backendSQLite {
		return configRefusal("--embedded needs store.backend sqlite; got %s", e.c.StoreBackend)
	}
	c, err := onSocket(e.c)
	if err != nil {
		return err
	}
	app, err := New(ctx, c, Parts{Log: e.log})
	if err != nil {
		return err
	}
	end, err := app.startOnSocket(ctx)
	if err != nil {
		return errors.Join(err, app.Close(ctx, 0))
	}
	kill := e.killSwitch(app)
	e.stop = func(ctx context.Context) error { defer kill(); end(socketGrace); return app.Close(ctx, 0) }
	e.log.Info("serving the local store", "url", c.ServerListen)
	return nil
}

// close ends the server that this process became: what runs is parked and the store is free.
func (e *embedded) close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop == nil {
		return nil
	}
	return e.stop(ctx)
}
