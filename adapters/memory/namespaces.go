package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// AddNamespace implements ports.NamespaceStore.
func (s *Store) AddNamespace(_ context.Context, n ports.NamespaceRow) (ports.NamespaceRow, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, known := s.namespaces[n.Name]; known {
		return copyNamespace(kept), false, nil
	}
	s.namespaces[n.Name] = copyNamespace(n)
	s.record(n.Audit)
	return copyNamespace(n), true, nil
}

// Namespace implements ports.NamespaceStore.
func (s *Store) Namespace(_ context.Context, name domain.Namespace) (ports.NamespaceRow, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, known := s.namespaces[name]
	if !known {
		return ports.NamespaceRow{}, domain.NamespaceNotFound(string(name))
	}
	return copyNamespace(n), nil
}

// Namespaces implements ports.NamespaceStore.
func (s *Store) Namespaces(_ context.Context, after domain.Namespace, limit int) ([]ports.NamespaceRow, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []ports.NamespaceRow
	for name, n := range s.namespaces {
		if name > after {
			list = append(list, copyNamespace(n))
		}
	}
	slices.SortFunc(list, func(a, b ports.NamespaceRow) int { return cmp.Compare(a.Name, b.Name) })
	return list[:min(len(list), max(limit, 0))], nil
}

// ChangeNamespace implements ports.NamespaceStore.
func (s *Store) ChangeNamespace(_ context.Context, n ports.NamespaceRow) (ports.NamespaceRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.namespaces[n.Name]
	if !known {
		return ports.NamespaceRow{}, domain.NamespaceNotFound(string(n.Name))
	}
	n.CreatedAt, n.CreatedBy = kept.CreatedAt, kept.CreatedBy
	s.namespaces[n.Name] = copyNamespace(n)
	s.record(n.Audit)
	return copyNamespace(n), nil
}

// RemoveNamespace implements ports.NamespaceStore.
func (s *Store) RemoveNamespace(_ context.Context, name domain.Namespace, audit *domain.AuditRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.namespaces[name]; !known {
		return domain.NamespaceNotFound(string(name))
	}
	for _, w := range s.workflows {
		if slices.ContainsFunc(w.runs, func(r history.RunRow) bool { return r.Namespace == name }) {
			return ports.NamespaceNotEmpty(name)
		}
	}
	for of := range s.schedules {
		if of.Namespace == name {
			return ports.NamespaceNotEmpty(name)
		}
	}
	delete(s.namespaces, name)
	s.record(audit)
	return nil
}

func copyNamespace(n ports.NamespaceRow) ports.NamespaceRow {
	n.CreatedAt, n.Audit = stored(n.CreatedAt), nil
	if n.MaxInFlight != nil {
		n.MaxInFlight = new(*n.MaxInFlight)
	}
	if n.Retention != nil {
		n.Retention = new(n.Retention.Truncate(time.Microsecond))
	}
	return n
}
