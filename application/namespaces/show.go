package namespaces

import (
	"context"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/ports"
)

// Shown is a registered namespace with the number of its open runs.
type Shown struct {
	ports.NamespaceRow
	OpenRuns int64
}

// Show counts the open runs of a namespace that the caller was given.
func (s *Service) Show(ctx context.Context, row ports.NamespaceRow) (Shown, error) {
	shown := Shown{NamespaceRow: row}
	counts, err := s.Index.Count(ctx, ports.RunFilter{Namespace: row.Name, Statuses: []history.Status{history.Running, history.Paused}})
	shown.OpenRuns = counts[history.Running] + counts[history.Paused]
	return shown, err
}

// Page is List with the open runs of each.
func (s *Service) Page(ctx context.Context, who access.Caller, after string, limit int) (list []Shown, next domain.Namespace, err error) {
	rows, next, err := s.List(ctx, who, after, limit)
	if err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		shown, err := s.Show(ctx, row)
		if err != nil {
			return nil, "", err
		}
		list = append(list, shown)
	}
	return list, next, nil
}

// Amend changes what change does to the settings of a namespace and leaves the others; it needs what Create needs.
func (s *Service) Amend(ctx context.Context, who access.Caller, name string, change func(*Settings)) (ports.NamespaceRow, error) {
	ns, err := s.mayChange(who, name)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	row, err := s.Store.Namespace(ctx, ns)
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	set := Settings{Description: row.Description, MaxInFlight: row.MaxInFlight, Retention: row.Retention}
	change(&set)
	return s.Update(ctx, who, name, set)
}
