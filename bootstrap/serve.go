package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"aion/adapters/cli"
	"aion/adapters/mcp"
	"aion/adapters/mcp/general"
	"aion/adapters/web"
	"aion/domain"
)

// backend implements cli.Backend.
type backend struct {
	environ []string
	kill    <-chan struct{} // closed at the second signal
}

func (b *backend) load(o cli.Open) (Config, error) {
	c, err := load(source{flags: o.Flags, environ: b.environ, home: o.Home, file: o.File})
	if err == nil && o.Ephemeral {
		c.StoreBackend = "memory"
	}
	return c, err
}

// Open implements cli.Backend.
func (b *backend) Open(ctx context.Context, o cli.Open) (*cli.Engine, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, err
	}
	log := discard // a command prints its own lines
	if o.Verbose {
		log = logger(c, os.Stderr, slog.LevelDebug)
	}
	app, err := New(ctx, c, Parts{Log: log})
	if err != nil {
		return nil, err
	}
	if err := app.Start(ctx); err != nil {
		return nil, errors.Join(err, app.Close(context.WithoutCancel(ctx), 0))
	}
	stop := b.killSwitch(app)
	return &cli.Engine{
		Namespace: c.NamespaceDefault, Runs: app.Runs, Authoring: app.Authoring, Transcripts: app.Transcripts,
		Close: func(ctx context.Context, grace time.Duration) error { defer stop(); return app.Close(ctx, grace) },
	}, nil
}

// killSwitch ends all commands when the second signal comes.
func (b *backend) killSwitch(app *App) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		select {
		case <-done:
		case <-b.kill:
			app.Kill()
		}
	})
	return func() { close(done); wait.Wait() }
}

// Serve implements cli.Backend.
func (b *backend) Serve(ctx context.Context, o cli.Open, ready func(cli.Listening)) (err error) {
	began := time.Now()
	c, err := b.load(o)
	if err != nil {
		return err
	}
	floor := slog.LevelDebug
	if term.IsTerminal(int(os.Stderr.Fd())) && !o.Verbose {
		floor = slog.LevelWarn // the banner says what a person needs
	}
	log := logger(c, os.Stderr, floor)
	app, err := New(ctx, c, Parts{Log: log})
	if err != nil {
		return err
	}
	defer b.killSwitch(app)()
	defer func() { err = errors.Join(err, app.Close(context.WithoutCancel(ctx), c.DrainTimeout)) }()
	host, err := app.Host() //nolint:contextcheck // a request brings its own context
	if err != nil {
		return err
	}
	addr, err := host.Listen(ctx)
	if err != nil {
		return cannotListen(c.ServerListen, err)
	}
	url := "http://" + addr.String()
	if app.sqlite != nil {
		if err := app.sqlite.SetAddress(url); err != nil {
			return err
		}
	}
	if err := app.Start(ctx); err != nil {
		return err
	}
	l := cli.Listening{
		Version: version, URL: url, Store: app.storeName(), Insecure: c.AuthAllowInsecure && !loopbackAddr(addr), MCP: c.MCPEnabled,
		Recovered: app.Lost, Took: time.Since(began), Warnings: app.warnings(),
	}
	announce(log, c, l)
	ready(l)
	if err := host.Run(ctx); err != nil && context.Cause(ctx) == nil {
		return err
	}
	log.Info("draining", "timeout", c.DrainTimeout.String())
	return nil
}

func announce(log *slog.Logger, c Config, l cli.Listening) {
	file := c.File
	if file == "" {
		file = "none"
	}
	log.Info("serving", "version", l.Version, "url", l.URL, "mcp", l.URL+"/mcp", "store", l.Store, "auth_mode", c.AuthMode, "config_file", file,
		"lost_attempts", l.Recovered, "took_ms", l.Took.Milliseconds())
	for _, text := range l.Warnings {
		log.Warn("configuration", "warning", text)
	}
}

func (a *App) warnings() []string {
	list := append(append([]string{}, a.Config.Ignored...), a.Config.Exposed...)
	if a.Config.AuthAllowInsecure {
		list = append(list, "auth.allow_insecure is set: whoever reaches the port is the operator")
	}
	if a.Config.StoreUnsafeNoFsync {
		list = append(list, "store.unsafe_no_fsync is set: a power cut may lose acknowledged work")
	}
	return append(list, a.actionWarnings()...)
}

// Host builds the HTTP side: probes, /mcp, and what tells a client how to get a token for it. It is called before Start,
// which then runs what the callers of requests need.
func (a *App) Host() (*web.Host, error) {
	c := a.Config
	e, err := a.entrance()
	if err != nil {
		return nil, err
	}
	a.keys = e.keys
	hosts, err := web.NewHosts(publicHost(c.ServerPublicURL), c.ServerAllowedHosts)
	if err != nil {
		return nil, err
	}
	origins, err := web.NewOrigins("mcp.allowed_origins", c.MCPAllowedOrigins)
	if err != nil {
		return nil, err
	}
	health := web.NewHealth(a.checks()...)
	host := web.New(web.Config{Listen: c.ServerListen, Build: version + " " + commit, Hosts: hosts}, health, a.ids, a.log)
	if e.resource != nil {
		e.resource.Mount(host.Router())
	}
	showMetrics(host.Router(), a.registry, e.callers)
	if !c.MCPEnabled {
		return host, nil
	}
	catalogue, err := general.Catalogue(version, time.Duration(c.MCPDiscoverTTLMS)*time.Millisecond, time.Duration(c.MCPToolsListTTLMS)*time.Millisecond)
	if err != nil {
		return nil, fmt.Errorf("the tool catalogue: %w", err)
	}
	endpoint, err := mcp.NewEndpoint(catalogue, general.New(a.Runs, a.Transcripts, a.Authoring, int(c.MCPMaxResultBytes)),
		mcp.Options{
			Origins: origins, Hosts: hosts, Callers: e.callers, MaxBodyBytes: c.MCPMaxBodyBytes, CallTimeout: c.MCPCallTimeout,
			RatePerSecond: c.MCPRatePerSecond, RateBurst: c.MCPRateBurst, IDs: a.ids, Log: a.log,
			Meter: a.registry, Audit: a.audit, Tasks: a.tasks, PollInterval: time.Duration(c.MCPTaskPollIntervalMS) * time.Millisecond,
		})
	if err != nil {
		return nil, fmt.Errorf("the tool catalogue: %w", err)
	}
	mcp.Mount(host.Router(), mcpPath, endpoint)
	return host, nil
}

// checks are the conditions of readiness.
func (a *App) checks() []web.Check {
	checks := a.actionChecks()
	if a.sqlite == nil {
		return checks
	}
	return append([]web.Check{{Name: "store", Probe: func(ctx context.Context) error {
		_, err := a.sqlite.NextTimer(ctx)
		return err
	}}}, checks...)
}

func cannotListen(listen string, cause error) error {
	var op *net.OpError
	reason := cause
	if errors.As(cause, &op) {
		reason = op.Err
	}
	return &domain.Error{
		Code: domain.CodeUnavailable, Type: "CannotListen",
		Message: fmt.Sprintf("server.listen %s cannot be opened (%v); choose another with --listen, 127.0.0.1:0 takes any free port", listen, reason), Err: cause,
	}
}

func loopbackAddr(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Configuration implements cli.Backend.
func (b *backend) Configuration(o cli.Open) ([]cli.Setting, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, err
	}
	return settings(c), nil
}

// ConfigFile implements cli.Backend.
func (b *backend) ConfigFile() string { return configFile() }
