package bootstrap

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
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
	socketName  = "engine.sock"
	takeOver    = 10 * time.Second // what another process gets to say where it serves
	lookAgain   = 50 * time.Millisecond
	maxSocket   = 100             // bytes of a socket's path, on every system
	socketGrace = 2 * time.Second // clients wait about 5 s for the end of a process
)

// find is the endpoint of the store's owner; without one this process becomes it.
func (e *embedded) find(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for end := time.Now().Add(takeOver); ; {
		url, found, err := e.endpoint("")
		if found || err != nil && !isType(err, "StoreOwned") {
			return url, err
		}
		if err == nil {
			if err = e.own(ctx); err == nil {
				continue
			}
		}
		owned := isType(err, "StoreOwned") || domain.CodeOf(err) == domain.CodeStoreLocked
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

func isType(err error, kind string) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Type == kind
}

// own opens the store, and serves it.
func (e *embedded) own(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx) // the engine outlives the call that began it
	c := e.c
	socket := filepath.Join(c.Home, "run", socketName)
	if len(socket) > maxSocket {
		return configRefusal("the socket %s would have too long a path; use a shorter AION_HOME, or `aion server`", socket)
	}
	if c.StoreBackend != "sqlite" {
		return configRefusal("--embedded needs store.backend sqlite; got %s", c.StoreBackend)
	}
	c.ServerListen, c.AuthMode, c.MCPEnabled = "unix:"+socket, "off", true // the mode of the socket's file is the credential
	app, err := New(ctx, c, Parts{Log: e.log})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, app.Close(ctx, 0))
		}
	}()
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return homeUnwritable(c.Home, err)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an owner that was killed: the lock is ours
		return homeUnwritable(c.Home, err)
	}
	host, err := app.Host() //nolint:contextcheck // a request brings its own context
	if err != nil {
		return err
	}
	if _, err := host.Listen(ctx); err != nil {
		return cannotListen(c.ServerListen, err)
	}
	if err := app.sqlite.SetAddress(c.ServerListen); err != nil {
		return err
	}
	if err := app.Start(ctx); err != nil {
		return err
	}
	serving, end := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := host.Run(serving); err != nil {
			e.log.Error("the embedded server ended", "error", err)
		}
	})
	kill := e.killSwitch(app)
	e.stop = func(ctx context.Context) error { defer kill(); end(); wait.Wait(); return app.Close(ctx, socketGrace) }
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
