package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"aion/adapters/web/wire"
	"aion/application/authoring"
)

type revision struct {
	ContentHash string        `json:"content_hash"`
	Bytes       int64         `json:"bytes"`
	SavedAt     wire.Stamp    `json:"saved_at"`
	SavedBy     wire.Nullable `json:"saved_by"`
	Deployed    []use         `json:"deployed"`
}

func (a *API) revisionRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/revisions", grant: authenticated, query: []string{"path", "limit", "cursor"}, serve: a.listRevisions},
		{method: http.MethodGet, path: "/revisions/:hash", grant: authenticated, serve: a.turns.then(a.readRevision)},
	}
}

func (a *API) listRevisions(ctx context.Context, q *request) (answer, error) {
	limit := q.limit()
	path := q.query.text("path")
	if !q.query.has("path") {
		q.query.faults.add("?path", "path is missing; it names a document")
	}
	after, err := q.afterRevision()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	list, next, err := a.Authoring.History(ctx, q.who, path, after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Path       string        `json:"path"`
		Revisions  []revision    `json:"revisions"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Path: path, Revisions: make([]revision, 0, len(list))}
	for _, r := range list {
		out.Revisions = append(out.Revisions, revision{
			ContentHash: r.ContentHash, Bytes: r.Bytes, SavedAt: wire.Stamp(r.SavedAt), SavedBy: wire.Nullable(r.SavedBy), Deployed: toUses(r.Deployed),
		})
	}
	if next != nil {
		out.NextCursor = wire.Nullable(q.next(strconv.FormatInt(next.SavedAt.UnixMicro(), 10) + " " + next.SHA256))
	}
	return answer{value: out}, nil
}

func (q *request) afterRevision() (*authoring.RevisionPosition, error) {
	at, sum, err := q.afterTime()
	if err != nil || sum == "" {
		return nil, err
	}
	return &authoring.RevisionPosition{SavedAt: at, SHA256: sum}, nil
}

// afterTime takes a position apart that is a time and a name; without a cursor the name is empty.
func (q *request) afterTime() (at time.Time, name string, err error) {
	position, err := q.after()
	if err != nil || position == "" {
		return time.Time{}, "", err
	}
	stamp, name, _ := strings.Cut(position, " ")
	micros, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || name == "" {
		return time.Time{}, "", cursorInvalid("does not decode")
	}
	return time.UnixMicro(micros).UTC(), name, nil
}

func (a *API) readRevision(ctx context.Context, q *request) (answer, error) {
	hash := q.param("hash")
	source, err := a.Authoring.Revision(ctx, q.who, hash)
	if err != nil {
		return answer{}, err
	}
	return answer{etag: hash, immutable: true, value: struct {
		ContentHash string `json:"content_hash"`
		Source      string `json:"source"`
		Bytes       int    `json:"bytes"`
	}{hash, string(source), len(source)}}, nil
}
