package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"aion/adapters/web/wire"
	"aion/application/deployments"
	"aion/domain/awl/graph"
	"aion/domain/awl/plan"
	deployed "aion/domain/deployment"
)

type workflowType struct {
	WorkflowType string        `json:"workflow_type"`
	PackageID    string        `json:"package_id"`
	DocumentPath wire.Nullable `json:"document_path"`
	DeployedAt   wire.Stamp    `json:"deployed_at"`
	Versions     int           `json:"versions"`
	OpenRuns     int64         `json:"open_runs"`
	Previous     wire.Nullable `json:"previous"` // the hash that was routed before
}

type version struct {
	WorkflowType string        `json:"workflow_type"`
	ContentHash  string        `json:"content_hash"`
	DocumentPath wire.Nullable `json:"document_path"`
	RouteActive  bool          `json:"route_active"`
	LoadedAt     wire.Stamp    `json:"loaded_at"`
	DeployedBy   wire.Nullable `json:"deployed_by"`
	OpenRuns     int64         `json:"open_runs"`
	PinnedBy     pins          `json:"pinned_by"`
}

// pins are the open runs that use a version and that the caller may see: the first ten, and their number.
type pins struct {
	WorkflowIDs []string `json:"workflow_ids"`
	Count       int64    `json:"count"`
}

// contract is what a version promises to its callers (awl 8).
type contract struct {
	Narration     string          `json:"narration"`
	TimeoutMS     *int64          `json:"timeout_ms"` // null: none
	Inputs        []plan.Port     `json:"inputs"`
	InputSchema   json.RawMessage `json:"input_schema"`
	Outcomes      []plan.Outcome  `json:"outcomes"`
	OutcomeSchema json.RawMessage `json:"outcome_schema"`
	Signals       []plan.Port     `json:"signals"`
	Types         []plan.TypeDef  `json:"types"`
	Workers       []plan.Worker   `json:"workers"`
	Children      []plan.Child    `json:"children"`
}

func toContract(c *deployed.Contract) contract {
	p := c.Plan
	out := contract{
		Narration: p.Narration, Inputs: list(p.Inputs), InputSchema: p.InputSchema, Outcomes: list(p.Outcomes), OutcomeSchema: p.OutcomeSchema,
		Signals: list(p.Signals), Types: list(p.Types), Workers: list(p.Workers), Children: list(p.Children),
	}
	if p.TimeoutMS > 0 {
		out.TimeoutMS = &p.TimeoutMS
	}
	return out
}

func (a *API) versionRoutes() []route {
	const one = "/workflow-types/:type/versions/:hash"
	return []route{
		{method: http.MethodGet, path: "/workflow-types", grant: authenticated, query: []string{"limit", "cursor"}, serve: a.listTypes},
		{method: http.MethodGet, path: "/workflow-types/:type", grant: authenticated, serve: a.describeType},
		{
			method: http.MethodPost, path: "/workflow-types/:type/route", grant: deploys, body: []string{"content_hash"}, action: "deploy.route",
			serve: a.moveRoute,
		},
		{method: http.MethodGet, path: "/versions", grant: authenticated, query: []string{"workflow_type", "limit", "cursor"}, serve: a.listVersions},
		{method: http.MethodGet, path: one, grant: authenticated, serve: a.describeVersion},
		{method: http.MethodDelete, path: one, grant: deploys, action: "deploy.unload", serve: a.unload},
		{method: http.MethodGet, path: one + "/graph", grant: authenticated, serve: a.drawVersion},
	}
}

func (a *API) listTypes(ctx context.Context, q *request) (answer, error) {
	limit, after, err := q.page()
	if err != nil {
		return answer{}, err
	}
	found, more, err := a.Deployments.ListTypes(ctx, q.who, after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Types      []workflowType `json:"workflow_types"`
		NextCursor wire.Nullable  `json:"next_cursor"`
	}{Types: make([]workflowType, 0, len(found))}
	for _, t := range found {
		out.Types = append(out.Types, toType(t))
	}
	if more {
		out.NextCursor = wire.Nullable(q.next(found[len(found)-1].Routed.WorkflowType))
	}
	return answer{value: out}, nil
}

func toType(t deployments.Type) workflowType {
	return workflowType{
		WorkflowType: t.Routed.WorkflowType, PackageID: t.Routed.ContentHash, DocumentPath: wire.Nullable(t.Routed.DocumentPath),
		DeployedAt: wire.Stamp(t.Routed.DeployedAt), Versions: t.Versions, OpenRuns: t.OpenRuns,
		Previous: wire.Nullable(t.Previous),
	}
}

func (a *API) describeType(ctx context.Context, q *request) (answer, error) {
	t, c, err := a.Deployments.DescribeType(ctx, q.who, q.param("type"))
	if err != nil {
		return answer{}, err
	}
	return answer{value: struct {
		workflowType
		Contract contract `json:"contract"`
	}{toType(t), toContract(c)}}, nil
}

func (a *API) moveRoute(ctx context.Context, q *request) (answer, error) {
	hash := q.body.text("content_hash")
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	moved, err := a.Deployments.Route(ctx, q.who, q.param("type"), hash)
	return answer{value: struct {
		WorkflowType string        `json:"workflow_type"`
		ContentHash  string        `json:"content_hash"`
		Previous     wire.Nullable `json:"previous"`
		RouteChanged bool          `json:"route_changed"`
	}{q.param("type"), hash, wire.Nullable(moved.Previous), moved.Changed}}, err
}

func (a *API) listVersions(ctx context.Context, q *request) (answer, error) {
	limit := q.limit()
	after, err := q.afterVersion()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	found, more, err := a.Deployments.ListVersions(ctx, q.who, q.query.text("workflow_type"), after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Versions   []version     `json:"versions"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Versions: make([]version, 0, len(found))}
	for _, v := range found {
		out.Versions = append(out.Versions, toVersion(v))
	}
	if more {
		last := found[len(found)-1]
		out.NextCursor = wire.Nullable(q.next(strings.Join(
			[]string{last.WorkflowType, strconv.FormatInt(last.DeployedAt.UnixMicro(), 10), last.ContentHash}, "\x00")))
	}
	return answer{value: out}, nil
}

func (q *request) afterVersion() (*deployments.VersionPosition, error) {
	position, err := q.after()
	if err != nil || position == "" {
		return nil, err
	}
	parts := strings.Split(position, "\x00")
	if len(parts) != 3 {
		return nil, cursorInvalid("does not decode")
	}
	micros, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return nil, cursorInvalid("does not decode")
	}
	return &deployments.VersionPosition{WorkflowType: parts[0], DeployedAt: time.UnixMicro(micros).UTC(), ContentHash: parts[2]}, nil
}

func toVersion(v deployments.Version) version {
	out := version{
		WorkflowType: v.WorkflowType, ContentHash: v.ContentHash, DocumentPath: wire.Nullable(v.DocumentPath), RouteActive: v.RouteActive,
		LoadedAt: wire.Stamp(v.DeployedAt), DeployedBy: wire.Nullable(v.DeployedBy), OpenRuns: v.OpenRuns, PinnedBy: pins{WorkflowIDs: []string{}, Count: v.OpenRuns},
	}
	for _, id := range v.PinnedBy {
		out.PinnedBy.WorkflowIDs = append(out.PinnedBy.WorkflowIDs, string(id))
	}
	return out
}

func (a *API) describeVersion(ctx context.Context, q *request) (answer, error) {
	v, c, err := a.Deployments.DescribeVersion(ctx, q.who, q.param("type"), q.param("hash"))
	if err != nil {
		return answer{}, err
	}
	return answer{value: struct {
		version
		Contract contract `json:"contract"`
		Source   string   `json:"source"`
	}{toVersion(v), toContract(c), v.Source}}, nil
}

func (a *API) drawVersion(ctx context.Context, q *request) (answer, error) {
	v, _, err := a.Deployments.DescribeVersion(ctx, q.who, q.param("type"), q.param("hash"))
	if err != nil {
		return answer{}, err
	}
	drawn := graph.Of([]byte(v.Source))
	drawn.Document = graph.Document{Path: v.DocumentPath, ContentHash: v.ContentHash}
	return answer{value: drawn}, nil
}

func (a *API) unload(ctx context.Context, q *request) (answer, error) {
	err := a.Deployments.Unload(ctx, q.who, q.param("type"), q.param("hash"))
	return answer{value: struct {
		WorkflowType string `json:"workflow_type"`
		ContentHash  string `json:"content_hash"`
		Unloaded     bool   `json:"unloaded"`
	}{q.param("type"), q.param("hash"), true}}, err
}
