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
	filter := req.filter(ns)
	var after *ports.RunPosition
	if req.Cursor != "" {
		if after, err = openCursor(req.Cursor, filter); err != nil {
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
		page.NextCursor = CursorAfter(req, ports.RunPosition{StartedAt: rows[limit-1].StartedAt, RunID: rows[limit-1].RunID})
	}
	return page, nil
}

// CursorAfter gives the cursor that goes on behind a row of a page of req: for a surface that ends a page early.
func CursorAfter(req ListRequest, last ports.RunPosition) string {
	filter := req.filter(domain.Namespace(req.Namespace))
	b := make([]byte, 0, 64)
	b = append(b, filterDigest(filter)...)
	b = binary.BigEndian.AppendUint64(b, uint64(last.StartedAt.UnixMicro()))
	b = append(b, last.RunID...)
	return base64.RawURLEncoding.EncodeToString(b)
}

func (r ListRequest) filter(ns domain.Namespace) ports.RunFilter {
	f := ports.RunFilter{
		Namespace: ns, WorkflowType: r.WorkflowType, StartedAfter: r.StartedAfter, StartedBefore: r.StartedBefore,
		Statuses: r.Statuses, PackageVersion: r.PackageID, Parent: domain.WorkflowID(r.ParentWorkflowID), EndedAfter: r.EndedAfter,
		EndedBefore: r.EndedBefore, Labels: r.Labels, Prefix: r.Prefix, OldestFirst: r.OldestFirst,
	}
	if len(r.Statuses) == 1 { // the store finds those of one status faster
		f.Status, f.Statuses = r.Statuses[0], nil
	}
	return f
}

const digestLength = 8

func openCursor(cursor string, filter ports.RunFilter) (*ports.RunPosition, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < digestLength+8 {
		return nil, cursorInvalid("does not decode")
	}
	if string(b[:digestLength]) != string(filterDigest(filter)) {
		return nil, cursorInvalid("belongs to other filters")
	}
	id, err := domain.ParseRunID(string(b[digestLength+8:]))
	if err != nil {
		return nil, cursorInvalid("does not decode")
	}
	micros := int64(binary.BigEndian.Uint64(b[digestLength:]))
	return &ports.RunPosition{StartedAt: time.UnixMicro(micros).UTC(), RunID: id}, nil
}

func cursorInvalid(why string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CursorInvalid",
		Message: "the cursor " + why + "; start again without a cursor, or pass next_cursor unchanged with the same filters",
	}
}

func filterDigest(f ports.RunFilter) []byte {
	statuses := slices.Sorted(slices.Values(f.Statuses))
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %q %q %q %d %d %q %q %t", f.Namespace, f.Status, f.WorkflowType, unix(f.StartedAfter),
		unix(f.StartedBefore), statuses, f.PackageVersion, f.Parent, unix(f.EndedAfter), unix(f.EndedBefore), f.Labels, f.Prefix, f.OldestFirst))
	return sum[:digestLength]
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
