package cli

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aion/adapters/cli/client"
	"aion/domain"
)

// Surroundings is what the process around a command knows of servers.
type Surroundings struct {
	Home      string // AION_HOME, absolute
	User      string // of the system
	Namespace string // of commands that name none; empty: default
	// Getenv reads one AION_ variable.
	Getenv func(name string) string
	// Owner tells where the process serves that has the local store open; held is false when there is none, and address is
	// empty when it serves nothing yet.
	Owner func() (address string, held bool, err error)
}

// around is what is known of servers; without anybody to tell, there is none.
func (p *Program) around(o Open) (*Surroundings, error) {
	if p.Surroundings == nil {
		return &Surroundings{
			Home: o.Home, Getenv: func(string) string { return "" }, Owner: func() (string, bool, error) { return "", false, nil },
		}, nil
	}
	return p.Surroundings(o)
}

// where says which server a command asks, and as whom.
type where struct {
	server, namespace, token, subject, context, caFile string
	deploy, insecure                                   bool
	patience                                           time.Duration // 0: the default
	owner                                              bool          // who asks is the operator, unless a subject is named
	typed                                              string        // the token that --token gave, unless it is in a file; empty: not asked for yet
}

func (w *where) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.server, "server", "", "the server: a URL, or unix:/path of a socket (default AION_SERVER, else the context's, else the one that has the local store open, else http://127.0.0.1:8080)")
	flags.StringVarP(&w.namespace, "namespace", "n", "", "the namespace (default AION_NAMESPACE, else the context's, else namespaces.default of the configuration)")
	flags.StringVar(&w.token, "token", "", "bearer token: @FILE reads it from a file, - from standard input (default AION_TOKEN, else the context's)")
	flags.StringVar(&w.subject, "subject", "", "who asks, where the server takes it from callers (default AION_SUBJECT, else the context's, else the user of this system)")
	flags.StringVar(&w.context, "context", "", "a saved profile (default AION_CONTEXT, else the one that `aion context use` chose)")
	flags.StringVar(&w.caFile, "ca-file", "", "certificates of the authority that signed the server's (default AION_CA_FILE, else the context's, else the system's)")
	flags.BoolVar(&w.deploy, "deploy", true, "ask for the deploy grant, where the server takes it from callers (default AION_DEPLOY)")
	flags.BoolVar(&w.insecure, "insecure-skip-verify", false, "take any certificate; refused together with a token, but for this machine")
}

// remote are the flags of a command that asks a server.
type remote struct {
	where
	shape
}

// session is one command that talks to one server.
type session struct {
	*client.Client

	p       *Program
	g       *globals
	shape   shape
	ns      string
	timeout time.Duration // --timeout; 0: not given
}

const defaultPatience = 2 * time.Minute

// asks makes a command one of a server: it gets the flags that say which, and a session when it runs.
func asks(p *Program, g *globals, cmd *cobra.Command, run func(ctx context.Context, s *session, args []string) error) *cobra.Command {
	return asksOr(p, g, cmd, run, nil)
}

// asksOr is asks for a command that can also do without a server: local, unless nil, runs when none is named and no process
// has the local store open.
func asksOr(p *Program, g *globals, cmd *cobra.Command, run func(ctx context.Context, s *session, args []string) error, local func(cmd *cobra.Command, shown *shape) error) *cobra.Command {
	r := &remote{}
	flags := cmd.Flags()
	r.where.add(flags)
	r.shape.add(flags)
	flags.DurationVar(&r.patience, "timeout", defaultPatience, "the longest silence of the server before it is given up; of a command that waits for a run: how long it waits, with exit code 4")
	cmd.ValidArgsFunction = r.completes(p, g)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		around, err := p.around(g.open())
		if err != nil {
			return err
		}
		if err := r.sound(cmd, around.Getenv("AION_OUTPUT")); err != nil {
			return err
		}
		if r.patience <= 0 {
			return &usage{message: fmt.Sprintf("--timeout must be more than 0; got %s", r.patience)}
		}
		if local != nil {
			alone, err := r.alone(around)
			if err != nil {
				return err
			}
			if alone {
				return local(cmd, &r.shape)
			}
		}
		s, err := r.session(cmd, p, g, around)
		if err != nil {
			return err
		}
		defer s.Close()
		s.shape = r.shape
		if cmd.Flags().Changed("timeout") {
			s.timeout = r.patience
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error { return run(ctx, s, args) })
	}
	return cmd
}

// session resolves flags, environment, context and discovery, in this order.
func (w *where) session(cmd *cobra.Command, p *Program, g *globals, around *Surroundings) (*session, error) {
	profile, err := w.profile(around)
	if err != nil {
		return nil, err
	}
	t, err := w.target(cmd, p, around, profile)
	if err != nil {
		return nil, err
	}
	t.Patience = cmp.Or(w.patience, defaultPatience)
	if g.verbose {
		t.Trace = func(e client.Exchange) {
			fmt.Fprintf(p.Err, "%s %s %d %s %s\n", e.Method, printable(e.Path), e.Status, e.Took.Round(time.Millisecond), printable(e.RequestID))
		}
	}
	c, err := client.New(t)
	if err != nil {
		return nil, err
	}
	return &session{Client: c, p: p, g: g, ns: w.inNamespace(around, profile)}, nil
}

func (w *where) inNamespace(around *Surroundings, profile profile) string {
	return cmp.Or(w.namespace, around.Getenv("AION_NAMESPACE"), profile.Namespace, around.Namespace, "default")
}

const defaultServer = "http://127.0.0.1:8080"

// named reports whether a server is meant, be it this machine's owner of the store or not: by flag, environment or context.
func (w *where) named(around *Surroundings) (bool, error) {
	if w.server != "" || around.Getenv("AION_SERVER") != "" {
		return true, nil
	}
	profile, err := w.profile(around)
	return profile.Server != "", err
}

// alone reports whether no server is named and no process has the local store open.
func (w *where) alone(around *Surroundings) (bool, error) {
	named, err := w.named(around)
	if err != nil || named {
		return false, err
	}
	_, held, err := around.Owner()
	return !held, err
}

// address finds the server.
func (w *where) address(around *Surroundings, profile profile) (string, error) {
	if url := cmp.Or(w.server, around.Getenv("AION_SERVER"), profile.Server); url != "" {
		return url, nil
	}
	address, held, err := around.Owner()
	switch {
	case err != nil:
		return "", err
	case held && address == "":
		return "", &domain.Error{Code: domain.CodeUnavailable, Type: "NoServer", Message: "the process that has the local store open serves nothing now; repeat the command"}
	case held:
		return address, nil
	}
	return defaultServer, nil
}

func (w *where) target(cmd *cobra.Command, p *Program, around *Surroundings, profile profile) (client.Target, error) {
	address, err := w.address(around, profile)
	if err != nil {
		return client.Target{}, err
	}
	t := client.Target{URL: address, SkipVerify: w.insecure}
	if t.Token, t.Credential, err = w.credential(p, around, profile); err != nil {
		return t, err
	}
	deploy := w.deploy
	if text := around.Getenv("AION_DEPLOY"); text != "" && !cmd.Flags().Changed("deploy") {
		if deploy, err = strconv.ParseBool(text); err != nil {
			return t, &usage{message: fmt.Sprintf("AION_DEPLOY must be true or false; got %q", text)}
		}
	}
	t.Header = map[string]string{"X-Aion-Namespaces": "*", "X-Aion-Deploy": strconv.FormatBool(deploy)}
	subject := cmp.Or(w.subject, around.Getenv("AION_SUBJECT"), profile.Subject)
	if subject == "" && (!w.owner || t.Token != "") {
		subject = around.User
	}
	if subject != "" {
		t.Header["X-Aion-Subject"] = subject
	}
	if file := cmp.Or(w.caFile, around.Getenv("AION_CA_FILE"), profile.CAFile); file != "" {
		t.RootCAs, err = authorities(file)
	}
	return t, err
}

// credential is the bearer that is shown, and where it is from.
func (w *where) credential(p *Program, around *Surroundings, profile profile) (token, source string, err error) {
	name, isFile := strings.CutPrefix(w.token, "@")
	switch {
	case w.token == "-" && w.typed != "":
		return w.typed, "standard input", nil
	case w.token == "-":
		text, err := io.ReadAll(io.LimitReader(p.In, maxTokenFile))
		if err != nil {
			return "", "", fileRefusal("read", "standard input", err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return "", "", &usage{message: "standard input holds no token"}
		}
		w.typed = token // what was read is not there again
		return token, "standard input", nil
	case isFile:
		token, err = readToken(name)
		return token, name, err
	case w.token != "":
		if w.typed == "" {
			fmt.Fprintln(p.Err, "warning: a token on the command line can be read by every user of this machine; use --token @FILE or AION_TOKEN")
		}
		w.typed = w.token
		return w.token, "--token", nil
	}
	if token = around.Getenv("AION_TOKEN"); token != "" {
		return token, "AION_TOKEN", nil
	}
	return profile.credential(around)
}

func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fileRefusal("read", file, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, &usage{message: file + " holds no certificate in PEM"}
	}
	return pool, nil
}

// confirm asks before something is destroyed. Without a terminal only --yes does.
func (s *session) confirm(what string) error {
	if s.shape.yes {
		return nil
	}
	if !s.p.InTerminal || !s.p.ErrTerminal {
		return &usage{message: what + " needs --yes where nobody can be asked"}
	}
	fmt.Fprintf(s.p.Err, "%s? [y/N] ", what)
	answer := readLine(s.p.In)
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return &usage{message: "not done"}
	}
	return nil
}

// readLine reads one line and nothing behind it.
func readLine(r io.Reader) string {
	var line []byte
	for b := make([]byte, 1); len(line) < 4096; {
		n, err := r.Read(b)
		if n == 1 && b[0] == '\n' || err != nil {
			break
		}
		line = append(line, b[:n]...)
	}
	return string(line)
}
