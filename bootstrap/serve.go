package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"aion/adapters/cli"
	"aion/adapters/httpapi"
	"aion/adapters/mcp"
	"aion/adapters/mcp/general"
	"aion/adapters/metrics"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/application/audit"
	"aion/domain"
)

// backend implements cli.Backend.
type backend struct {
	environ []string
	signalled
	manager *system.Notifier // the service manager that started this process
}

func (b *backend) load(o cli.Open) (Config, error) {
	c, err := load(source{flags: o.Flags, environ: b.environ, home: o.Home, file: o.File})
	if err == nil && o.Ephemeral {
		c.StoreBackend = backendMemory
	}
	if err == nil && o.Loaded != nil {
		o.Loaded()
	}
	return c, err
}

// Open implements cli.Backend.
func (b *backend) Open(ctx context.Context, o cli.Open) (*cli.Engine, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, err
	}
	floor := slog.LevelWarn // a command prints its own lines, and at once what goes wrong beside them
	if o.Verbose {
		floor = slog.LevelDebug
	}
	log := logger(c, os.Stderr, floor)
	start := func(app *App) (end func(time.Duration), err error) { return func(time.Duration) {}, app.Start(ctx) }
	if o.Flags.Changed("store") { // it names a file, wherever the store is else
		c.StoreBackend = backendSQLite
	}
	if served, err := onSocket(c); err == nil && c.StoreBackend == backendSQLite {
		c, start = served, func(app *App) (func(time.Duration), error) { return app.startOnSocket(ctx) }
	}
	app, err := New(ctx, c, Parts{Log: log})
	if err != nil {
		return nil, err
	}
	end, err := start(app)
	if err != nil {
		return nil, errors.Join(err, app.Close(context.WithoutCancel(ctx), 0))
	}
	stop := b.killSwitch(app)
	var attached func() int // nobody finds an engine without a socket
	if app.api != nil {
		attached = app.api.Readers
	}
	return &cli.Engine{
		Attached:  attached,
		Namespace: c.NamespaceDefault, Runs: app.Runs, Authoring: app.Authoring, Transcripts: app.Transcripts,
		Running: app.dispatcher.Running,
		Close: func(ctx context.Context, grace time.Duration) error {
			defer stop()
			end(grace)
			return app.Close(ctx, grace)
		},
	}, nil
}

// killSwitch ends all commands when the second signal comes.
func (b *backend) killSwitch(app *App) (stop func()) {
	return beside(func(done <-chan struct{}) {
		select {
		case <-done:
		case <-b.kill:
			app.Kill()
		}
	})
}

// beside runs loop until stop, which waits for it.
func beside(loop func(done <-chan struct{})) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() { loop(done) })
	return func() { close(done); wait.Wait() }
}

// Serve implements cli.Backend.
func (b *backend) Serve(ctx context.Context, o cli.Open, ready func(cli.Listening) bool) (err error) {
	began := time.Now()
	c, err := b.load(o)
	if err != nil {
		return err
	}
	floor := slog.LevelDebug
	if term.IsTerminal(int(os.Stderr.Fd())) && !o.Verbose {
		floor = slog.LevelWarn // the banner says what a person needs
	}
	log, setLevel := leveled(c, os.Stderr, floor)
	alive := func() { _ = b.manager.Alive() } // one that does not listen is told of at the start
	app, err := New(ctx, c, Parts{Log: log, Alive: alive})
	if err != nil {
		return err
	}
	defer b.killSwitch(app)()
	defer func() {
		if unkept := app.Close(context.WithoutCancel(ctx), c.DrainTimeout); unkept != nil {
			err = errors.Join(err, &cli.UncleanError{Err: unkept})
		}
	}()
	host, err := app.Host() //nolint:contextcheck // a request brings its own context
	if err != nil {
		return err
	}
	defer host.Close()
	addr, err := host.Listen(ctx)
	if err != nil {
		return cannotListen(c.ServerListen, err)
	}
	if err := app.serves(app.reached(addr)); err != nil {
		return err
	}
	if err := app.Start(ctx); err != nil {
		return err
	}
	l := listening(c, addr)
	l.Store, l.Recovered, l.Took, l.Warnings = app.storeName(), app.Lost, time.Since(began), app.warnings()
	announce(log, c, localURL(c, addr), l, ready(l))
	b.announce(log, l)
	defer b.tellsStop(ctx, app, c.DrainAnnounce+c.DrainTimeout)()
	defer b.reloads(ctx, o, app, setLevel)()
	if err := app.listen(ctx, host, c.DrainTimeout); err != nil && context.Cause(ctx) == nil {
		return err
	}
	return nil
}

// listening tells where and to whom a server answers. Who listens on every address of a machine is reached by each of
// them; this machine's own stands for all.
func listening(c Config, addr net.Addr) cli.Listening {
	l := cli.Listening{Version: version, URL: localURL(c, addr), Auth: c.AuthMode, Reachable: !loopbackAddr(addr), MCP: c.MCPEnabled}
	if c.ServerPublicURL != "" {
		l.URL = c.ServerPublicURL
	}
	return l
}

// reached is how those who look for this server reach it: other machines by its public name, and everybody when it serves
// TLS under that name, because it is the one that the certificate proves.
func (a *App) reached(addr net.Addr) string {
	public := a.Config.ServerPublicURL
	if public != "" && (a.others.shared || a.Config.TLSCertFile != "" && strings.HasPrefix(public, "https:")) {
		return public
	}
	return localURL(a.Config, addr)
}

// localURL is how a process of this machine reaches addr.
func localURL(c Config, addr net.Addr) string {
	scheme := "http://"
	if c.TLSCertFile != "" {
		scheme = "https://"
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("%s127.0.0.1:%d", scheme, tcp.Port)
	}
	return scheme + addr.String()
}

// listen serves until ctx ends and the running attempts have, or the grace is over: while a server drains it can be read, signalled
// and asked, and takes nothing new. Whoever looks for the owner of the store is not sent to a listener that has gone: the address is
// taken back before it closes.
func (a *App) listen(ctx context.Context, host *web.Host, grace time.Duration) error {
	serving, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer beside(func(done <-chan struct{}) {
		select {
		case <-ctx.Done():
			host.Ending()
			a.announceEnd(done)
			a.shown.become(stateDraining)
			a.api.Drain()
			a.log.Info("draining", "timeout", grace.String(), "attempts", a.dispatcher.Running())
			_ = a.drain(serving, grace) // Close tells what was not kept
		case <-done:
			a.api.Drain()
		}
		if err := a.serves(""); err != nil {
			a.log.Warn("the address of this server cannot be taken back", "error", err)
		}
		end(context.Cause(ctx))
	})()
	return host.Run(serving)
}

// announceEnd gives whoever balances load the time to see that this server is unready; all is served meanwhile.
func (a *App) announceEnd(done <-chan struct{}) {
	if a.Config.DrainAnnounce <= 0 {
		return
	}
	a.log.Info("unready, and draining soon", "announce", a.Config.DrainAnnounce.String())
	select {
	case <-done:
	case <-a.clock.After(a.Config.DrainAnnounce):
	}
}

func announce(log *slog.Logger, c Config, local string, l cli.Listening, shown bool) {
	file := c.File
	if file == "" {
		file = "none"
	}
	log.Info("serving", "version", l.Version, "url", local, "mcp", l.URL+"/mcp", "store", l.Store, "auth_mode", c.AuthMode,
		"listen", c.ServerListen, "reachable", l.Reachable, "config_file", file, "lost_attempts", l.Recovered, "took_ms", l.Took.Milliseconds())
	if shown {
		return
	}
	for _, text := range l.Warnings {
		log.Warn("configuration", "warning", text)
	}
}

func (a *App) warnings() []string {
	list := slices.Concat(a.Config.Ignored, a.Config.Exposed, a.expiring())
	if a.Config.AuthAllowInsecure {
		list = append(list, "auth.allow_insecure is set: whoever reaches the port is the operator")
	}
	if a.Config.StoreUnsafeNoFsync {
		list = append(list, "store.unsafe_no_fsync is set: a power cut may lose acknowledged work")
	}
	if a.Config.StoreUnsafeNetworkFS {
		list = append(list, "store.unsafe_network_fs is set: on a network file system two servers may own one store")
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
	a.keys, a.live.entrance = e.keys, e
	if e.keys != nil {
		a.registry.WatchKeys(e.keys.Age)
	}
	hosts, err := web.NewHosts(publicHost(c.ServerPublicURL), c.ServerAllowedHosts)
	if err != nil {
		return nil, err
	}
	origins, err := web.NewOrigins("mcp.allowed_origins", c.MCPAllowedOrigins)
	if err != nil {
		return nil, err
	}
	pages, err := web.NewOrigins("server.cors_allowed_origins", c.ServerCORSOrigins)
	if err != nil {
		return nil, err
	}
	a.live.hosts, a.live.origins, a.live.pages = hosts, origins, pages
	health := web.NewHealth(a.checks()...)
	if a.live.certificate, err = certificate(c); err != nil {
		return nil, err
	}
	host := web.New(web.Config{
		Listen: c.ServerListen, Build: version + " " + commit, Hosts: hosts, Origins: pages, Details: a.details(e),
		Certificate: a.live.certificate, LeastTLS: leastTLS(c), Alive: a.alive, Meter: a.registry,
	}, health, a.ids, a.log)
	a.registry.WatchProcess(a.process(health))
	if e.resource != nil {
		e.resource.Mount(host.Router())
	}
	showMetrics(host.Router(), a.registry, e.callers)
	a.api = httpapi.New(httpapi.Options{
		Runs: a.Runs, Transcripts: a.Transcripts, Authoring: a.Authoring, Namespaces: a.Namespaces,
		Deployments: a.catalogue, Schedules: a.schedules, Tasks: a.tasks, Workers: a.workers, Queues: a.queues, Trail: a.trail, Backups: a.newBackups(), Server: a.tells(),
		Callers: e.callers, Hosts: hosts, Origins: pages, Clock: a.clock, Log: a.log, Audit: a.trail.Refused, URL: c.ServerPublicURL,
		Limits: httpapi.Limits{
			BodyBytes: c.APIMaxBodyBytes, RequestTimeout: c.APIRequestTimeout, RatePerSecond: c.APIRatePerSecond, RateBurst: c.APIRateBurst,
			Heartbeat: c.APISSEHeartbeat, Streams: c.APIMaxStreams, StreamsPerSubject: c.APIMaxStreamsPerSubject,
		},
	})
	a.api.Mount(host.Router())
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
			Meter: a.registry, Audit: a.trail.Refused, Tasks: a.tasks, PollInterval: time.Duration(c.MCPTaskPollIntervalMS) * time.Millisecond,
		})
	if err != nil {
		return nil, fmt.Errorf("the tool catalogue: %w", err)
	}
	a.live.endpoint = endpoint
	mcp.Mount(host.Router(), mcpPath, endpoint)
	return host, nil
}

// details decides who is told more than the status by a probe: whoever has a credential where callers need one.
func (a *App) details(e entrance) func(*http.Request) bool {
	if a.Config.AuthMode == modeOff {
		return nil
	}
	return func(r *http.Request) bool {
		if r.Header.Get("Authorization") == "" {
			return false
		}
		_, err := e.callers.Caller(r)
		return err == nil
	}
}

// checks are the conditions of readiness.
func (a *App) checks() []web.Check {
	return append(a.storeChecks(), a.actionChecks()...)
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

// audit opens the audit log of the local store.
func (b *backend) audit(ctx context.Context, o cli.Open) (*cli.Audit, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, err
	}
	a := &App{Config: c, clock: system.Clock{}, registry: metrics.New(), instance: system.IDs{}.UUIDv7()}
	st, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	return &cli.Audit{
		Records: st.AuditRecords, Close: a.closeStore,
		Verify: func(ctx context.Context) (*domain.AuditTrail, error) { return audit.Verify(ctx, st) },
	}, nil
}

// Configuration implements cli.Backend.
func (b *backend) Configuration(o cli.Open) ([]cli.Setting, []string, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, nil, err
	}
	return settings(c), append(append([]string{}, c.Ignored...), c.Exposed...), nil
}

// ConfigFile implements cli.Backend.
func (b *backend) ConfigFile() string { return configFile() }
