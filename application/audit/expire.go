package audit

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"aion/domain"
	"aion/ports"
)

// Expiry is how records go. The chain of a process goes whole once its last record is older than Keep (0: never), and never
// while the process may live: Living gives the chains of the others (nil: there are none), and fails when that is unknown. Mine
// tells whether this process is the one that removes; nil: it is.
type Expiry struct {
	Store  ports.AuditRetention
	Keep   time.Duration
	Living func(context.Context) ([]string, error)
	Mine   func() bool
}

// maxCut bounds the chains that go at a time.
const maxCut = 256

// Keep replaces how long records stay; 0: for ever.
func (t *Trail) Keep(d time.Duration) { t.keep.Store(int64(d)) }

// expire removes what is over; what fails is done the next time.
func (t *Trail) expire(ctx context.Context) {
	keep := time.Duration(t.keep.Load())
	if keep <= 0 || t.Expiry.Store == nil || t.Expiry.Mine != nil && !t.Expiry.Mine() {
		return
	}
	n, err := t.Expire(ctx, t.Clock.Now().Add(-keep))
	switch {
	case err != nil && ctx.Err() == nil:
		t.Logger.LogAttrs(ctx, slog.LevelWarn, "old audit records cannot be removed", slog.Any("error", err))
	case n > 0:
		t.Logger.LogAttrs(ctx, slog.LevelInfo, "old audit records removed", slog.Int("chains", n))
	}
}

// extent is a chain as the log holds it.
type extent struct {
	first, last int64 // by Seq
	head        domain.AuditHead
	at          time.Time          // of the last record
	names       []domain.AuditHead // that its first record names
	cuts        []domain.AuditHead // that its records say were removed
}

// Expire removes the chains whose last record is older than a time, and says how many those were. A record with their heads is
// written first; so the log holds at every moment in between.
func (t *Trail) Expire(ctx context.Context, before time.Time) (int, error) {
	chains, err := t.extents(ctx)
	if err != nil {
		return 0, err
	}
	var living []string
	if t.Expiry.Living != nil {
		if living, err = t.Expiry.Living(ctx); err != nil {
			return 0, err
		}
	}
	removed, named := map[string]int64{}, map[domain.AuditHead]bool{}
	var over []*extent
	for _, x := range chains {
		for _, head := range x.cuts {
			removed[head.Chain] = max(removed[head.Chain], head.N)
		}
	}
	var again []*extent // that an earlier removal has left
	for _, x := range chains {
		switch {
		case x.head.N <= removed[x.head.Chain]:
			again = append(again, x)
		case len(over) < maxCut && x.at.Before(before) && x.head.Chain != t.Chain && !slices.Contains(living, x.head.Chain):
			over = append(over, x)
		default:
			for _, head := range x.names {
				named[head] = true
			}
		}
	}
	if len(over) > 0 {
		r := system(domain.AuditCut)
		r.Detail = domain.AuditDetail(map[string]any{"heads": left(over, named)})
		if err := t.Record(ctx, r); err != nil {
			return 0, err
		}
	}
	for _, x := range append(again, over...) {
		if err := t.Expiry.Store.DropAudit(ctx, x.head.Chain, x.first, x.last); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}

// left are the heads that the log keeps of chains that go: their own, and those of earlier removals that others still name.
func left(over []*extent, named map[domain.AuditHead]bool) []domain.AuditHead {
	var heads []domain.AuditHead
	for _, x := range over {
		heads = append(heads, x.head)
		for _, head := range x.cuts {
			if named[head] {
				heads = append(heads, head)
			}
		}
	}
	slices.SortFunc(heads, func(a, b domain.AuditHead) int { return strings.Compare(a.Chain, b.Chain) })
	return slices.Compact(heads)
}

// extents reads the log, and gives its chains in the order of their first records.
func (t *Trail) extents(ctx context.Context) ([]*extent, error) {
	var chains []*extent
	by := map[string]*extent{}
	err := each(ctx, t.Log, func(r domain.AuditRecord) error {
		x := by[r.Chain]
		if x == nil {
			x = &extent{first: r.Seq}
			by[r.Chain], chains = x, append(chains, x)
		}
		x.last, x.head, x.at = r.Seq, r.Head(), r.At
		if r.N != 1 && r.Action != domain.AuditCut {
			return nil
		}
		heads, err := r.Heads()
		if r.N == 1 {
			x.names = heads
		} else {
			x.cuts = append(x.cuts, heads...)
		}
		return err
	})
	return chains, err
}
