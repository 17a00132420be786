package ports

import (
	"context"
	"time"

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
	// SetRoute moves a route to a stored version.
	SetRoute(ctx context.Context, workflowType, contentHash string, at time.Time) error
	// DeleteVersion removes a version that is not routed; the caller has decided that nothing uses it.
	DeleteVersion(ctx context.Context, workflowType, contentHash string) error
}
