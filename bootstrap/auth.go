package bootstrap

import (
	"fmt"
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
	resource *web.ProtectedResource // nil but in mode jwks
	keys     *auth.JWKS             // nil but in mode jwks; runs beside the server
}

func (a *App) entrance() (e entrance, err error) {
	c := a.Config
	var who ports.Authenticator
	switch c.AuthMode {
	case modeToken:
		who, err = auth.NewToken(string(c.AuthToken))
	case modeJWKS:
		e.keys, err = a.issuerKeys()
		who = e.keys
		if err == nil {
			e.resource, err = web.NewProtectedResource(web.Resource{
				PublicURL: c.ServerPublicURL, Path: mcpPath, Issuer: c.AuthIssuer,
				RequiredScopes: c.AuthRequiredScopes, GrantScopes: []string{auth.ScopeDeploy},
			})
		}
	default:
		who = auth.Off{}
	}
	if err != nil {
		return entrance{}, err
	}
	if c.NamespaceMode == "single" {
		who = auth.Single(who, domain.Namespace(c.NamespaceDefault))
	}
	e.callers = web.NewCallers(who, e.resource, a.log)
	return e, nil
}

func (a *App) issuerKeys() (*auth.JWKS, error) {
	c := a.Config
	audience := c.AuthAudience
	if audience == "" {
		audience = c.ServerPublicURL + mcpPath
	}
	var authorities []byte
	if c.AuthJWKSCAFile != "" {
		text, err := os.ReadFile(c.AuthJWKSCAFile)
		if err != nil {
			return nil, fmt.Errorf("auth.jwks_ca_file: %w", err)
		}
		authorities = text
	}
	return auth.NewJWKS(auth.JWKSOptions{
		URL: c.AuthJWKSURL, CA: authorities, Refresh: c.AuthJWKSRefresh, MaxAge: c.AuthJWKSMaxAge, Issuer: c.AuthIssuer, Audience: audience,
		RequiredScopes: c.AuthRequiredScopes, Clock: a.clock, Log: a.log,
	})
}

// publicHost is the name under which clients know the server; empty when none is configured.
func publicHost(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
