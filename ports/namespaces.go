package ports

import (
	"context"
	"fmt"
	"time"

	"aion/domain"
)

// NamespaceStore keeps the register of tenant boundaries.
type NamespaceStore interface {
	// AddNamespace registers a namespace. One that is registered already stays as it is; added tells which. The stored
	// one is returned.
	AddNamespace(ctx context.Context, n NamespaceRow) (stored NamespaceRow, added bool, err error)
	// Namespace returns a registered one, or CodeNotFound (NamespaceNotFound).
	Namespace(ctx context.Context, name domain.Namespace) (NamespaceRow, error)
	// Namespaces returns at most limit of them that come after a name, by name in byte order; from the first for an empty
	// name.
	Namespaces(ctx context.Context, after domain.Namespace, limit int) ([]NamespaceRow, error)
	// ChangeNamespace replaces the settings of a registered one, or refuses with CodeNotFound (NamespaceNotFound). Who
	// created it, and when, stays. The stored one is returned.
	ChangeNamespace(ctx context.Context, n NamespaceRow) (stored NamespaceRow, err error)
	// RemoveNamespace removes one that holds no run and no schedule and writes the record of it (nil: none), or refuses: CodeInvalidState
	// (NamespaceNotEmpty), CodeNotFound (NamespaceNotFound).
	RemoveNamespace(ctx context.Context, name domain.Namespace, audit *domain.AuditRecord) error
}

// NamespaceRow is one registered namespace. Description and the two bounds are its settings.
type NamespaceRow struct {
	Name        domain.Namespace
	Description string
	MaxInFlight *int           // activities at the same time; nil: the server's bound
	Retention   *time.Duration // of closed workflows; nil: the server's, 0: for ever
	CreatedAt   time.Time
	CreatedBy   string
	// Audit is written when the row is added or changed, and is no part of it; nil: nothing is.
	Audit *domain.AuditRecord
}

// NamespaceNotEmpty refuses to remove a namespace that holds runs or schedules.
func NamespaceNotEmpty(name domain.Namespace) error {
	return &domain.Error{
		Code: domain.CodeInvalidState, Type: "NamespaceNotEmpty",
		Message: fmt.Sprintf("namespace %q holds runs or schedules; it can be removed when its schedules are deleted and retention has deleted the last of its runs", name),
	}
}
