package bootstrap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const maxSocket = 100 // bytes of a socket's path, on every system

// socketOf is where a process that owns the store without being the server answers: each store of a home has a place of
// its own, because its lock is what makes the place free.
func socketOf(c Config) string {
	name := "engine.sock"
	if c.StorePath != filepath.Join(c.Home, "aion.db") {
		sum := sha256.Sum256([]byte(c.StorePath))
		name = "engine-" + hex.EncodeToString(sum[:4]) + ".sock"
	}
	return filepath.Join(c.Home, "run", name)
}

// onSocket is the configuration of such an owner: the mode of the socket's file is the credential.
func onSocket(c Config) (Config, error) {
	socket := socketOf(c)
	if len(socket) > maxSocket {
		return c, configRefusal("the socket %s would have too long a path; use a shorter AION_HOME, or `aion server`", socket)
	}
	c.ServerListen, c.AuthMode, c.MCPEnabled = "unix:"+socket, modeOff, true
	c.TLSCertFile, c.TLSKeyFile, c.DrainAnnounce = "", "", 0
	return c, nil
}

// startOnSocket starts an app that onSocket configured, and serves it until end: running attempts have the grace, then the open
// requests are waited for.
func (a *App) startOnSocket(ctx context.Context) (end func(grace time.Duration), err error) {
	socket := socketOf(a.Config)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return nil, homeUnwritable(a.Config.Home, err)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an owner that was killed: the lock is ours
		return nil, homeUnwritable(a.Config.Home, err)
	}
	host, err := a.Host() //nolint:contextcheck // a request brings its own context
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			host.Close()
		}
	}()
	if _, err := host.Listen(ctx); err != nil {
		return nil, cannotListen(a.Config.ServerListen, err)
	}
	if err := a.serves(a.Config.ServerListen); err != nil {
		return nil, err
	}
	if err := a.Start(ctx); err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := a.listen(serving, host, 0); err != nil { // the attempts have ended before
			a.log.Error("the owner of the store no longer serves it", "error", err)
		}
	})
	return func(grace time.Duration) {
		host.Ending()
		a.api.Drain()
		_ = a.drain(serving, grace) // Close tells what was not kept
		stop()
		wait.Wait()
	}, nil
}
