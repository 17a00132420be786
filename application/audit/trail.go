// Package audit keeps the trail of this process: its chain of records begins and ends here, and refusals that come again
// and again are counted instead of recorded. The records of changes go their own way, with the change (ports.AuditLog).
package audit

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"aion/domain"
	"aion/ports"
)

// Deps is what the trail needs.
type Deps struct {
	Log    ports.AuditLog
	Chain  string // names this process
	Expiry Expiry // zero: records stay for ever
	Clock  ports.Clock
	Logger *slog.Logger
}

// The refusals that are recorded of one caller or address and code in a minute; further ones are counted. Beyond so many
// callers all others are counted together.
const (
	perMinute   = 10
	maxRefusers = 10_000
	headsEvery  = time.Hour
	// patience bounds the writing of one record: what it is about has happened, and somebody waits for the answer.
	patience = 5 * time.Second
)

// Trail writes the records that come with no change. It is safe for concurrent use.
type Trail struct {
	Deps

	keep atomic.Int64

	mu     sync.Mutex
	counts map[refuser]*refused
}

// refuser is who was refused, and with what.
type refuser struct {
	who, remote string
	code        domain.Code
}

// refused counts the refusals of a minute.
type refused struct {
	last  domain.AuditRecord
	told  int // recorded one by one
	count int // not yet recorded
}

// New gives a trail.
func New(d Deps) *Trail {
	t := &Trail{Deps: d, counts: map[refuser]*refused{}}
	t.Keep(d.Expiry.Keep)
	return t
}

func system(action string) domain.AuditRecord {
	return domain.AuditRecord{Subject: "server", Surface: "system", Action: action, Outcome: domain.AuditOK}
}

// Begin starts the chain of this process. Nothing is changed before.
func (t *Trail) Begin(ctx context.Context) error {
	return t.Log.BeginAudit(ctx, t.Chain, system("server.start"))
}

// Record writes a record of something that stands in no store.
func (t *Trail) Record(ctx context.Context, r domain.AuditRecord) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return t.Log.Audit(ctx, r)
}

// Reloaded writes the record of a reload of the configuration: the names of the keys that were taken over.
func (t *Trail) Reloaded(ctx context.Context, keys []string) {
	r := system("config.reload")
	r.Detail = domain.AuditDetail(map[string]any{"keys": keys})
	t.must(ctx, r)
}

// Refused writes the record of a refusal, or counts it when there were many of the kind. A store that cannot keep it is
// the operator's to mend: nothing was changed.
func (t *Trail) Refused(ctx context.Context, r domain.AuditRecord) {
	r.Outcome = domain.AuditRefused
	if t.admit(r) {
		t.must(ctx, r)
	}
}

// must writes a record about which nothing can be done when it cannot be written.
func (t *Trail) must(ctx context.Context, r domain.AuditRecord) {
	if err := t.Record(ctx, r); err != nil {
		t.Logger.LogAttrs(ctx, slog.LevelError, "an audit record could not be written", slog.String("action", r.Action),
			slog.String("request_id", r.RequestID), slog.Any("error", err))
	}
}

func (t *Trail) admit(r domain.AuditRecord) bool {
	key := refuser{who: r.Mode + ":" + r.Subject, code: r.Code}
	if r.Subject == "" {
		key.who, key.remote = "", host(r.Remote)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts[key]
	if c == nil && len(t.counts) >= maxRefusers {
		key = refuser{code: r.Code}
		r.Subject, r.Remote, r.RequestID = "", "", ""
		if c = t.counts[key]; c == nil {
			c = &refused{told: perMinute}
			t.counts[key] = c
		}
	}
	if c == nil {
		c = &refused{}
		t.counts[key] = c
	}
	if c.told < perMinute {
		c.told++
		return true
	}
	c.last = r
	c.count++
	return false
}

// Run records every minute what was only counted in it, and logs the heads every hour, so that a log kept elsewhere
// anchors them. It returns the cause of ctx.
func (t *Trail) Run(ctx context.Context) error {
	heads := t.Clock.Now().Add(headsEvery)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.Clock.After(time.Minute):
		}
		t.flush(ctx)
		if !t.Clock.Now().Before(heads) {
			t.logHeads(ctx)
			heads = heads.Add(headsEvery)
			t.expire(ctx)
		}
	}
}

// flush ends the minute.
func (t *Trail) flush(ctx context.Context) {
	t.mu.Lock()
	counts := t.counts
	t.counts = map[refuser]*refused{}
	t.mu.Unlock()
	for _, c := range counts {
		if c.count > 0 {
			c.last.Detail = domain.AuditDetail(map[string]any{"count": c.count})
			t.must(ctx, c.last)
		}
	}
}

// End records the stop of the process and logs where its chain ends.
func (t *Trail) End(ctx context.Context) {
	t.flush(ctx)
	t.must(ctx, system("server.stop"))
	t.logHeads(ctx)
}

func (t *Trail) logHeads(ctx context.Context) {
	heads, err := t.Log.AuditHeads(ctx)
	if err != nil {
		t.Logger.LogAttrs(ctx, slog.LevelError, "the heads of the audit log cannot be read", slog.Any("error", err))
	}
	for _, head := range heads {
		t.Logger.LogAttrs(ctx, slog.LevelInfo, "audit head", slog.String("chain", head.Chain), slog.Int64("n", head.N), slog.String("hash", head.Hash))
	}
}

// page is how many records are read at a time.
const page = 1000

// Verify reads the whole log and holds every record against its chain. The refusal (AuditBroken) names the first one that
// does not hold; the trail counts what did.
func Verify(ctx context.Context, log ports.AuditLog) (trail *domain.AuditTrail, err error) {
	trail = &domain.AuditTrail{}
	err = each(ctx, log, func(r domain.AuditRecord) error { trail.Cut(r); return nil })
	if err == nil {
		err = each(ctx, log, trail.Add)
	}
	return trail, err
}

// each gives every record, in the order of adding.
func each(ctx context.Context, log ports.AuditLog, record func(domain.AuditRecord) error) error {
	for after := int64(0); ; {
		records, err := log.AuditRecords(ctx, after, page)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := record(r); err != nil {
				return err
			}
			after = r.Seq
		}
		if len(records) < page {
			return nil
		}
	}
}

// host is an address without its port: the next request of the same client comes from another.
func host(address string) string {
	if ap, err := netip.ParseAddrPort(address); err == nil {
		return ap.Addr().Unmap().String()
	}
	return address
}
