package runs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// The pages of List.
const (
	defaultList = 50
	maxList     = 200
)

// List pages through the runs of a namespace, newest start first. A cursor is stable while runs are added; one that does
// not decode or belongs to other filters is refused (CursorInvalid).
func (s *Service) List(ctx context.Context, who access.Caller, req ListRequest) (RunPage, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return RunPage{}, err
	}
	filter := ports.RunFilter{
		Namespace: ns, Status: req.Status, WorkflowType: req.WorkflowType, StartedAfter: req.StartedAfter,
		StartedBefore: req.StartedBefore,
	}
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
	filter := ports.RunFilter{
		Namespace: domain.Namespace(req.Namespace), Status: req.Status, WorkflowType: req.WorkflowType,
		StartedAfter: req.StartedAfter, StartedBefore: req.StartedBefore,
	}
	b := make([]byte, 0, 64)
	b = append(b, filterDigest(filter)...)
	b = binary.BigEndian.AppendUint64(b, uint64(last.StartedAt.UnixMicro()))
	b = append(b, last.RunID...)
	return base64.RawURLEncoding.EncodeToString(b)
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
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d", f.Namespace, f.Status, f.WorkflowType, unix(f.StartedAfter), unix(f.StartedBefore)))
	return sum[:digestLength]
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
