package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"aion/domain"
	"aion/ports"
)

// The limits of server 1.13 that no key changes.
const (
	maxHeaderBytes    = 64 << 10
	maxURLBytes       = 8 << 10
	readHeaderTimeout = 10 * time.Second
	// requestTimeout bounds headers and body together; ReadBody and NewStream lift it when the request is read.
	requestTimeout = readHeaderTimeout + bodyTimeout
	idleTimeout    = 120 * time.Second
	// answerTimeout is how long an answer may take from the request's headers on. Handlers that take longer by right move
	// the deadline of their own connection.
	answerTimeout = 60 * time.Second
	// shutdownTimeout bounds the end of requests that are still served when Run is told to stop.
	shutdownTimeout = 10 * time.Second
)

// Config is what an operator decides about the host.
type Config struct {
	Listen         string          // host:port, or unix:/path; port 0 takes any free one
	MaxConnections int             // at once; at this number accept waits; 0: 10,000
	Build          string          // version and commit, in x-aion-build on every answer
	Hosts          Hosts           // names under which the server may be addressed
	Origins        *Origins        // browser origins of every route that has no list of its own; nil: none
	Meter          ports.HTTPMeter // nil: nothing is counted
	Certificate    *Certificate    // serves TLS, with HTTP/2; nil: plain HTTP
	LeastTLS       uint16          // the oldest TLS version that is spoken; 0: 1.2
	Alive          func()          // called about once a second while the process is alive; it must not wait. nil: nobody asks
	// Details says whose probes are told the checks besides the status; nil: everybody's.
	Details func(*http.Request) bool
}

// Host is the HTTP server. Routes are added to Router before Run; afterwards they are fixed.
type Host struct {
	cfg    Config
	log    *slog.Logger
	health *Health
	engine *gin.Engine

	mu       sync.Mutex
	listener net.Listener
}

// New builds the host with its middleware, its probes and its answers for unknown paths and methods.
func New(cfg Config, health *Health, ids ports.IDs, log *slog.Logger) *Host {
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = 10_000
	}
	gin.SetMode(gin.ReleaseMode) // the debug mode writes to standard output
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.HandleMethodNotAllowed = true
	_ = engine.SetTrustedProxies(nil) // an empty list cannot be malformed
	h := &Host{cfg: cfg, log: log, health: health, engine: engine}
	engine.Use(identify(cfg.Build, ids), measure(cfg.Meter), record(log), recovered(log), boundedURL)
	engine.NoRoute(Guard(cfg.Hosts, cfg.Origins), NoRoute)
	engine.NoMethod(Guard(cfg.Hosts, cfg.Origins), noMethod)
	health.mount(engine, cfg.Details)
	return h
}

// Router is where route adapters mount themselves. Every request passes the host's middleware first; Guard is not part
// of it, because routes differ in the origins that they admit.
func (h *Host) Router() *gin.Engine { return h.engine }

// ServeHTTP serves one request without a listener, for tests and in-process callers.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.engine.ServeHTTP(w, r) }

// Listen opens the listener and returns its address. Run does it when nobody has.
func (h *Host) Listen(ctx context.Context) (net.Addr, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener != nil {
		return h.listener.Addr(), nil
	}
	inner, err := listen(ctx, h.cfg.Listen)
	if err != nil {
		return nil, err
	}
	h.listener = newBounded(inner, h.cfg.MaxConnections)
	return h.listener.Addr(), nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	path, isSocket := strings.CutPrefix(address, "unix:")
	if !isSocket {
		l, err := lc.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
		return l, nil
	}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make socket private: %w", err), l.Close())
	}
	return l, nil
}

// Close gives up a listener that Run has not taken; after Run it does nothing.
func (h *Host) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener != nil {
		_ = h.listener.Close() // one that is closed already has nothing to tell
	}
}

// Run serves until ctx ends, then lets open requests finish for a bounded time and closes what is left. It returns nil
// after such an end, and the listener's error otherwise.
func (h *Host) Run(ctx context.Context) error {
	if _, err := h.Listen(ctx); err != nil {
		return err
	}
	server := &http.Server{
		Handler:           h.engine,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	var group sync.WaitGroup
	defer group.Wait()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	group.Go(func() { h.health.watch(watching, h.cfg.Alive) })
	group.Go(func() {
		<-watching.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // what still runs after the grace is cut; there is nobody to tell
		}
	})
	if err := h.serve(server); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", h.cfg.Listen, err)
	}
	return nil
}

func (h *Host) serve(server *http.Server) error {
	if h.cfg.Certificate == nil {
		return server.Serve(h.listener)
	}
	server.TLSConfig = h.cfg.Certificate.config(h.cfg.LeastTLS)
	return server.ServeTLS(h.listener, "", "")
}

// Ending makes the server unready, while it still serves: whoever balances load sends it nothing new.
func (h *Host) Ending() { h.health.end() }

// NoRoute answers that there is nothing at the path.
func NoRoute(c *gin.Context) {
	WriteProblem(c.Writer, c.Request, http.StatusNotFound, &domain.Error{
		Code: domain.CodeNotFound, Type: "RouteNotFound",
		Message: "there is nothing at this path; paths match exactly, without a trailing slash",
	})
}

func noMethod(c *gin.Context) {
	WriteProblem(c.Writer, c.Request, http.StatusMethodNotAllowed, &domain.Error{
		Code: domain.CodeInvalidInput, Type: "MethodNotAllowed",
		Message: fmt.Sprintf("this path does not serve %s; it serves %s", domain.Quote(c.Request.Method, 32), c.Writer.Header().Get("Allow")),
	})
}
