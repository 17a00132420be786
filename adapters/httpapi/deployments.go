package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"aion/adapters/web/wire"
	"aion/application/authoring"
	"aion/application/deployments"
	deployed "aion/domain/deployment"
)

// deployTimeout bounds what reads or writes much by right.
const deployTimeout = 10 * time.Minute

// deployment is one deploy. What only its own answer knows is null in a list.
type deployment struct {
	DeploymentID  string        `json:"deployment_id"`
	DocumentPath  wire.Nullable `json:"document_path"`
	ContentHash   string        `json:"content_hash"`
	PackageID     string        `json:"package_id"`
	WorkflowType  string        `json:"workflow_type"`
	DeployedAt    wire.Stamp    `json:"deployed_at"`
	DeployedBy    wire.Nullable `json:"deployed_by"`
	FreshlyLoaded *bool         `json:"freshly_loaded"`
	RouteChanged  *bool         `json:"route_changed"`
	Warnings      []string      `json:"warnings"`
}

func toDeployment(v deployed.Version) deployment {
	return deployment{
		DeploymentID: v.DeploymentID, DocumentPath: wire.Nullable(v.DocumentPath), ContentHash: v.ContentHash, PackageID: v.ContentHash,
		WorkflowType: v.WorkflowType, DeployedAt: wire.Stamp(v.DeployedAt), Warnings: []string{},
		DeployedBy: wire.Nullable(v.DeployedBy),
	}
}

func (a *API) deploymentRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/deployments", grant: deploys, body: []string{"path?", "content_hash?", "source?", "name?", "imports?"},
			action: "deploy.load", timeout: deployTimeout, serve: a.turns.then(a.deploy),
		},
		{method: http.MethodGet, path: "/deployments", grant: authenticated, query: []string{"workflow_type", "limit", "cursor"}, serve: a.listDeployments},
		{method: http.MethodGet, path: "/deployments/:deployment_id", grant: authenticated, serve: a.describeDeployment},
	}
}

func (a *API) deploy(ctx context.Context, q *request) (answer, error) {
	b := &q.body
	path, hash, source, name, files := b.text("path"), b.text("content_hash"), b.free("source"), b.text("name"), q.imports()
	saved := b.has("path") && b.has("content_hash") && !b.has("source") && !b.has("name") && !b.has("imports")
	brought := b.has("source") && !b.has("path") && !b.has("content_hash")
	if !saved && !brought {
		b.faults.add("", "a deploy takes path and content_hash of a saved document, or source with name and imports")
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	var got authoring.Deployed
	var err error
	if saved {
		got, err = a.Authoring.Deploy(ctx, q.who, authoring.DeployRequest{Path: path, ContentHash: hash})
	} else {
		got, err = a.Authoring.DeploySource(ctx, q.who, authoring.SourceRequest{Name: name, Source: []byte(source), Imports: files})
	}
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Deployment deployment        `json:"deployment"`
		Steps      []wire.DeployStep `json:"steps"`
	}{Steps: wire.DeployStepsOf(got), Deployment: deployment{
		DeploymentID: got.DeploymentID, DocumentPath: wire.Nullable(got.DocumentPath), ContentHash: got.ContentHash, PackageID: got.PackageID,
		WorkflowType: got.WorkflowType, DeployedAt: wire.Stamp(got.DeployedAt), FreshlyLoaded: &got.FreshlyLoaded, RouteChanged: &got.RouteChanged,
		Warnings: list(got.Warnings), DeployedBy: wire.Nullable(got.DeployedBy),
	}}
	if !got.FreshlyLoaded && !got.RouteChanged {
		return answer{value: out}, nil
	}
	return answer{status: http.StatusCreated, location: prefix + "/deployments/" + got.DeploymentID, value: out}, nil
}

func (a *API) listDeployments(ctx context.Context, q *request) (answer, error) {
	limit := q.limit()
	at, hash, err := q.afterTime()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	var after *deployments.VersionPosition
	if hash != "" {
		after = &deployments.VersionPosition{DeployedAt: at, ContentHash: hash}
	}
	found, more, err := a.Deployments.ListDeployments(ctx, q.who, q.query.text("workflow_type"), after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Deployments []deployment  `json:"deployments"`
		NextCursor  wire.Nullable `json:"next_cursor"`
	}{Deployments: make([]deployment, 0, len(found))}
	for _, v := range found {
		out.Deployments = append(out.Deployments, toDeployment(v))
	}
	if more {
		last := found[len(found)-1]
		out.NextCursor = wire.Nullable(q.next(strconv.FormatInt(last.DeployedAt.UnixMicro(), 10) + " " + last.ContentHash))
	}
	return answer{value: out}, nil
}

func (a *API) describeDeployment(ctx context.Context, q *request) (answer, error) {
	v, err := a.Deployments.DescribeDeployment(ctx, q.who, q.param("deployment_id"))
	return answer{value: toDeployment(v)}, err
}
