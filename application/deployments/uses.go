package deployments

import (
	"context"

	"aion/domain/deployment"
)

// Use is a workflow type that a text was deployed as.
type Use struct {
	WorkflowType string
	RouteActive  bool // its new runs get the text
}

// Uses tells what texts were deployed as, by content hash.
type Uses struct {
	types  map[string]string
	routes map[string]deployment.Route
}

// Uses reads what is deployed now.
func (s *Service) Uses(ctx context.Context) (Uses, error) {
	versions, err := s.store.Versions(ctx, "")
	if err != nil {
		return Uses{}, err
	}
	u := Uses{types: make(map[string]string, len(versions))}
	for _, v := range versions {
		u.types[v.ContentHash] = v.WorkflowType
	}
	u.routes, err = s.routed(ctx)
	return u, err
}

// Of gives the uses of a text.
func (u Uses) Of(contentHash string) []Use {
	workflowType, deployed := u.types[contentHash]
	if !deployed {
		return nil
	}
	return []Use{{WorkflowType: workflowType, RouteActive: u.routes[workflowType].ContentHash == contentHash}}
}

// Source gives the text of a stored version, or refuses VersionNotFound.
func (s *Service) Source(ctx context.Context, contentHash string) (string, error) {
	v, err := s.store.Version(ctx, contentHash)
	return v.Source, err
}
