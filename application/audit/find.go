package audit

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/access"
)

// Filter selects records. Zero members do not filter; From is inclusive, To is not.
type Filter struct {
	From, To                           time.Time
	Subject, Action, Namespace, Target string
	Outcome                            string
}

func (f Filter) admits(r domain.AuditRecord) bool {
	for _, c := range [][2]string{
		{f.Subject, r.Subject}, {f.Action, r.Action}, {f.Namespace, r.Namespace}, {f.Target, r.Target}, {f.Outcome, r.Outcome},
	} {
		if c[0] != "" && c[0] != c[1] {
			return false
		}
	}
	return !r.At.Before(f.From) && (f.To.IsZero() || r.At.Before(f.To))
}

// Find gives at most limit records after a place of the log, oldest first; it needs the deploy grant. more tells that others
// follow. It reads the log from after on, so a rare record may take the time of all of them.
func (t *Trail) Find(ctx context.Context, who access.Caller, f Filter, after int64, limit int) (list []domain.AuditRecord, more bool, err error) {
	if err := who.MayDeploy(); err != nil {
		return nil, false, err
	}
	for {
		records, err := t.Log.AuditRecords(ctx, after, page)
		if err != nil {
			return nil, false, err
		}
		for _, r := range records {
			after = r.Seq
			if !f.admits(r) {
				continue
			}
			if len(list) == limit {
				return list, true, nil
			}
			list = append(list, r)
		}
		if len(records) < page {
			return list, false, nil
		}
	}
}

// Check is Verify for a caller with the deploy grant.
func (t *Trail) Check(ctx context.Context, who access.Caller) (*domain.AuditTrail, error) {
	if err := who.MayDeploy(); err != nil {
		return nil, err
	}
	return Verify(ctx, t.Log)
}
