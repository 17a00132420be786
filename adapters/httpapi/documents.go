package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"aion/adapters/web/wire"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/domain"
	"aion/domain/document"
)

// use is a workflow type that a text was deployed as.
type use struct {
	WorkflowType string `json:"workflow_type"`
	RouteActive  bool   `json:"route_active"`
}

func toUses(list []deployments.Use) []use {
	out := make([]use, 0, len(list))
	for _, u := range list {
		out = append(out, use{WorkflowType: u.WorkflowType, RouteActive: u.RouteActive})
	}
	return out
}

type documentEntry struct {
	wire.Document
	Deployed []use `json:"deployed"`
}

func toEntry(s authoring.State) documentEntry {
	return documentEntry{Deployed: toUses(s.Deployed), Document: wire.DocumentOf(document.Entry{
		Path: s.Path, ContentHash: s.ContentHash, Bytes: s.Bytes, ModifiedAt: s.SavedAt,
	})}
}

func (a *API) documentRoutes() []route {
	const one = "/documents/*path"
	return []route{
		{method: http.MethodGet, path: "/documents", grant: authenticated, query: []string{"prefix", "q", "limit", "cursor"}, serve: a.turns.then(a.listDocuments)},
		{method: http.MethodGet, path: one, grant: authenticated, media: []string{mediaJSON, mediaText}, serve: a.readDocument},
		{method: http.MethodPut, path: one, grant: deploys, body: []string{"source"}, plain: true, action: "document.save", serve: a.saveDocument},
		{method: http.MethodDelete, path: one, grant: deploys, action: "document.delete", serve: a.deleteDocument},
	}
}

func (a *API) listDocuments(ctx context.Context, q *request) (answer, error) {
	limit, after, err := q.page()
	if err != nil {
		return answer{}, err
	}
	page, err := a.Authoring.Page(ctx, q.who, authoring.PageRequest{
		Prefix: q.query.text("prefix"), Query: q.query.text("q"), After: after, Limit: limit,
	})
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Documents  []documentEntry `json:"documents"`
		Count      int             `json:"count"`
		NextCursor wire.Nullable   `json:"next_cursor"`
	}{Documents: make([]documentEntry, 0, len(page.Documents)), Count: page.Count}
	for _, d := range page.Documents {
		out.Documents = append(out.Documents, toEntry(d))
	}
	if page.More {
		out.NextCursor = wire.Nullable(q.next(string(page.Documents[len(page.Documents)-1].Path)))
	}
	return answer{value: out}, nil
}

// documentPath is the rest of the URL. One without a name is no path of the API.
func (q *request) documentPath() (string, error) {
	p := strings.TrimPrefix(q.param("path"), "/")
	if p == "" {
		return "", &domain.Error{
			Code: domain.CodeNotFound, Type: "RouteNotFound",
			Message: "there is nothing at this path; paths match exactly, without a trailing slash",
		}
	}
	return p, nil
}

func (a *API) readDocument(ctx context.Context, q *request) (answer, error) {
	p, err := q.documentPath()
	if err != nil {
		return answer{}, err
	}
	state, source, err := a.Authoring.Describe(ctx, q.who, p)
	if err != nil {
		return answer{}, err
	}
	if q.media == mediaText {
		return answer{raw: append([]byte{}, source...), etag: state.ContentHash}, nil
	}
	return answer{etag: state.ContentHash, value: struct {
		documentEntry
		Source  string        `json:"source"`
		SavedBy wire.Nullable `json:"saved_by"`
	}{documentEntry: toEntry(state), Source: string(source), SavedBy: wire.Nullable(state.SavedBy)}}, nil
}

func (a *API) saveDocument(ctx context.Context, q *request) (answer, error) {
	p, err := q.documentPath()
	if err != nil {
		return answer{}, err
	}
	save := authoring.SaveRequest{Path: p, Source: q.source}
	if save.Source == nil {
		save.Source = []byte(q.body.free("source"))
	}
	if save.Expect, save.ExpectedHash, err = q.precondition(); err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	got, err := a.Authoring.Save(ctx, q.who, save)
	if err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if got.Created {
		status = http.StatusCreated
	}
	return answer{status: status, etag: got.ContentHash, value: struct {
		Path        string        `json:"path"`
		Name        string        `json:"name"`
		ContentHash string        `json:"content_hash"`
		Bytes       int64         `json:"bytes"`
		Created     bool          `json:"created"`
		Changed     bool          `json:"changed"`
		Previous    wire.Nullable `json:"previous"`
	}{string(got.Path), got.Name, got.ContentHash, got.Bytes, got.Created, got.Changed, wire.Nullable(got.Previous)}}, nil
}

func (a *API) deleteDocument(ctx context.Context, q *request) (answer, error) {
	p, err := q.documentPath()
	if err != nil {
		return answer{}, err
	}
	expect, hash, err := q.precondition()
	if err != nil {
		return answer{}, err
	}
	return answer{}, a.Authoring.Delete(ctx, q.who, authoring.DeleteRequest{Path: p, ExpectedHash: hash, Expect: expect})
}

var strongTag = regexp.MustCompile(`^"([\x21\x23-\x7e]{1,128})"$`)

// precondition reads what a change expects to find: If-None-Match: *, If-Match: *, or If-Match with the hash that was read.
func (q *request) precondition() (authoring.Expectation, string, error) {
	match, once := q.header("If-Match")
	none, alsoOnce := q.header("If-None-Match")
	tag := strongTag.FindStringSubmatch(match)
	switch {
	case !once || !alsoOnce || match != "" && none != "":
		return 0, "", invalid("a change has one precondition; send If-Match or If-None-Match, once")
	case none == "*":
		return authoring.Nothing, "", nil
	case none != "":
		return 0, "", invalid("a change reads If-None-Match only as *; send If-Match with the hash that you read")
	case match == "*":
		return authoring.Something, "", nil
	case match == "":
		return authoring.Unnamed, "", nil
	case tag == nil:
		return 0, "", invalid(`If-Match is * or the ETag that you read, with its quotes; send If-Match: "<content_hash>"`)
	}
	return authoring.Anything, tag[1], nil
}
