package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"aion/domain"
)

// Client sends the requests of one command. It is safe for concurrent use.
type Client struct {
	target Target
	place  place
	http   *http.Client
}

const (
	dialTimeout = 5 * time.Second
	maxAnswer   = 32 << 20 // a page ends before 4 MiB; one event or one value may be larger
	base        = "/api/v1"
)

// New is a client of one server. It refuses a URL that is none, and a token that others could read.
func New(t Target) (*Client, error) {
	p, err := locate(t.URL)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(sendable(t), p.admits(t)); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: t.RootCAs, MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.SkipVerify}, //nolint:gosec // asked for, and never with a token
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		DialContext:         dialer.DialContext,
	}
	if p.socket == "" {
		transport.Proxy = http.ProxyFromEnvironment // never for loopback addresses
	} else {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", p.socket)
		}
	}
	return &Client{target: t, place: p, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Server is the server as a person would name it.
func (c *Client) Server() string { return c.place.shown }

// Request is one call. Path stands behind /api/v1 and is already escaped.
type Request struct {
	Method string // empty: GET
	Path   string
	Root   bool // Path stands behind the server's address instead
	Query  url.Values
	Body   []byte // JSON, unless Media says otherwise; nil: none
	Media  string
	Accept string            // empty: application/json
	Header map[string]string // such as If-Match
	// Patience is the longest silence when this one may last longer than others; 0: the target's.
	Patience time.Duration
}

// Answer is an accepted request.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Expires time.Time // the certificate of the server; zero without TLS
}

// Do sends a request and reads its answer whole. Any other answer than a success is the refusal that it holds.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	a, err := c.Ask(ctx, r)
	if err == nil && (a.Status < 200 || a.Status > 299) {
		return Answer{}, c.refusal(a)
	}
	return a, err
}

// Ask is Do that takes every answer for one, whatever its status.
func (c *Client) Ask(ctx context.Context, r Request) (Answer, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	res, quiet, err := c.send(ctx, r, end)
	if err != nil {
		return Answer{}, err
	}
	defer quiet.Stop()
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(&heard{r: res.Body, quiet: quiet, patience: c.patience(r)}, maxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, c.noAnswer(ctx, err)
	case len(body) > maxAnswer:
		return Answer{}, c.strange(fmt.Sprintf("gives an answer of more than %d MiB", maxAnswer>>20))
	}
	a := Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	if res.TLS != nil && len(res.TLS.PeerCertificates) > 0 {
		a.Expires = res.TLS.PeerCertificates[0].NotAfter
	}
	return a, nil
}

func (c *Client) patience(r Request) time.Duration {
	if r.Patience > 0 {
		return r.Patience
	}
	return c.target.Patience
}

// send gives the response once its headers are there. The timer ends the request when nothing more is heard.
func (c *Client) send(ctx context.Context, r Request, end context.CancelCauseFunc) (*http.Response, *time.Timer, error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	quiet := time.AfterFunc(c.patience(r), func() { end(errSilent) })
	res, err := c.http.Do(req)
	if trace := c.target.Trace; trace != nil {
		e := Exchange{Method: req.Method, Path: req.URL.RequestURI(), Took: time.Since(began)}
		if err == nil {
			e.Status, e.RequestID = res.StatusCode, res.Header.Get("X-Request-Id")
		}
		trace(e)
	}
	if err != nil {
		quiet.Stop()
		return nil, nil, c.noAnswer(ctx, err)
	}
	return res, quiet, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	u := *c.place.base
	address := u.String() + base + r.Path
	if r.Root {
		address = u.String() + r.Path
	}
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, c.strange("cannot be asked for " + r.Path)
	}
	for name, value := range c.target.Header {
		req.Header.Set(name, value)
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	if c.target.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.target.Token)
	}
	req.Header.Set("Accept", orElse(r.Accept, "application/json"))
	if r.Body != nil {
		req.Header.Set("Content-Type", orElse(r.Media, "application/json"))
	}
	return req, nil
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

var errSilent = errors.New("the server is silent")

// noAnswer says why there is none.
func (c *Client) noAnswer(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errSilent):
		return c.away(fmt.Sprintf("the server at %s said nothing for too long", c.place.shown), errSilent)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT): // the latter of a socket
		return &domain.Error{Code: domain.CodeUnavailable, Type: "NoServer", Err: err, Message: fmt.Sprintf(
			"nobody serves at %s; start a server with `aion server`, or name another with --server", c.place.shown)}
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return &domain.Error{Code: domain.CodeUnavailable, Type: "CertificateRefused", Err: err, Message: fmt.Sprintf(
			"the certificate of %s is not trusted (%v); name its authority with --ca-file, or the server by the name that it proves with --server",
			c.place.shown, untrusted.Err)}
	}
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return c.away(fmt.Sprintf("the server at %s could not be asked: %v", c.place.shown, err), err)
}

func (c *Client) away(message string, cause error) error {
	return &domain.Error{Code: domain.CodeUnavailable, Type: "ServerAway", Message: message, Err: cause}
}

func (c *Client) strange(what string) error {
	return &domain.Error{Code: domain.CodeUnavailable, Type: "NoAionServer", Message: fmt.Sprintf(
		"the server at %s %s; is that an aion server?", c.place.shown, what)}
}

// heard is a body of which every part shows that the server is alive.
type heard struct {
	r        io.Reader
	quiet    *time.Timer
	patience time.Duration
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.quiet.Reset(h.patience)
	return n, err
}
