package bridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"aion/adapters/web/jsontext"
)

// upstream is the server's side: one HTTP request per call.
type upstream struct {
	locate   func(context.Context) (Target, error)
	patience time.Duration
	client   *http.Client
}

const dialTimeout = 5 * time.Second

// socketHost ends the host names under which sockets are dialled; what stands before it is the path, in hex.
const socketHost = ".socket.invalid"

func newUpstream(o Options) *upstream {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &upstream{locate: o.Locate, patience: o.Patience, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,                                                                       // never for loopback addresses
			TLSClientConfig:     &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.SkipVerify}, //nolint:gosec // asked for, and never with a credential
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: dialTimeout,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, _ := strings.Cut(address, ":")
				if name, ok := strings.CutSuffix(host, socketHost); ok {
					path, err := hex.DecodeString(name)
					if err != nil {
						return nil, err
					}
					return dialer.DialContext(ctx, "unix", string(path))
				}
				return dialer.DialContext(ctx, network, address)
			},
		},
	}}
}

func (u *upstream) close() { u.client.CloseIdleConnections() }

// request is one message for the server, and what its headers repeat of it.
type request struct {
	method, name, version string
	body                  []byte
}

// post sends a request and reads its answer. Notifications that come before it go to notify. The error is a refusal: the
// server could not be asked, or did not answer as an MCP server does.
func (u *upstream) post(ctx context.Context, r request, notify func([]byte)) (answer, error) {
	a, gone, err := u.try(ctx, r, notify)
	if gone { // between being found and being asked; what took its place is found now
		a, _, err = u.try(ctx, r, notify)
	}
	return a, err
}

// try is one request; gone says that nobody listens where the server was found.
func (u *upstream) try(ctx context.Context, r request, notify func([]byte)) (a answer, gone bool, err error) {
	to, err := u.locate(ctx)
	if err != nil {
		return answer{}, false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(u.patience, func() { cancel(errSilent) })
	defer quiet.Stop()
	var sent atomic.Bool
	req, err := u.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}), to, r)
	if err != nil {
		return answer{}, false, err
	}
	res, err := u.client.Do(req)
	if err != nil {
		nobody := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) // the latter of a socket
		return answer{}, nobody && !sent.Load(), u.noAnswer(ctx, to, sent.Load(), err)
	}
	defer func() { _ = res.Body.Close() }()
	body := &heard{r: res.Body, quiet: quiet, patience: u.patience, left: maxAnswer}
	a, text, err := read(res, body, notify)
	switch {
	case errors.Is(err, errTooLarge):
		err = strange(to, "gives an answer of more than 32 MiB")
	case err != nil:
		err = u.noAnswer(ctx, to, sent.Load(), err)
	case a.empty():
		err = refused(to, res, text)
	}
	if err != nil {
		return answer{}, false, err
	}
	return a, false, nil
}

func (u *upstream) request(ctx context.Context, to Target, r request) (*http.Request, error) {
	address, host := to.URL, ""
	if path, ok := strings.CutPrefix(to.URL, "unix:"); ok {
		address, host = "http://"+hex.EncodeToString([]byte(path))+socketHost+"/mcp", "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.body))
	if err != nil {
		return nil, strange(to, "cannot be asked: this is no URL")
	}
	if host != "" {
		req.Host = host
	}
	for name, values := range to.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", headerValue(r.version))
	req.Header.Set("Mcp-Method", headerValue(r.method))
	if r.name != "" {
		req.Header.Set("Mcp-Name", headerName(r.name))
	}
	return req, nil
}

// headerValue is a value as HTTP can carry it. A method or version with other characters exists nowhere; the server says
// what is wrong with it.
func headerValue(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '?'
		}
		return r
	}, text)
}

// headerName is Mcp-Name: as it is when a header can carry it, else in Base64 (mcp 1.5).
func headerName(name string) string {
	plain := strings.TrimSpace(name) == name && headerValue(name) == name && !strings.HasPrefix(name, "=?base64?")
	if plain {
		return name
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
}

// read finds the answer in a response. When that is no MCP message the answer is empty, and text is what was said instead.
func read(res *http.Response, body io.Reader, notify func([]byte)) (a answer, text []byte, err error) {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == "text/event-stream" {
		a, err = readEvents(body, notify)
		return a, nil, err
	}
	text, err = io.ReadAll(body)
	if err == nil && media == "application/json" {
		a = answerOf(text)
	}
	return a, text, err
}

// answerOf takes a response message apart; a zero answer for anything else.
func answerOf(text []byte) answer {
	if jsontext.Check(text, maxNesting) != nil || member(text, "jsonrpc") == nil {
		return answer{}
	}
	if fault := member(text, "error"); jsontext.KindOf(fault) == jsontext.Object {
		return answer{fault: oneLine(fault)}
	}
	if result := member(text, "result"); jsontext.KindOf(result) == jsontext.Object {
		return answer{result: oneLine(result)}
	}
	return answer{}
}

var (
	errSilent   = errors.New("the server is silent")
	errTooLarge = errors.New("the answer is too large")
)

// heard is a bounded body of which every part shows that the server is alive.
type heard struct {
	r        io.Reader
	quiet    *time.Timer
	patience time.Duration
	left     int
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.quiet.Reset(h.patience)
	if h.left -= n; h.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
