package bridge

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"aion/adapters/mcp"
)

// The bounds of one bridge. Beyond them calls are refused, so that its memory is bounded whatever the client sends.
const (
	maxLine     = 16 << 20 // of one message from the client
	maxAnswer   = 32 << 20 // of one message from the server
	maxCalls    = 256      // open at once
	maxHeld     = 64 << 20 // bytes of all open calls
	maxNesting  = 512
	lastWriting = time.Second // what an answer gets that the client does not read when everything else is over
)

// Target is one place to send calls to.
type Target struct {
	URL string // of the endpoint, http or https; unix:/path for a socket that serves it at /mcp
	// Header is sent with every request to this URL and nowhere else: the credential and the x-aion headers.
	Header http.Header
	// Credential is where the bearer comes from, for texts; empty: there is none.
	Credential string
}

// Options are what a bridge needs. All members but RootCAs and SkipVerify are required.
type Options struct {
	// Locate is asked before every call, so a server that moved is found. Its error is the refusal of the call.
	Locate func(ctx context.Context) (Target, error)
	// Fallback is the catalogue that is shown while the server cannot be asked.
	Fallback mcp.Catalogue
	RootCAs  *x509.CertPool // nil: the system's
	// SkipVerify takes any certificate. Whoever sets it sends no credential to another machine.
	SkipVerify bool
	// Patience is the longest silence of the server: before its answer begins, and between two parts of it.
	Patience time.Duration
	// Grace is what open calls get after the end of input.
	Grace time.Duration
	Log   *slog.Logger
}

// Bridge connects one client with one server. Run may be called once.
type Bridge struct {
	Options
	up    *upstream
	shown *shown
}

// New makes a bridge; nothing is connected until the first call.
func New(o Options) (*Bridge, error) {
	fallback, err := bundled(o.Fallback)
	if err != nil {
		return nil, err
	}
	up := newUpstream(o)
	return &Bridge{Options: o, up: up, shown: &shown{up: up, bundled: fallback, log: o.Log}}, nil
}

// Tools asks the server for its tool list: the JSON array of tools.
func (b *Bridge) Tools(ctx context.Context) ([]byte, error) {
	defer b.up.close()
	list, err := b.shown.ask(ctx, "tools/list")
	if err != nil {
		return nil, err
	}
	return member(list, "tools"), nil
}

// Bundled is the tool list of the fallback catalogue: the JSON array of tools.
func (b *Bridge) Bundled() []byte { return member(b.shown.bundled.list, "tools") }

// Run serves one message per line of in, and writes one per line to out and nothing else. It returns nil after the end of
// input, when open calls are answered or Grace is over; the cause of ctx when that ends first; and the error of out when
// it cannot be written. A read of in that blocks forever does not hold Run back.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer b.up.close()
	c := &conn{Bridge: b, out: &output{w: out, broken: stop}, open: map[string]context.CancelCauseFunc{}}
	lines := make(chan line) // unbuffered: reading waits for dispatch
	go readLines(ctx, in, lines)
	err := c.serve(ctx, lines)
	var calls sync.WaitGroup
	done := make(chan struct{})
	calls.Go(func() { c.calls.Wait(); close(done) })
	if err == nil && !within(ctx, done, b.Grace) {
		b.Log.Warn("calls were given up at the end of input", "grace", b.Grace.String())
	}
	stop(errEnded)
	within(context.WithoutCancel(ctx), done, lastWriting)
	if cause := c.out.failed(); cause != nil {
		return cause
	}
	return err
}

var (
	errEnded     = errors.New("the client ended the connection")
	errCancelled = errors.New("the client cancelled the call")
)

// within waits for done at most that long.
func within(ctx context.Context, done <-chan struct{}, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// serve takes lines until there are no more.
func (c *conn) serve(ctx context.Context, lines <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case l, ok := <-lines:
			if !ok || errors.Is(l.err, io.EOF) {
				return nil
			}
			if l.err != nil {
				return l.err
			}
			c.take(ctx, l)
		}
	}
}

// output writes whole lines from many calls.
type output struct {
	broken context.CancelCauseFunc // told once the stream cannot be written

	mu  sync.Mutex
	w   io.Writer
	err error
}

// send writes one message as a line. The message must hold no line break.
func (o *output) send(message []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if _, err := o.w.Write(append(message, '\n')); err != nil {
		o.err = err
		o.broken(err)
	}
}

// failed is why the stream cannot be written. It does not wait for a write that blocks.
func (o *output) failed() error {
	if !o.mu.TryLock() {
		return nil
	}
	defer o.mu.Unlock()
	return o.err
}
