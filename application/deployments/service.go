// Package deployments keeps the catalogue of deployed versions: which plan a run is pinned to, which version new runs of
// a type get, and how versions come and go.
package deployments

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/deployment"
	"aion/ports"
)

// Deps is what the service needs. RouteAge bounds how long a route read from the store is believed (1 s when zero):
// another server may move it.
type Deps struct {
	Store    ports.DeploymentStore
	Routes   ports.RouteStore // for the lists; nil: they are not asked for
	Index    ports.RunIndex
	Clock    ports.Clock
	RouteAge time.Duration
}

// Service answers for deployed versions. It is safe for concurrent use.
type Service struct {
	store    ports.DeploymentStore
	routes   ports.RouteStore
	index    ports.RunIndex
	clock    ports.Clock
	routeAge time.Duration
	cache    cache
}

// New gives a service over a store.
func New(d Deps) *Service {
	if d.RouteAge <= 0 {
		d.RouteAge = time.Second
	}
	return &Service{store: d.Store, routes: d.Routes, index: d.Index, clock: d.Clock, routeAge: d.RouteAge, cache: newCache()}
}

// Contract gives the loaded version with a content hash: decoded once, then from memory. It refuses a version that is
// not stored (VersionNotFound) and one that this program cannot read (StoreFault).
func (s *Service) Contract(ctx context.Context, contentHash string) (*deployment.Contract, error) {
	if c := s.cache.contract(contentHash); c != nil {
		return c, nil
	}
	v, err := s.store.Version(ctx, contentHash)
	if err != nil {
		return nil, err
	}
	return s.load(v)
}

// Routed gives the version that new runs of a type get, or refuses a type that is not deployed (WorkflowTypeNotFound).
func (s *Service) Routed(ctx context.Context, workflowType string) (*deployment.Contract, error) {
	if hash, ok := s.cache.route(workflowType, s.clock.Now().Add(-s.routeAge)); ok {
		return s.Contract(ctx, hash)
	}
	read := s.clock.Now()
	v, err := s.store.Routed(ctx, workflowType)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, typeNotFound(workflowType)
	}
	if err != nil {
		return nil, err
	}
	c := s.cache.contract(v.ContentHash)
	if c == nil {
		if c, err = s.load(v); err != nil {
			return nil, err
		}
	}
	s.cache.setRoute(workflowType, v.ContentHash, read)
	return c, nil
}

func (s *Service) load(v deployment.Version) (*deployment.Contract, error) {
	c, err := deployment.Load(v)
	if err != nil {
		return nil, err
	}
	s.cache.add(v.ContentHash, c)
	return c, nil
}

// Deploy stores a version under its content hash and routes its type to it, in one change. Deploying the same hash again
// is a success that loads nothing. The plan is loaded before it is stored, so that what cannot run is never routed. The
// caller has been authorised.
func (s *Service) Deploy(ctx context.Context, v deployment.Version) (stored deployment.Version, fresh bool, err error) {
	if s.cache.contract(v.ContentHash) == nil {
		if _, err := s.load(v); err != nil {
			return deployment.Version{}, false, err
		}
	}
	stored, fresh, err = s.store.PutVersion(ctx, v)
	if err != nil {
		return deployment.Version{}, false, err
	}
	s.cache.setRoute(v.WorkflowType, v.ContentHash, s.clock.Now())
	return stored, fresh, nil
}

// Serving gives the version that new runs of a type get, as it was deployed; ok is false for a type that is not deployed.
func (s *Service) Serving(ctx context.Context, workflowType string) (v deployment.Version, ok bool, err error) {
	v, err = s.store.Routed(ctx, workflowType)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return v, false, nil
	}
	return v, err == nil, err
}

// Types names the deployed types, in order. It reads every version, so it is for answers that are rare.
func (s *Service) Types(ctx context.Context) ([]string, error) {
	versions, err := s.store.Versions(ctx, "")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(versions))
	for _, v := range versions {
		names = append(names, v.WorkflowType)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Versions lists the stored versions of a type (of all types when it is empty), newest first, without text and plan.
func (s *Service) Versions(ctx context.Context, workflowType string) ([]deployment.Version, error) {
	return s.store.Versions(ctx, workflowType)
}

// Moved is the answer to a change of a route. Previous is empty when the type was routed to no version.
type Moved struct {
	Previous string
	Changed  bool
}

// Route moves a type to a stored version; running runs keep theirs. It needs the deploy grant.
func (s *Service) Route(ctx context.Context, who access.Caller, workflowType, contentHash string) (Moved, error) {
	if err := who.MayDeploy(); err != nil {
		return Moved{}, err
	}
	if _, err := s.owned(ctx, workflowType, contentHash); err != nil {
		return Moved{}, err
	}
	now := s.clock.Now()
	previous, err := s.store.SetRoute(ctx, deployment.Route{
		WorkflowType: workflowType, ContentHash: contentHash, RoutedAt: now, Audit: change(who, "deploy.route", workflowType, contentHash),
	})
	if err != nil {
		return Moved{}, err
	}
	s.cache.setRoute(workflowType, contentHash, now)
	return Moved{Previous: previous, Changed: previous != contentHash}, nil
}

// Unload removes a version that is neither routed (RouteActive) nor used by an open run (VersionPinned names them). It needs
// the deploy grant.
func (s *Service) Unload(ctx context.Context, who access.Caller, workflowType, contentHash string) error {
	if err := who.MayDeploy(); err != nil {
		return err
	}
	if _, err := s.owned(ctx, workflowType, contentHash); err != nil {
		return err
	}
	routed, err := s.store.Routed(ctx, workflowType)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return err
	}
	if err == nil && routed.ContentHash == contentHash {
		return ports.RouteActive(workflowType, contentHash)
	}
	if err := s.unpinned(ctx, workflowType, contentHash); err != nil {
		return err
	}
	if err := s.store.DeleteVersion(ctx, workflowType, contentHash, change(who, "deploy.unload", workflowType, contentHash)); err != nil {
		return err
	}
	s.cache.drop(contentHash)
	return nil
}

// change is the record of a change to a type.
func change(who access.Caller, action, workflowType, contentHash string) *domain.AuditRecord {
	record := who.Audit(action, "", workflowType)
	record.Detail = domain.AuditDetail(map[string]any{"content_hash": contentHash})
	return record
}

func (s *Service) unpinned(ctx context.Context, workflowType, contentHash string) error {
	const named = 10
	rows, count, err := s.index.PinnedBy(ctx, contentHash, nil, named)
	if err != nil || count == 0 {
		return err
	}
	holders := make([]string, len(rows))
	for i, r := range rows {
		holders[i] = string(r.WorkflowID)
	}
	return &domain.Error{
		Code: domain.CodeVersionPinned, Type: "VersionPinned", Details: map[string]any{"holders": holders, "count": count},
		Message: fmt.Sprintf("version %s of %s is used by %d open runs (%s); wait for them or cancel them", contentHash, workflowType, count,
			strings.Join(holders, ", ")),
	}
}

// owned gives a version that is stored for the type, or refuses (VersionNotFound).
func (s *Service) owned(ctx context.Context, workflowType, contentHash string) (deployment.Version, error) {
	v, err := s.store.Version(ctx, contentHash)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return deployment.Version{}, err
	}
	if err == nil && v.WorkflowType == workflowType {
		return v, nil
	}
	return deployment.Version{}, &domain.Error{
		Code: domain.CodeNotFound, Type: "VersionNotFound",
		Message: fmt.Sprintf("no version %s of workflow type %s is loaded; deploy_document loads one",
			domain.Quote(contentHash, 64), domain.Quote(workflowType, 128)),
	}
}

func typeNotFound(workflowType string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "WorkflowTypeNotFound",
		Message: fmt.Sprintf("workflow type %q is not deployed; deploy_document deploys a saved document", domain.Quote(workflowType, 128)),
	}
}
