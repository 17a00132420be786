package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"aion/adapters/web"
	"aion/application/tasks"
	"aion/domain"
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
	Meter         ports.Meter                               // nil: nothing is counted
	Audit         func(context.Context, domain.AuditRecord) // of refused calls; nil: nothing is kept
	Tasks         *tasks.Service                            // nil: the route has no tasks and does not advertise them
	PollInterval  time.Duration                             // how often clients should ask for a task; 0: 1 s
}

// Endpoint serves one catalogue. It keeps nothing between two requests but the rates of callers, and is safe for concurrent
// use.
type Endpoint struct {
	catalogue *compiled
	service   Service
	rates     *web.Rates
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
	if o.PollInterval == 0 {
		o.PollInterval = time.Second
	}
	if o.Meter == nil {
		o.Meter = unmetered{}
	}
	for _, t := range catalogue.tools {
		if o.Tasks == nil && (t.deferred || t.awaits != "") {
			return nil, fmt.Errorf("catalogue: calls of %s become tasks, and the route has none", t.name)
		}
	}
	return &Endpoint{catalogue: catalogue, service: service, rates: web.NewRates("tool calls", o.RatePerSecond, o.RateBurst), Options: o}, nil
}

// ChangeRates takes other bounds of tool calls over from the next call on.
func (e *Endpoint) ChangeRates(perSecond, burst int) { e.rates.Change(perSecond, burst) }

// ServeHTTP answers one request. The checks stand in the order of mcp 1.6: the first that fails decides the answer.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Endpoint: e, w: w, r: r}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	defer x.metered()
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
