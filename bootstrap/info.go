package bootstrap

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"aion/adapters/auth"
	"aion/adapters/gormstore"
	"aion/adapters/httpapi"
	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/replicas"
	"aion/ports"
)

// shown is what the API tells of this process, as it is now. Requests read it while the process changes it.
type shown struct {
	config  atomic.Pointer[Config]
	pending atomic.Pointer[[]string] // keys that differ from what runs
	address atomic.Pointer[string]   // where clients reach the server
	state   atomic.Pointer[string]
	began   time.Time
}

// The states of a server.
const (
	stateStarting = "starting"
	stateServing  = "serving"
	stateDraining = "draining"
)

func (s *shown) become(state string) { s.state.Store(&state) }

func text(p *atomic.Pointer[string]) string {
	if s := p.Load(); s != nil {
		return *s
	}
	return ""
}

// tells is what the API shows of the process.
func (a *App) tells() httpapi.Server {
	c := a.Config
	a.shown.config.Store(&c)
	a.shown.began = a.clock.Now()
	a.shown.become(stateStarting)
	return httpapi.Server{
		Auth: func() httpapi.Auth { return a.authInfo(a.shown.config.Load()) },
		Info: a.info,
		Settings: func() []httpapi.Setting {
			var list []httpapi.Setting
			for _, s := range settings(*a.shown.config.Load()) {
				list = append(list, httpapi.Setting{Key: s.Key, Value: s.Value, Origin: s.Origin})
			}
			return list
		},
	}
}

func (a *App) authInfo(c *Config) httpapi.Auth {
	host, _ := listenHost(c.ServerListen)
	local := strings.HasPrefix(c.ServerListen, "unix:") || loopback(host)
	out := httpapi.Auth{Mode: c.AuthMode, Loopback: local, Insecure: !local && c.AuthMode == modeOff}
	if c.AuthMode == modeJWKS {
		o := httpapi.OIDC{Issuer: c.AuthIssuer, Audience: c.AuthAudience, Scopes: slices.Clone(c.AuthRequiredScopes)}
		if o.Audience == "" {
			o.Audience = c.ServerPublicURL + mcpPath
		}
		if !slices.Contains(o.Scopes, auth.ScopeDeploy) {
			o.Scopes = append(o.Scopes, auth.ScopeDeploy)
		}
		out.OIDC = &o
	}
	return out
}

func (a *App) info(context.Context) (httpapi.Info, error) {
	c, b := a.shown.config.Load(), build()
	reached := c.ServerPublicURL
	if address := text(&a.shown.address); reached == "" && strings.HasPrefix(address, "http") {
		reached = address
	}
	out := httpapi.Info{
		Name: "aion", Version: b.Version, Commit: wire.Nullable(b.Commit), BuiltAt: wire.Nullable(b.BuiltAt), Go: runtime.Version(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, StartedAt: wire.Stamp(a.shown.began), InstanceID: a.instance, PublicURL: wire.Nullable(c.ServerPublicURL),
		AuthMode: c.AuthMode, NamespaceMode: c.NamespaceMode, DefaultNamespace: c.NamespaceDefault, Store: a.storeInfo(c), Replicas: a.replicaInfo(),
		MCP: httpapi.MCP{Enabled: c.MCPEnabled, Protocol: mcp.Revision}, Authoring: httpapi.Authoring{Configured: c.WorkspaceDir != ""},
		Limits: limitInfo(c), State: text(&a.shown.state), PendingRestart: []string{},
	}
	if c.MCPEnabled && reached != "" {
		out.MCP.URL = wire.Nullable(reached + mcpPath)
	}
	if pending := a.shown.pending.Load(); pending != nil {
		out.PendingRestart = append(out.PendingRestart, *pending...)
	}
	return out, nil
}

// limitInfo are the bounds that a client meets.
func limitInfo(c *Config) map[string]int64 {
	return map[string]int64{
		"api.max_body_bytes": c.APIMaxBodyBytes, "api.request_timeout_ms": c.APIRequestTimeout.Milliseconds(),
		"api.rate_per_second": int64(c.APIRatePerSecond), "api.rate_burst": int64(c.APIRateBurst),
		"api.max_streams": int64(c.APIMaxStreams), "api.max_streams_per_subject": int64(c.APIMaxStreamsPerSubject),
		"limits.payload_bytes": c.LimitPayloadBytes, "limits.pending_signals": int64(c.LimitPendingSignals),
		"limits.max_in_flight_activities":  int64(c.LimitMaxInFlight),
		"limits.idempotency_retention_ms":  c.LimitIdempotencyRetention.Milliseconds(),
		"engine.query_timeout_ms":          c.EngineQueryTimeout.Milliseconds(),
		"mcp.max_working_tasks":            int64(c.MCPMaxWorkingTasks),
		"transcript.max_bytes_per_attempt": c.TranscriptMaxBytes,
	}
}

// storeInfo measures a file with what is not yet in it.
func (a *App) storeInfo(c *Config) httpapi.Store {
	out := httpapi.Store{Backend: c.StoreBackend}
	if c.StoreBackend != backendSQLite {
		return out
	}
	schema, bytes := int64(gormstore.SchemaVersion()), int64(0)
	for _, name := range []string{c.StorePath, c.StorePath + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	out.Schema, out.Bytes = &schema, &bytes
	return out
}

// replicaInfo lists the servers of the store, at least this one.
func (a *App) replicaInfo() []httpapi.Replica {
	shards := len(a.shards())
	self := httpapi.Replica{
		InstanceID: a.instance, Address: wire.Nullable(text(&a.shown.address)), Version: version, Leases: &shards, LastSeen: wire.Stamp(a.clock.Now()),
	}
	if !a.others.shared {
		self.Leases = nil // it needs none
		return []httpapi.Replica{self}
	}
	list := []httpapi.Replica{}
	for _, m := range a.others.service.Members() {
		list = append(list, a.memberInfo(m, self))
	}
	return list
}

func (a *App) memberInfo(m ports.Replica, self httpapi.Replica) httpapi.Replica {
	out := httpapi.Replica{
		InstanceID: m.ID, Address: wire.Nullable(m.Address), Version: m.Version, LastSeen: wire.Stamp(m.Until.Add(-replicas.Lease)),
	}
	if m.ID == a.instance {
		out.Leases = self.Leases
	}
	return out
}
