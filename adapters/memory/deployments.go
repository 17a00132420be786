package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/deployment"
	"aion/ports"
)

// PutVersion implements ports.DeploymentStore.
func (s *Store) PutVersion(_ context.Context, v deployment.Version) (deployment.Version, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, known := s.versions[v.ContentHash]
	if !known {
		kept = copyVersion(v)
		s.versions[v.ContentHash] = kept
	}
	s.route(kept.WorkflowType, kept.ContentHash, v.DeployedAt)
	s.record(v.Audit)
	return copyVersion(kept), !known, nil
}

// Routed implements ports.DeploymentStore.
func (s *Store) Routed(_ context.Context, workflowType string) (deployment.Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.routes[workflowType]
	if !ok {
		return deployment.Version{}, ports.WorkflowTypeNotFound(workflowType)
	}
	return copyVersion(s.versions[r.ContentHash]), nil
}

// Version implements ports.DeploymentStore.
func (s *Store) Version(_ context.Context, contentHash string) (deployment.Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.versions[contentHash]
	if !ok {
		return deployment.Version{}, ports.VersionNotFound(contentHash)
	}
	return copyVersion(v), nil
}

// Versions implements ports.DeploymentStore.
func (s *Store) Versions(_ context.Context, workflowType string) ([]deployment.Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var versions []deployment.Version
	for _, v := range s.versions {
		if workflowType == "" || v.WorkflowType == workflowType {
			v.Source, v.Imports, v.Plan = "", nil, nil
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b deployment.Version) int {
		return cmp.Or(b.DeployedAt.Compare(a.DeployedAt), cmp.Compare(b.ContentHash, a.ContentHash))
	})
	return versions, nil
}

// SetRoute implements ports.DeploymentStore.
func (s *Store) SetRoute(_ context.Context, r deployment.Route) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.versions[r.ContentHash]; !ok || v.WorkflowType != r.WorkflowType {
		return "", ports.VersionNotFound(r.ContentHash)
	}
	previous := s.routes[r.WorkflowType].ContentHash
	s.route(r.WorkflowType, r.ContentHash, r.RoutedAt)
	s.record(r.Audit)
	return previous, nil
}

// Routes implements ports.RouteStore.
func (s *Store) Routes(_ context.Context) ([]deployment.Route, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.routes), func(a, b deployment.Route) int { return cmp.Compare(a.WorkflowType, b.WorkflowType) }), nil
}

// DeleteVersion implements ports.DeploymentStore.
func (s *Store) DeleteVersion(_ context.Context, workflowType, contentHash string, audit *domain.AuditRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.versions[contentHash]; !ok || v.WorkflowType != workflowType {
		return ports.VersionNotFound(contentHash)
	}
	if s.routes[workflowType].ContentHash == contentHash {
		return ports.RouteActive(workflowType, contentHash)
	}
	delete(s.versions, contentHash)
	s.record(audit)
	return nil
}

func (s *Store) route(workflowType, contentHash string, at time.Time) {
	if before := s.routes[workflowType].ContentHash; before != contentHash {
		s.routes[workflowType] = deployment.Route{WorkflowType: workflowType, ContentHash: contentHash, RoutedAt: stored(at), Previous: before}
	}
}
