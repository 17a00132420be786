package runs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/ports"
)

// The pages of List.
const (
	defaultList = 50
	maxList     = 500
)

// List pages through the runs of a namespace, newest start first unless the request turns that round. A cursor is stable while runs are added; one that does
// not decode or belongs to other filters is refused (CursorInvalid).
func (s *Service) List(ctx context.Context, who access.Caller, req ListRequest) (RunPage, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return RunPage{}, err
	}
	filter := s.filter(ns, req)
	var after *ports.RunPosition
	if req.Cursor != "" {
		if after, err = openCursor(req.Cursor, filterDigest(filter, req.Attention)); err != nil {
			return RunPage{}, err
		}
	}
	limit := req.Limit
	if limit <= 0 {
		limit = defaultList
	}
	limit = min(limit, maxList)
	rows, err := s.Index.List(ctx, filter, after, limit+1)
	if err != nil {
		return RunPage{}, err
	}
	page := RunPage{Namespace: ns, Runs: rows}
	if len(rows) > limit {
		page.Runs = rows[:limit]
		page.NextCursor = CursorAfter(req, rows[limit-1].RunRow)
	}
	return page, nil
}

// CursorAfter gives the cursor that goes on behind a row of a page of req: for a surface that ends a page early.
func CursorAfter(req ListRequest, last history.RunRow) string {
	filter, at := req.filter(domain.Namespace(req.Namespace)), ports.PositionOf(last, req.Order)
	b := make([]byte, 0, 64)
	b = append(b, filterDigest(filter, req.Attention)...)
	b = binary.BigEndian.AppendUint64(b, uint64(at.At.UnixMicro()))
	b = append(b, at.RunID...)
	return base64.RawURLEncoding.EncodeToString(b)
}

func (r ListRequest) filter(ns domain.Namespace) ports.RunFilter {
	f := ports.RunFilter{
		Namespace: ns, WorkflowType: r.WorkflowType, StartedAfter: r.StartedAfter, StartedBefore: r.StartedBefore,
		Statuses: r.Statuses, PackageVersion: r.PackageID, Parent: domain.WorkflowID(r.ParentWorkflowID), EndedAfter: r.EndedAfter,
		EndedBefore: r.EndedBefore, Labels: r.Labels, Prefix: r.Prefix, Order: r.Order, ScheduleID: r.ScheduleID,
	}
	if len(r.Statuses) == 1 { // the store finds those of one status faster
		f.Status, f.Statuses = r.Statuses[0], nil
	}
	return f
}

// attentive is how long a run that failed asks for attention.
const attentive = 24 * time.Hour

func (s *Service) filter(ns domain.Namespace, req ListRequest) ports.RunFilter {
	f := req.filter(ns)
	if req.Attention {
		f.FailedSince = s.Clock.Now().Add(-attentive)
	}
	return f
}

const digestLength = 8

func openCursor(cursor string, digest []byte) (*ports.RunPosition, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < digestLength+8 {
		return nil, cursorInvalid("does not decode")
	}
	if string(b[:digestLength]) != string(digest) {
		return nil, cursorInvalid("belongs to other filters")
	}
	id, err := domain.ParseRunID(string(b[digestLength+8:]))
	if err != nil {
		return nil, cursorInvalid("does not decode")
	}
	micros := int64(binary.BigEndian.Uint64(b[digestLength:]))
	return &ports.RunPosition{At: time.UnixMicro(micros).UTC(), RunID: id}, nil
}

func cursorInvalid(why string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CursorInvalid",
		Message: "the cursor " + why + "; start again without a cursor, or pass next_cursor unchanged with the same filters",
	}
}

// filterDigest does not depend on when it is asked for.
func filterDigest(f ports.RunFilter, attention bool) []byte {
	statuses := slices.Sorted(slices.Values(f.Statuses))
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %q %q %q %d %d %q %q %d %t %q", f.Namespace, f.Status, f.WorkflowType, unix(f.StartedAfter),
		unix(f.StartedBefore), statuses, f.PackageVersion, f.Parent, unix(f.EndedAfter), unix(f.EndedBefore), f.Labels, f.Prefix, f.Order, attention, f.ScheduleID))
	return sum[:digestLength]
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
