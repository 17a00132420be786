package ports

import (
	"context"

	"aion/domain"
	"aion/domain/deployment"
)

// DeploymentStore keeps versions and routes.
type DeploymentStore interface {
	// PutVersion stores a version and routes its type to it, in one change. A version that is already stored stays as it
	// is; fresh tells which. The stored version is returned.
	PutVersion(ctx context.Context, v deployment.Version) (stored deployment.Version, fresh bool, err error)
	// Routed returns the version that a type is routed to, or CodeNotFound (WorkflowTypeNotFound).
	Routed(ctx context.Context, workflowType string) (deployment.Version, error)
	// Version returns a stored version by content hash, or CodeNotFound (VersionNotFound).
	Version(ctx context.Context, contentHash string) (deployment.Version, error)
	// Versions returns all stored versions without source, imports and plan, newest first; of one type unless it is empty.
	Versions(ctx context.Context, workflowType string) ([]deployment.Version, error)
	// SetRoute moves a route to a stored version and writes the record of it. It gives the hash that the type was routed to
	// before; empty when it was routed to none.
	SetRoute(ctx context.Context, r deployment.Route) (previous string, err error)
	// DeleteVersion removes a version that is not routed and writes the record of it (nil: none); the caller has decided
	// that nothing uses it.
	DeleteVersion(ctx context.Context, workflowType, contentHash string, audit *domain.AuditRecord) error
}

// RouteStore shows all routes at once.
type RouteStore interface {
	// Routes returns every route, by type in byte order.
	Routes(ctx context.Context) ([]deployment.Route, error)
}
