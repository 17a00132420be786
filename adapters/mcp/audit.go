package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"aion/adapters/web"
	"aion/domain"
	"aion/ports"
)

// outcomeOK is the outcome of a call that was served, in audit records and metrics.
const outcomeOK = "ok"

// auditTimeout bounds the writing of one record; the call that it is about has happened.
const auditTimeout = 5 * time.Second

// audit records an attempt to change something, before its answer is sent. A store that cannot keep the record is the
// operator's to mend: what was done is done.
func (x *exchange) audit(ctx context.Context, action, namespace, target, outcome string) {
	if x.Audit == nil {
		return
	}
	now := time.Now()
	if outcome != outcomeOK && !x.refusals.admit(x.caller.Owner()+" "+outcome, now) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	err := x.Audit.Audit(ctx, ports.AuditRecord{
		At: now.UTC(), Subject: x.caller.Subject, Mode: x.caller.Mode, Source: x.caller.Source, Surface: "mcp", Action: action,
		Namespace: domain.Quote(namespace, 128), Target: domain.Quote(target, 240), Outcome: outcome, RequestID: web.RequestID(x.r),
	})
	if err != nil {
		x.Log.LogAttrs(ctx, slog.LevelError, "an audit record could not be written", slog.String("request_id", x.reference()),
			slog.String("action", action), slog.Any("error", err))
	}
}

// The refusals that are recorded of one caller and code: what is refused again and again must not fill the store.
const (
	refusalsPerMinute = 10
	maxRefusers       = 10_000
)

// refusals bounds the audit records of refused calls.
type refusals struct {
	mu     sync.Mutex
	minute time.Time
	counts map[string]int
}

func (r *refusals) admit(key string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(r.minute) {
		r.minute, r.counts = minute, map[string]int{}
	}
	if r.counts[key] >= refusalsPerMinute || len(r.counts) >= maxRefusers && r.counts[key] == 0 {
		return false
	}
	r.counts[key]++
	return true
}
