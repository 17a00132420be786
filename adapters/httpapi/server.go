package httpapi

import (
	"context"
	"net/http"

	"aion/adapters/web/wire"
	"aion/domain"
)

// Server is what the process tells of itself. Its members are asked at every request.
type Server struct {
	Auth     func() Auth
	Info     func(ctx context.Context) (Info, error)
	Settings func() []Setting
}

// Auth says how a caller signs in.
type Auth struct {
	Mode     string `json:"mode"`
	Loopback bool   `json:"loopback"` // only this machine reaches the server
	Insecure bool   `json:"insecure"` // others do too, and everyone is the operator
	OIDC     *OIDC  `json:"oidc"`     // nil but in mode jwks
	// What an operator calls this server; there is no key for it yet.
	Label      *string `json:"label"`
	LabelColor *string `json:"label_color"`
}

// OIDC is who issues tokens, and for whom.
type OIDC struct {
	Issuer   string   `json:"issuer"`
	ClientID *string  `json:"client_id"`
	Scopes   []string `json:"scopes"`
	Audience string   `json:"audience"`
}

// Info is what a server is and how it stands.
type Info struct {
	Name             string           `json:"name"`
	Version          string           `json:"version"`
	Commit           wire.Nullable    `json:"commit"`
	BuiltAt          wire.Nullable    `json:"built_at"`
	Go               string           `json:"go"`
	OS               string           `json:"os"`
	Arch             string           `json:"arch"`
	StartedAt        wire.Stamp       `json:"started_at"`
	InstanceID       string           `json:"instance_id"`
	Label            *string          `json:"label"`
	PublicURL        wire.Nullable    `json:"public_url"`
	AuthMode         string           `json:"auth_mode"`
	NamespaceMode    string           `json:"namespace_mode"`
	DefaultNamespace string           `json:"default_namespace"`
	Store            Store            `json:"store"`
	Replicas         []Replica        `json:"replicas"`
	MCP              MCP              `json:"mcp"`
	Assistant        Assistant        `json:"assistant"`
	Authoring        Authoring        `json:"authoring"`
	Limits           map[string]int64 `json:"limits"` // by the name of their key
	State            string           `json:"state"`  // starting, serving or draining
	PendingRestart   []string         `json:"pending_restart"`
}

// Store is what keeps the state. Schema and Bytes are nil but where the store is a file.
type Store struct {
	Backend string `json:"backend"`
	Schema  *int64 `json:"schema"`
	Bytes   *int64 `json:"bytes"`
}

// Replica is a server that works on the store.
type Replica struct {
	InstanceID string        `json:"instance_id"`
	Address    wire.Nullable `json:"address"`
	Version    string        `json:"version"`
	Leases     *int          `json:"leases"`     // shards that it looks after; nil: only it knows
	LagEvents  *int64        `json:"lag_events"` // of its projections; nil: only it knows
	LastSeen   wire.Stamp    `json:"last_seen"`
}

// MCP is where the tools are.
type MCP struct {
	Enabled  bool          `json:"enabled"`
	URL      wire.Nullable `json:"url"`
	Protocol string        `json:"protocol"`
}

// Assistant is whether there is one.
type Assistant struct {
	Enabled bool    `json:"enabled"`
	MCPURL  *string `json:"mcp_url"`
}

// Authoring is whether documents can be kept.
type Authoring struct {
	Configured bool `json:"configured"`
}

// Setting is one key of the configuration. Secrets are redacted by whoever gives them.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

func (a *API) serverRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/auth", grant: public, serve: a.describeAuth},
		{method: http.MethodGet, path: "/whoami", grant: authenticated, serve: describeCaller},
		{method: http.MethodGet, path: "/server", grant: authenticated, serve: a.describeServer},
		{method: http.MethodGet, path: "/server/config", grant: deploys, serve: a.listSettings},
	}
}

func (a *API) describeAuth(context.Context, *request) (answer, error) {
	return answer{value: a.Server.Auth()}, nil
}

type caller struct {
	Subject    string     `json:"subject"`
	Namespaces []string   `json:"namespaces"`
	Deploy     bool       `json:"deploy"`
	Source     string     `json:"source"`
	AuthMode   string     `json:"auth_mode"`
	ExpiresAt  wire.Stamp `json:"expires_at"`
}

func describeCaller(_ context.Context, q *request) (answer, error) {
	out := caller{
		Subject: q.who.Subject, Namespaces: []string{}, Deploy: q.who.Deploy, Source: q.who.Source, AuthMode: q.who.Mode,
		ExpiresAt: wire.Stamp(q.who.Expires),
	}
	if q.who.AllNamespaces {
		out.Namespaces = append(out.Namespaces, "*")
	}
	for _, ns := range q.who.Namespaces {
		if !q.who.AllNamespaces {
			out.Namespaces = append(out.Namespaces, domain.Quote(string(ns), 128))
		}
	}
	return answer{value: out}, nil
}

func (a *API) describeServer(ctx context.Context, _ *request) (answer, error) {
	info, err := a.Server.Info(ctx)
	return answer{value: info}, err
}

func (a *API) listSettings(context.Context, *request) (answer, error) {
	return answer{value: struct {
		Keys []Setting `json:"keys"`
	}{append([]Setting{}, a.Server.Settings()...)}}, nil
}
