package deployments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/deployment"
)

// Version is a stored version as lists show it. OpenRuns counts the open runs that use it
// and that the caller may see, PinnedBy names the first ten of them.
type Version struct {
	deployment.Version // without text and plan, but where they are promised
	RouteActive        bool
	OpenRuns           int64
	PinnedBy           []domain.WorkflowID
}

// Type is a deployed workflow type with the version that its new runs get. Versions counts the stored ones, OpenRuns the
// open runs of all of them that the caller may see.
type Type struct {
	Routed   deployment.Version // without text and plan
	RoutedAt time.Time
	Previous string // the hash that was routed before; empty: none
	Versions int
	OpenRuns int64
}

// VersionPosition is a place in the order of ListVersions.
type VersionPosition struct {
	WorkflowType string
	DeployedAt   time.Time
	ContentHash  string
}

func (p VersionPosition) compare(other VersionPosition) int {
	return cmp.Or(cmp.Compare(p.WorkflowType, other.WorkflowType), p.DeployedAt.Compare(other.DeployedAt), cmp.Compare(p.ContentHash, other.ContentHash))
}

func place(v deployment.Version) VersionPosition {
	return VersionPosition{WorkflowType: v.WorkflowType, DeployedAt: v.DeployedAt, ContentHash: v.ContentHash}
}

// ListVersions gives at most limit versions by type, then age, the oldest first; of one type unless it is empty. more tells
// that others follow. Whoever is authenticated may read what is deployed.
func (s *Service) ListVersions(ctx context.Context, who access.Caller, workflowType string, after *VersionPosition, limit int) (list []Version, more bool, err error) {
	all, err := s.store.Versions(ctx, workflowType)
	if err != nil {
		return nil, false, err
	}
	if after != nil {
		all = slices.DeleteFunc(all, func(v deployment.Version) bool { return place(v).compare(*after) <= 0 })
	}
	slices.SortFunc(all, func(a, b deployment.Version) int { return place(a).compare(place(b)) })
	routes, err := s.routed(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, v := range all[:min(len(all), limit)] {
		entry, err := s.entry(ctx, who, v, routes)
		if err != nil {
			return nil, false, err
		}
		list = append(list, entry)
	}
	return list, len(all) > limit, nil
}

// DescribeVersion gives one version with its text, and its contract. It refuses VersionNotFound.
func (s *Service) DescribeVersion(ctx context.Context, who access.Caller, workflowType, contentHash string) (Version, *deployment.Contract, error) {
	v, err := s.owned(ctx, workflowType, contentHash)
	if err != nil {
		return Version{}, nil, err
	}
	contract, err := s.Contract(ctx, contentHash)
	if err != nil {
		return Version{}, nil, err
	}
	routes, err := s.routed(ctx)
	if err != nil {
		return Version{}, nil, err
	}
	entry, err := s.entry(ctx, who, v, routes)
	return entry, contract, err
}

func (s *Service) entry(ctx context.Context, who access.Caller, v deployment.Version, routes map[string]deployment.Route) (Version, error) {
	const named = 10
	rows, count, err := s.index.PinnedBy(ctx, v.ContentHash, who.Granted(), named)
	if err != nil {
		return Version{}, err
	}
	entry := Version{Version: v, RouteActive: routes[v.WorkflowType].ContentHash == v.ContentHash, OpenRuns: count}
	for _, row := range rows {
		entry.PinnedBy = append(entry.PinnedBy, row.WorkflowID)
	}
	return entry, nil
}

// routed is every route by its type.
func (s *Service) routed(ctx context.Context) (map[string]deployment.Route, error) {
	list, err := s.routes.Routes(ctx)
	if err != nil {
		return nil, err
	}
	routes := make(map[string]deployment.Route, len(list))
	for _, r := range list {
		routes[r.WorkflowType] = r
	}
	return routes, nil
}

// ListTypes gives at most limit deployed types after a name, by name. more tells that others follow.
func (s *Service) ListTypes(ctx context.Context, who access.Caller, after string, limit int) (list []Type, more bool, err error) {
	routes, err := s.routes.Routes(ctx)
	if err != nil {
		return nil, false, err
	}
	// Read after the routes: a route is moved to a version that is stored already.
	all, err := s.store.Versions(ctx, "")
	if err != nil {
		return nil, false, err
	}
	of := map[string][]deployment.Version{}
	for _, v := range all {
		of[v.WorkflowType] = append(of[v.WorkflowType], v)
	}
	for _, r := range routes {
		if r.WorkflowType <= after {
			continue
		}
		if len(list) == limit {
			return list, true, nil
		}
		t, err := s.typeOf(ctx, who, r, of[r.WorkflowType])
		if err != nil {
			return nil, false, err
		}
		list = append(list, t)
	}
	return list, false, nil
}

// DescribeType gives one deployed type, and the contract of the version that its new runs get. It refuses
// WorkflowTypeNotFound.
func (s *Service) DescribeType(ctx context.Context, who access.Caller, workflowType string) (Type, *deployment.Contract, error) {
	routes, err := s.routed(ctx)
	if err != nil {
		return Type{}, nil, err
	}
	r, deployed := routes[workflowType]
	if !deployed {
		return Type{}, nil, typeNotFound(workflowType)
	}
	versions, err := s.store.Versions(ctx, workflowType)
	if err != nil {
		return Type{}, nil, err
	}
	contract, err := s.Contract(ctx, r.ContentHash)
	if err != nil {
		return Type{}, nil, err
	}
	t, err := s.typeOf(ctx, who, r, versions)
	return t, contract, err
}

func (s *Service) typeOf(ctx context.Context, who access.Caller, r deployment.Route, versions []deployment.Version) (Type, error) {
	t := Type{RoutedAt: r.RoutedAt, Previous: r.Previous, Versions: len(versions)}
	for _, v := range versions {
		_, count, err := s.index.PinnedBy(ctx, v.ContentHash, who.Granted(), 1)
		if err != nil {
			return Type{}, err
		}
		t.OpenRuns += count
		if v.ContentHash == r.ContentHash {
			t.Routed = v
		}
	}
	if t.Routed.ContentHash == "" { // the route was moved and that version unloaded, meanwhile
		v, err := s.store.Routed(ctx, r.WorkflowType)
		if err != nil {
			return Type{}, err
		}
		v.Source, v.Imports, v.Plan = "", nil, nil
		t.Routed = v
	}
	return t, nil
}

// ListDeployments gives at most limit deployments, newest first; of one type unless it is empty. more tells that others
// follow.
func (s *Service) ListDeployments(ctx context.Context, _ access.Caller, workflowType string, after *VersionPosition, limit int) (list []deployment.Version, more bool, err error) {
	all, err := s.store.Versions(ctx, workflowType)
	if err != nil {
		return nil, false, err
	}
	if after != nil {
		all = slices.DeleteFunc(all, func(v deployment.Version) bool {
			return cmp.Or(after.DeployedAt.Compare(v.DeployedAt), cmp.Compare(after.ContentHash, v.ContentHash)) <= 0
		})
	}
	return all[:min(len(all), limit)], len(all) > limit, nil
}

// DescribeDeployment gives one deployment, or refuses DeploymentNotFound.
func (s *Service) DescribeDeployment(ctx context.Context, _ access.Caller, id string) (deployment.Version, error) {
	all, err := s.store.Versions(ctx, "")
	if err != nil {
		return deployment.Version{}, err
	}
	for _, v := range all {
		if v.DeploymentID == id {
			return v, nil
		}
	}
	return deployment.Version{}, &domain.Error{
		Code: domain.CodeNotFound, Type: "DeploymentNotFound",
		Message: fmt.Sprintf("no deployment %q is known; GET /api/v1/deployments lists them", domain.Quote(id, 64)),
	}
}
