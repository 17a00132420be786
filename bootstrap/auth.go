package bootstrap

import (
	"net/url"
	"os"

	"aion/adapters/auth"
	"aion/adapters/web"
	"aion/domain"
	"aion/ports"
)

// mcpPath is the path of the MCP endpoint: the resource that tokens are for.
const mcpPath = "/mcp"

// entrance is how requests get their caller.
type entrance struct {
	callers  web.Callers
	token    *auth.Token            // nil but in mode token
	resource *web.ProtectedResource // nil but in mode jwks
	keys     *auth.JWKS             // nil but in mode jwks; runs beside the server
}

func (a *App) entrance() (e entrance, err error) {
	c := a.Config
	var who ports.Authenticator = auth.Off{}
	switch c.AuthMode {
	case modeToken:
		e.token, err = auth.NewToken(string(c.AuthToken))
		who = e.token
	case modeJWKS:
		var o auth.JWKSOptions
		if o, err = issuerOptions(c); err == nil {
			o.Clock, o.Log, o.Meter = a.clock, a.log, a.registry
			e.keys, err = auth.NewJWKS(o)
			who = e.keys
		}
		if err == nil {
			e.resource, err = web.NewProtectedResource(resource(c))
		}
	}
	if err != nil {
		return entrance{}, err
	}
	if c.NamespaceMode == "single" {
		who = auth.Single(who, domain.Namespace(c.NamespaceDefault))
	}
	e.callers = web.NewCallers(web.Door{Auth: who, Resource: e.resource, Log: a.log, Meter: a.registry, Audit: a.trail.Refused})
	return e, nil
}

// change takes other settings of the same mode over. An error changes nothing.
func (e entrance) change(c Config) error {
	if e.keys != nil {
		o, err := issuerOptions(c)
		if err != nil {
			return err
		}
		if err := e.keys.Change(o); err != nil {
			return err
		}
		return e.resource.Change(resource(c))
	}
	if e.token != nil {
		return e.token.Change(string(c.AuthToken))
	}
	return nil
}

func resource(c Config) web.Resource {
	return web.Resource{
		PublicURL: c.ServerPublicURL, Path: mcpPath, Issuer: c.AuthIssuer,
		RequiredScopes: c.AuthRequiredScopes, GrantScopes: []string{auth.ScopeDeploy},
	}
}

func issuerOptions(c Config) (auth.JWKSOptions, error) {
	audience := c.AuthAudience
	if audience == "" {
		audience = c.ServerPublicURL + mcpPath
	}
	var authorities []byte
	if c.AuthJWKSCAFile != "" {
		text, err := os.ReadFile(c.AuthJWKSCAFile)
		if err != nil {
			return auth.JWKSOptions{}, configRefusal("auth.jwks_ca_file: %s cannot be read: %v", c.AuthJWKSCAFile, unwrapPath(err))
		}
		authorities = text
	}
	return auth.JWKSOptions{
		URL: c.AuthJWKSURL, CA: authorities, Refresh: c.AuthJWKSRefresh, MaxAge: c.AuthJWKSMaxAge, Issuer: c.AuthIssuer, Audience: audience,
		RequiredScopes: c.AuthRequiredScopes,
	}, nil
}

// publicHost is the name under which clients know the server; empty when none is configured.
func publicHost(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
