package httpapi

import (
	"context"
	"log/slog"
	"time"

	"aion/adapters/web"
	"aion/application/audit"
	"aion/application/authoring"
	"aion/application/backups"
	"aion/application/deployments"
	"aion/application/namespaces"
	"aion/application/queues"
	"aion/application/runs"
	"aion/application/schedules"
	"aion/application/tasks"
	"aion/application/transcripts"
	"aion/application/workers"
	"aion/domain"
	"aion/ports"
)

// prefix is where every path of a route begins.
const prefix = "/api/v1"

// Limits bound requests and streams; Options says what a zero member is.
type Limits struct {
	BodyBytes         int64         // of one request: 4 MiB
	RequestTimeout    time.Duration // of one request that is no stream: 30 s
	RatePerSecond     int           // requests of one caller; 0: no limit
	RateBurst         int
	Heartbeat         time.Duration // of a silent stream: 15 s
	Streams           int           // at once, exports among them: 2,000
	StreamsPerSubject int           // 64
}

// Options is what the API stands on.
type Options struct {
	Runs        *runs.Service
	Transcripts *transcripts.Service
	Authoring   *authoring.Service
	Namespaces  *namespaces.Service
	Deployments *deployments.Service
	Schedules   *schedules.Service
	Tasks       *tasks.Service
	Workers     *workers.Service
	Queues      *queues.Service
	Trail       *audit.Trail
	Backups     *backups.Service
	Server      Server

	Callers web.Callers
	Hosts   web.Hosts
	Origins *web.Origins // foreign browser origins that may call; nil: none
	Clock   ports.Clock
	Log     *slog.Logger
	Audit   func(context.Context, domain.AuditRecord) // of refused grants and changes; nil: nothing is kept
	URL     string                                    // of the server, in its document
	Limits  Limits
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	Options
	rates       *web.Rates
	streams     *streams
	turns       *turns
	description description
	serving     context.Context //nolint:containedctx // of streams and of what waits: it ends with Drain
	end         context.CancelFunc
}

// New makes the API.
func New(o Options) *API {
	l := &o.Limits
	if l.BodyBytes <= 0 {
		l.BodyBytes = 4 << 20
	}
	if l.RequestTimeout <= 0 {
		l.RequestTimeout = 30 * time.Second
	}
	if l.Heartbeat <= 0 {
		l.Heartbeat = 15 * time.Second
	}
	if l.Streams <= 0 {
		l.Streams = 2000
	}
	if l.StreamsPerSubject <= 0 {
		l.StreamsPerSubject = 64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{
		Options: o, rates: web.NewRates("requests", l.RatePerSecond, l.RateBurst),
		streams: newStreams(l.Streams, l.StreamsPerSubject), turns: newTurns(), description: newDescription(o.URL),
	}
	a.serving, a.end = context.WithCancel(context.Background()) //nolint:forbidigo // of no request
	return a
}

// ChangeRates takes other rates over from the next request on.
func (a *API) ChangeRates(perSecond, burst int) { a.rates.Change(perSecond, burst) }

// Drain tells every reader of a stream that the server stops, and ends the streams and what waits for an outcome.
func (a *API) Drain() { a.end() }
