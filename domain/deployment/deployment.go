// Package deployment holds deployed versions and the route that new runs follow.
package deployment

import (
	"encoding/json"
	"time"

	"aion/domain"
)

// Version is one compiled document under its content hash. It is immutable.
type Version struct {
	DeploymentID string // UUID of the first deploy of this hash and type
	WorkflowType string
	ContentHash  string // 64 lower-case hex digits; also the package id
	DocumentPath string // where it was deployed from; empty: from a text that is in no workspace
	Source       string
	Imports      map[string]string // import path → text
	Plan         json.RawMessage
	DeployedAt   time.Time
	DeployedBy   string // a subject; empty: it is not known
	// Audit is written when the version is stored, and is no part of it; nil: nothing is.
	Audit *domain.AuditRecord
}

// Route points a workflow type at the version that new runs get.
type Route struct {
	WorkflowType string
	ContentHash  string
	RoutedAt     time.Time
	Previous     string // the hash that the type was routed to before; empty: none. Stores find it out
	// Audit is written when the route is moved, and is no part of it; nil: nothing is.
	Audit *domain.AuditRecord
}
