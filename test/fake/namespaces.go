package fake

import (
	"context"

	"aion/domain"
	"aion/ports"
)

// AddNamespace implements ports.NamespaceStore.
func (s *Store) AddNamespace(ctx context.Context, n ports.NamespaceRow) (ports.NamespaceRow, bool, error) {
	got, err := call(ctx, s, "AddNamespace", func() (p pair[ports.NamespaceRow, bool], err error) {
		p.a, p.b, err = s.next.AddNamespace(ctx, n)
		return p, err
	})
	return got.a, got.b, err
}

// Namespace implements ports.NamespaceStore.
func (s *Store) Namespace(ctx context.Context, name domain.Namespace) (ports.NamespaceRow, error) {
	return call(ctx, s, "Namespace", func() (ports.NamespaceRow, error) { return s.next.Namespace(ctx, name) })
}

// Namespaces implements ports.NamespaceStore.
func (s *Store) Namespaces(ctx context.Context, after domain.Namespace, limit int) ([]ports.NamespaceRow, error) {
	return call(ctx, s, "Namespaces", func() ([]ports.NamespaceRow, error) { return s.next.Namespaces(ctx, after, limit) })
}

// ChangeNamespace implements ports.NamespaceStore.
func (s *Store) ChangeNamespace(ctx context.Context, n ports.NamespaceRow) (ports.NamespaceRow, error) {
	return call(ctx, s, "ChangeNamespace", func() (ports.NamespaceRow, error) { return s.next.ChangeNamespace(ctx, n) })
}

// RemoveNamespace implements ports.NamespaceStore.
func (s *Store) RemoveNamespace(ctx context.Context, name domain.Namespace, audit *domain.AuditRecord) error {
	return act(ctx, s, "RemoveNamespace", func() error { return s.next.RemoveNamespace(ctx, name, audit) })
}
