package namespaces

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// The bounds of settings and pages.
const (
	maxDescription = 1_000
	minRetention   = time.Hour
	defaultPage    = 50
	maxPage        = 500
	scanned        = 200 // rows read at a time while a page is filled
)

// Settings are what an operator decides about a namespace.
type Settings struct {
	Description string         // at most 1,000 characters
	MaxInFlight *int           // activities at the same time, at least 1; nil: the server's bound
	Retention   *time.Duration // of closed workflows, at least an hour, or 0: for ever; nil: the server's
}

// Create registers a namespace; it needs the deploy grant, and the namespace among the caller's. One that exists is
// refused (NamespaceExists).
func (s *Service) Create(ctx context.Context, who access.Caller, name string, set Settings) (ports.NamespaceRow, error) {
	ns, err := s.mayChange(who, name)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	row, err := set.row(ns)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	row.CreatedAt, row.CreatedBy = s.Clock.Now(), who.Subject
	row.Audit = who.Audit("namespace.create", ns, string(ns))
	row.Audit.Detail = set.detail()
	stored, added, err := s.Store.AddNamespace(ctx, row)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	s.remember(ns)
	s.bound(ns, stored.MaxInFlight)
	if !added {
		return ports.NamespaceRow{}, &domain.Error{
			Code: domain.CodeInvalidState, Type: "NamespaceExists",
			Message: fmt.Sprintf("namespace %q exists already; change its settings, or choose another name", ns),
		}
	}
	return stored, nil
}

// Describe returns a registered namespace.
func (s *Service) Describe(ctx context.Context, who access.Caller, name string) (ports.NamespaceRow, error) {
	ns, err := reach(who, name)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	return s.Store.Namespace(ctx, ns)
}

// List returns at most limit (1..500; 0: 50) registered namespaces after a name that the caller may use, by name. next is
// the name to go on after; empty at the end.
func (s *Service) List(ctx context.Context, who access.Caller, after string, limit int) (list []ports.NamespaceRow, next domain.Namespace, err error) {
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	for at := domain.Namespace(after); ; {
		rows, err := s.Store.Namespaces(ctx, at, scanned)
		if err != nil {
			return nil, "", err
		}
		for _, row := range rows {
			if who.Reach(row.Name) != nil {
				continue
			}
			if len(list) == limit {
				return list, list[limit-1].Name, nil
			}
			list = append(list, row)
		}
		if len(rows) < scanned {
			return list, "", nil
		}
		at = rows[len(rows)-1].Name
	}
}

// Update replaces the settings of a namespace; it needs what Create needs.
func (s *Service) Update(ctx context.Context, who access.Caller, name string, set Settings) (ports.NamespaceRow, error) {
	ns, err := s.mayChange(who, name)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	row, err := set.row(ns)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	row.Audit = who.Audit("namespace.update", ns, string(ns))
	row.Audit.Detail = set.detail()
	stored, err := s.Store.ChangeNamespace(ctx, row)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	s.bound(ns, stored.MaxInFlight)
	return stored, nil
}

// Delete removes a namespace that holds no run; it needs what Create needs. The default one stays.
func (s *Service) Delete(ctx context.Context, who access.Caller, name string) error {
	ns, err := s.mayChange(who, name)
	if err != nil {
		return err
	}
	if ns == s.Default {
		return invalid("namespace %q is namespaces.default of this server and cannot be removed", ns)
	}
	if err := s.Store.RemoveNamespace(ctx, ns, who.Audit("namespace.delete", ns, string(ns))); err != nil {
		return err
	}
	s.forget(ns)
	s.bound(ns, nil)
	return nil
}

func reach(who access.Caller, name string) (domain.Namespace, error) {
	if err := who.Reach(domain.Namespace(name)); err != nil {
		return "", err
	}
	return domain.ParseNamespace(name)
}

// mayChange authorises a caller for a change of the register. A name that cannot exist is bad input here, not a missing
// thing.
func (s *Service) mayChange(who access.Caller, name string) (domain.Namespace, error) {
	if err := who.Reach(domain.Namespace(name)); err != nil {
		return "", err
	}
	if err := who.MayDeploy(); err != nil {
		return "", err
	}
	ns, err := domain.ParseNamespace(name)
	if err != nil {
		return "", &domain.Error{
			Code: domain.CodeInvalidInput, Type: "NameInvalid",
			Message: fmt.Sprintf("%q is no namespace name; use [a-z0-9][a-z0-9._-]{0,62}", domain.Quote(name, 128)),
		}
	}
	return ns, nil
}

func (set Settings) row(ns domain.Namespace) (ports.NamespaceRow, error) {
	switch {
	case !utf8.ValidString(set.Description) || utf8.RuneCountInString(set.Description) > maxDescription:
		return ports.NamespaceRow{}, invalid("a description has at most %d characters of UTF-8", maxDescription)
	case set.MaxInFlight != nil && *set.MaxInFlight < 1:
		return ports.NamespaceRow{}, invalid("max_in_flight_activities must be at least 1; got %d", *set.MaxInFlight)
	case set.Retention != nil && *set.Retention != 0 && *set.Retention < minRetention:
		return ports.NamespaceRow{}, invalid("retention must be at least %s, or 0 for ever; got %s", minRetention, *set.Retention)
	}
	return ports.NamespaceRow{Name: ns, Description: set.Description, MaxInFlight: set.MaxInFlight, Retention: set.Retention}, nil
}

// detail is what the audit log tells of settings; a description is text that others wrote.
func (set Settings) detail() domain.Payload {
	members := map[string]any{}
	if set.MaxInFlight != nil {
		members["max_in_flight_activities"] = *set.MaxInFlight
	}
	if set.Retention != nil {
		members["retention_ms"] = set.Retention.Milliseconds()
	}
	return domain.AuditDetail(members)
}

func invalid(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: fmt.Sprintf(format, args...)}
}
