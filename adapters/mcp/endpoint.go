package mcp

import (
	"log/slog"
	"net/http"
	"time"

	"aion/adapters/web"
	"aion/ports"
)

// Options are the settings of an endpoint (mcp 1.8) and what it needs from the host.
type Options struct {
	Origins       *web.Origins // browser origins; nil: none
	Hosts         web.Hosts
	Callers       web.Callers
	MaxBodyBytes  int64         // 0: 4,194,304
	CallTimeout   time.Duration // of one tool call; 0: 30 s
	RatePerSecond int           // tool calls per caller, not in mode off; 0: no limit
	RateBurst     int
	IDs           ports.IDs
	Log           *slog.Logger
}

// Endpoint serves one catalogue. It keeps nothing between two requests but the rates of callers, and is safe for
// concurrent use.
type Endpoint struct {
	catalogue *compiled
	service   Service
	rates     *rates
	Options
}

// NewEndpoint compiles the catalogue; a schema or name that clients could not use is an error.
func NewEndpoint(c Catalogue, service Service, o Options) (*Endpoint, error) {
	catalogue, err := compile(c)
	if err != nil {
		return nil, err
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = 4 << 20
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = 30 * time.Second
	}
	return &Endpoint{catalogue: catalogue, service: service, rates: newRates(o.RatePerSecond, o.RateBurst), Options: o}, nil
}

// ServeHTTP answers one request. The checks stand in the order of mcp 1.6: the first that fails decides the answer.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Endpoint: e, w: w, r: r}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	defer x.rescue()
	if !x.admitted() {
		return
	}
	var challenged bool
	if x.caller, challenged, x.refused = x.identify(); challenged {
		return
	}
	if f := x.receive(); f != nil {
		x.fail(f)
		return
	}
	if x.env.notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if f := x.agree(); f != nil {
		x.fail(f)
		return
	}
	if f := x.dispatch(r.Context()); f != nil {
		x.fail(f)
	}
}
