package bootstrap

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"aion/adapters/cli"
	"aion/adapters/mcp"
	"aion/adapters/web"
	"aion/domain"
)

// live is what of a serving App can be changed while it serves.
type live struct {
	entrance entrance
	hosts    web.Hosts
	origins  *web.Origins
	pages    *web.Origins  // of the API
	endpoint *mcp.Endpoint // nil where /mcp is not served

	certificate *web.Certificate // nil without TLS
}

// reloads reads the configuration again at every SIGHUP until stop.
func (b *backend) reloads(ctx context.Context, o cli.Open, app *App, setLevel func(Config)) (stop func()) {
	return beside(func(done <-chan struct{}) {
		for {
			select {
			case <-done:
				return
			case <-b.hangup:
				_ = b.manager.Reloading() // a manager that does not listen has been told of at the start
				b.reload(ctx, o, app, setLevel)
				_ = b.manager.Ready("serving at " + text(&app.shown.address))
			}
		}
	})
}

func (b *backend) reload(ctx context.Context, o cli.Open, app *App, setLevel func(Config)) {
	c, err := b.load(o)
	var applied, pending []string
	if err == nil {
		applied, pending, err = app.Reload(c)
	}
	if err != nil {
		app.registry.ConfigReload("refused")
		app.log.Error("the configuration is not reloaded; the old one stays", "error", err)
		return
	}
	setLevel(app.Config)
	app.registry.ConfigReload("applied")
	app.trail.Reloaded(ctx, applied)
	app.log.Info("configuration reloaded", "config_file", c.File, "applied", strings.Join(applied, ", "))
	if len(pending) > 0 {
		app.log.Warn("changed keys need a restart", "keys", strings.Join(pending, ", "))
	}
	for _, text := range slices.Concat(c.Exposed, app.expiring()) {
		app.log.Warn("configuration", "warning", text)
	}
}

// Reload takes the reloadable keys of another configuration over, all or none of them, and names the other keys that
// differ from what runs. It refuses what does not go together with the keys that stay. It is called by one goroutine, after
// Host.
func (a *App) Reload(next Config) (applied, pending []string, err error) {
	merged := a.Config
	merged.Origins = maps.Clone(a.Config.Origins)
	for _, k := range keys() {
		old, given := k.field(&merged), k.field(&next)
		switch {
		case reflect.DeepEqual(old, given):
		case k.reload && !a.switchesTLS(k, next):
			reflect.ValueOf(old).Elem().Set(reflect.ValueOf(given).Elem())
			merged.Origins[k.name] = next.Origins[k.name]
			applied = append(applied, k.name)
		default:
			pending = append(pending, k.name)
		}
	}
	if findings := crossChecks(merged); len(findings) > 0 {
		return nil, nil, &domain.Error{Code: domain.CodeInvalidInput, Type: "ConfigurationInvalid", Message: strings.Join(findings, "\n")}
	}
	renewed, err := a.apply(merged)
	if err != nil {
		return nil, nil, err
	}
	if renewed && !slices.Contains(applied, tlsCertFile) {
		applied = append(applied, tlsCertFile) // the same file, with another certificate in it
	}
	a.Config = merged
	a.shown.config.Store(&merged)
	a.shown.pending.Store(&pending)
	return applied, pending, nil
}

// apply does first what can fail. renewed says that the server proves itself with another certificate than before.
func (a *App) apply(c Config) (renewed bool, err error) {
	hosts, err := web.NewHosts(publicHost(c.ServerPublicURL), c.ServerAllowedHosts)
	if err != nil {
		return false, err
	}
	origins, err := web.NewOrigins(a.live.origins.Key(), c.MCPAllowedOrigins)
	if err != nil {
		return false, err
	}
	pages, err := web.NewOrigins(a.live.pages.Key(), c.ServerCORSOrigins)
	if err != nil {
		return false, err
	}
	proof, err := certificate(c)
	if err != nil {
		return false, err
	}
	if err := a.live.entrance.change(c); err != nil {
		return false, err
	}
	a.live.hosts.Replace(hosts)
	a.live.origins.Replace(origins)
	a.live.pages.Replace(pages)
	a.api.ChangeRates(c.APIRatePerSecond, c.APIRateBurst)
	if a.live.endpoint != nil {
		a.live.endpoint.ChangeRates(c.MCPRatePerSecond, c.MCPRateBurst)
	}
	a.gate.Change(a.limits(c))
	a.retention.Change(c.RetentionClosed)
	a.trail.Keep(c.AuditRetention)
	a.workers.Allow(c.WorkersAllowedSubjects)
	if proof == nil || proof.Same(a.live.certificate) {
		return false, nil
	}
	a.live.certificate.Replace(proof)
	return true, nil
}
