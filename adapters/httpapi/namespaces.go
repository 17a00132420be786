package httpapi

import (
	"context"
	"net/http"
	"time"

	"aion/adapters/web/wire"
	"aion/application/namespaces"
	"aion/ports"
)

type namespace struct {
	Name        string        `json:"name"`
	Description wire.Nullable `json:"description"`
	MaxInFlight *int          `json:"max_in_flight_activities"` // null: the server's
	RetentionMS *int64        `json:"retention_ms"`             // null: the server's
	CreatedAt   wire.Stamp    `json:"created_at"`
	CreatedBy   wire.Nullable `json:"created_by"`
	OpenRuns    int64         `json:"open_runs"`
}

func (a *API) namespaceRoutes() []route {
	const one = "/namespaces/:ns"
	settings := []string{"description?", "max_in_flight_activities?", "retention_ms?"}
	return []route{
		{method: http.MethodGet, path: "/namespaces", grant: authenticated, query: []string{"limit", "cursor"}, serve: a.listNamespaces},
		{
			method: http.MethodPost, path: "/namespaces", grant: deploys, body: append([]string{"name"}, settings...),
			action: "namespace.create", serve: a.createNamespace,
		},
		{method: http.MethodGet, path: one, grant: namespaced, serve: a.describeNamespace},
		{method: http.MethodPatch, path: one, grant: namespacedDeploys, body: settings, action: "namespace.update", serve: a.changeNamespace},
		{method: http.MethodDelete, path: one, grant: namespacedDeploys, action: "namespace.delete", serve: a.deleteNamespace},
	}
}

func (a *API) listNamespaces(ctx context.Context, q *request) (answer, error) {
	limit, after, err := q.page()
	if err != nil {
		return answer{}, err
	}
	list, next, err := a.Namespaces.Page(ctx, q.who, after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Namespaces []namespace   `json:"namespaces"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Namespaces: []namespace{}}
	for _, n := range list {
		out.Namespaces = append(out.Namespaces, toNamespace(n))
	}
	if next != "" {
		out.NextCursor = wire.Nullable(q.next(string(next)))
	}
	return answer{value: out}, nil
}

func (a *API) createNamespace(ctx context.Context, q *request) (answer, error) {
	name, change := q.body.text("name"), q.settings()
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	var set namespaces.Settings
	change(&set)
	row, err := a.Namespaces.Create(ctx, q.who, name, set)
	if err != nil {
		return answer{}, err
	}
	return answer{
		status: http.StatusCreated, location: prefix + "/namespaces/" + string(row.Name), value: toNamespace(namespaces.Shown{NamespaceRow: row}),
	}, nil
}

func (a *API) describeNamespace(ctx context.Context, q *request) (answer, error) {
	row, err := a.Namespaces.Describe(ctx, q.who, q.param("ns"))
	if err != nil {
		return answer{}, err
	}
	return a.showNamespace(ctx, row)
}

func (a *API) showNamespace(ctx context.Context, row ports.NamespaceRow) (answer, error) {
	shown, err := a.Namespaces.Show(ctx, row)
	return answer{value: toNamespace(shown)}, err
}

func (a *API) changeNamespace(ctx context.Context, q *request) (answer, error) {
	change := q.settings()
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	row, err := a.Namespaces.Amend(ctx, q.who, q.param("ns"), change)
	if err != nil {
		return answer{}, err
	}
	return a.showNamespace(ctx, row)
}

func (a *API) deleteNamespace(ctx context.Context, q *request) (answer, error) {
	return answer{}, a.Namespaces.Delete(ctx, q.who, q.param("ns"))
}

// maxMS bounds a duration of the wire: in nanoseconds it fits 64 bits.
const maxMS = int64(1<<63-1) / int64(time.Millisecond)

// settings reads the settings of a namespace. A member that is absent leaves its setting, one that is null takes it back.
func (q *request) settings() func(*namespaces.Settings) {
	b := &q.body
	description := b.free("description")
	most := int(b.whole("max_in_flight_activities", 0, 1, 1<<31-1))
	retention := time.Duration(b.whole("retention_ms", 0, 0, maxMS)) * time.Millisecond
	return func(set *namespaces.Settings) {
		if b.given("description") {
			set.Description = description
		}
		if b.given("max_in_flight_activities") {
			set.MaxInFlight = nil
			if b.has("max_in_flight_activities") {
				set.MaxInFlight = &most
			}
		}
		if b.given("retention_ms") {
			set.Retention = nil
			if b.has("retention_ms") {
				set.Retention = &retention
			}
		}
	}
}

func toNamespace(n namespaces.Shown) namespace {
	out := namespace{
		Name: string(n.Name), Description: wire.Nullable(n.Description), MaxInFlight: n.MaxInFlight,
		CreatedAt: wire.Stamp(n.CreatedAt), CreatedBy: wire.Nullable(n.CreatedBy), OpenRuns: n.OpenRuns,
	}
	if n.Retention != nil {
		ms := n.Retention.Milliseconds()
		out.RetentionMS = &ms
	}
	return out
}
