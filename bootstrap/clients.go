package bootstrap

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"aion/adapters/cli"
	"aion/adapters/cli/clients"
	"aion/adapters/gormstore"
	"aion/adapters/mcp/bridge"
	"aion/adapters/mcp/general"
	"aion/adapters/shell/once"
	"aion/domain"
)

const (
	defaultServer = "http://127.0.0.1:8080"
	bridgeGrace   = 5 * time.Second // what open calls get when the client closes the bridge's input
)

// link is one process that talks to a server for an MCP client.
type link struct {
	*backend
	c   Config
	env map[string]string
}

// MCP implements cli.Backend.
func (b *backend) MCP(o cli.Open) (*cli.MCP, error) {
	c, err := load(source{flags: o.Flags, environ: b.environ, home: o.Home, file: o.File, client: true})
	if err != nil {
		return nil, err
	}
	l := &link{backend: b, c: c, env: environment(b.environ)}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	places, err := l.places()
	if err != nil {
		return nil, err
	}
	return &cli.MCP{
		Program: program, Places: places, Home: l.env["AION_HOME"], Config: l.env["AION_CONFIG"], Server: l.env["AION_SERVER"],
		Token: l.env["AION_TOKEN"] != "", Subject: l.subject(""),
		Endpoint: func(_ context.Context, url string) (string, bool, error) { return l.endpoint(url) },
		Bridge:   l.bridge, Tools: l.tools, Find: once.Find, Run: once.Run,
	}, nil
}

// surroundings is what commands that ask a server need to know.
func (b *backend) surroundings(o cli.Open) (*cli.Surroundings, error) {
	c, err := load(source{flags: o.Flags, environ: b.environ, home: o.Home, file: o.File, client: o.Client})
	if err != nil {
		return nil, err
	}
	l := &link{backend: b, c: c, env: environment(b.environ)}
	return &cli.Surroundings{
		Home: c.Home, User: l.user(), Namespace: c.NamespaceDefault,
		Getenv: func(name string) string { return l.env[name] },
		Owner: func() (string, bool, error) {
			if c.StoreBackend != backendSQLite {
				return "", false, nil
			}
			owner, held, err := gormstore.FindOwner(c.StorePath)
			return owner.Address, held, err
		},
	}, nil
}

func (l *link) places() (clients.Places, error) {
	settings, err := os.UserConfigDir()
	if err != nil {
		return clients.Places{}, configRefusal("the settings of MCP clients cannot be found: %v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return clients.Places{}, configRefusal("the settings of MCP clients cannot be found: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return clients.Places{}, fmt.Errorf("find the current directory: %w", err)
	}
	return clients.Places{Home: home, Config: settings, Project: here, Codex: l.env["CODEX_HOME"], Claude: l.env["CLAUDE_CONFIG_DIR"]}, nil
}

// endpoint is the URL that is named, else the one of AION_SERVER, else the server that has the local store open; found is
// false when that is nobody.
func (l *link) endpoint(named string) (url string, found bool, err error) {
	if named == "" {
		named = l.env["AION_SERVER"]
	}
	if named != "" {
		url, err = bridge.Endpoint(named)
		return url, err == nil, err
	}
	if l.c.StoreBackend == backendSQLite {
		owner, held, err := gormstore.FindOwner(l.c.StorePath)
		switch {
		case err != nil:
			return "", false, err
		case held && owner.Address == "":
			return "", false, domain.Unavailable("StoreOwned", fmt.Sprintf(
				"process %d has the store at %s open and serves nothing; when it has ended, start `aion server` and repeat the call", owner.PID, l.c.StorePath), nil)
		case held:
			url, err = bridge.Endpoint(owner.Address)
			return url, err == nil, err
		}
	}
	url, err = bridge.Endpoint(defaultServer)
	return url, false, err
}

func (l *link) bridge(ctx context.Context, r cli.MCPRequest, in io.Reader, out io.Writer) (err error) {
	log := slog.New(slog.NewJSONHandler(r.Log, nil))
	if file, ok := r.Log.(*os.File); ok {
		log = logger(l.c, file, slog.LevelDebug)
	}
	find := func(context.Context) (string, error) { url, _, err := l.endpoint(r.URL); return url, err }
	if r.Embedded {
		e := &embedded{link: l, log: log}
		defer func() { err = cmp.Or(err, e.close(context.WithoutCancel(ctx))) }()
		find = e.find
	}
	b, err := l.newBridge(r, find, log)
	if err != nil {
		return err
	}
	return b.Run(ctx, in, out)
}

func (l *link) tools(ctx context.Context, r cli.MCPRequest) (list []byte, served bool, err error) {
	url, found, err := l.endpoint(r.URL)
	if err != nil {
		return nil, false, err
	}
	b, err := l.newBridge(r, func(context.Context) (string, error) { return url, nil }, discard)
	if err != nil {
		return nil, false, err
	}
	if !found {
		return b.Bundled(), false, nil
	}
	list, err = b.Tools(ctx)
	return list, true, err
}

func (l *link) newBridge(r cli.MCPRequest, find func(context.Context) (string, error), log *slog.Logger) (*bridge.Bridge, error) {
	who, err := l.credential(r)
	if err != nil {
		return nil, err
	}
	if url, found, err := l.endpoint(r.URL); err == nil && found {
		if err := who.admits(url); err != nil {
			return nil, err // at once, not at the first call
		}
	} else if r.URL != "" {
		return nil, err
	}
	roots, err := l.roots(r.CAFile)
	if err != nil {
		return nil, err
	}
	catalogue, err := general.Catalogue(version, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("the tool catalogue: %w", err)
	}
	return bridge.New(bridge.Options{
		Locate: func(ctx context.Context) (bridge.Target, error) {
			url, err := find(ctx)
			if err == nil {
				err = who.admits(url)
			}
			if err != nil {
				return bridge.Target{}, err
			}
			return bridge.Target{URL: url, Header: who.header, Credential: who.source}, nil
		},
		Fallback: catalogue, RootCAs: roots, SkipVerify: r.SkipVerify, Patience: r.Timeout, Grace: bridgeGrace, Log: log,
	})
}

// credential is what a bridge shows of its user: a bearer, and the x-aion headers of mode token.
type credential struct {
	header http.Header
	source string // of the bearer; empty: there is none
	skip   bool   // whoever answers is believed
}

func (l *link) credential(r cli.MCPRequest) (credential, error) {
	c := credential{header: http.Header{}, source: r.Credential, skip: r.SkipVerify}
	token := r.Token
	if token == "" && l.env["AION_TOKEN"] != "" {
		token, c.source = l.env["AION_TOKEN"], "AION_TOKEN"
	}
	deploy := true
	if text, ok := l.env["AION_DEPLOY"]; ok {
		parsed, err := strconv.ParseBool(text)
		if err != nil {
			return c, configRefusal("AION_DEPLOY must be true or false; got %q", text)
		}
		deploy = parsed
	}
	if r.Deploy != nil {
		deploy = *r.Deploy
	}
	namespaces := r.Namespaces
	if namespaces == "" {
		namespaces = l.env["AION_NAMESPACE"]
	}
	if namespaces == "" {
		namespaces = "*"
	}
	headers := map[string]string{"X-Aion-Subject": l.subject(r.Subject), "X-Aion-Namespaces": namespaces, "X-Aion-Deploy": strconv.FormatBool(deploy)}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	for name, value := range headers {
		if strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			return c, configRefusal("%s of the requests would hold characters that HTTP cannot carry; look at the token, subject and namespaces", name)
		}
		c.header.Set(name, value)
	}
	return c, nil
}

// admits refuses to send a bearer where others could read it.
func (c credential) admits(endpoint string) error {
	if c.source != "" && c.skip && !bridge.Local(endpoint) {
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "TokenExposed", Message: fmt.Sprintf(
			"the token from %s is not sent to %s: with --insecure-skip-verify anybody could be there; name the authority of its certificate with --ca-file", c.source, endpoint)}
	}
	if c.source == "" || bridge.Private(endpoint) {
		return nil
	}
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "TokenExposed", Message: fmt.Sprintf(
		"the token from %s is not sent to %s: without TLS everybody on the way could read it; use https", c.source, endpoint)}
}

// subject is who asks: what is named, else AION_SUBJECT, else the user of this system.
func (l *link) subject(named string) string {
	if named != "" {
		return named
	}
	if name := l.env["AION_SUBJECT"]; name != "" {
		return name
	}
	return l.user()
}

// user is the user of this system.
func (l *link) user() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

func (l *link) roots(file string) (*x509.CertPool, error) {
	if file == "" {
		file = l.env["AION_CA_FILE"]
	}
	if file == "" {
		return nil, nil //nolint:nilnil // no pool means the system's
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, configRefusal("the certificates in %s cannot be read: %v", file, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, configRefusal("%s holds no certificate in PEM", file)
	}
	return pool, nil
}
