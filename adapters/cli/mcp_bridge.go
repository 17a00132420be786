package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// serverFlags say which server is asked, and as whom.
type serverFlags struct {
	url, token, subject, namespaces, caFile, context string
	deploy, insecure                                 bool
	timeout                                          time.Duration
	local                                            bool // the local store is meant, whatever context is in use
}

func (f *serverFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "the server or its MCP endpoint (default AION_SERVER, else the context's, else the server that has the local store open, else http://127.0.0.1:8080)")
	flags.StringVar(&f.token, "token", "", "bearer token: @FILE reads it from a file (default AION_TOKEN, else the context's)")
	flags.StringVar(&f.subject, "subject", "", "who asks, for the server's log (default AION_SUBJECT, else the context's, else the user of this system)")
	flags.StringVarP(&f.namespaces, "namespace", "n", "", "namespaces to reach, comma-separated (default AION_NAMESPACE, else all)")
	flags.BoolVar(&f.deploy, "deploy", true, "ask for the deploy grant (default AION_DEPLOY, else true)")
	flags.StringVar(&f.caFile, "ca-file", "", "certificates of the authority that signed the server's (default AION_CA_FILE, else the context's, else the system's)")
	flags.StringVar(&f.context, "context", "", "a saved profile (default AION_CONTEXT, else the one that `aion context use` chose)")
	flags.BoolVar(&f.insecure, "insecure-skip-verify", false, "take any certificate; refused together with a token, but for this machine")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "the longest silence of the server before a call is given up")
}

func (f *serverFlags) request(cmd *cobra.Command, p *Program, g *globals) (MCPRequest, error) {
	r := MCPRequest{URL: f.url, Subject: f.subject, Namespaces: f.namespaces, CAFile: f.caFile, SkipVerify: f.insecure, Timeout: f.timeout, Log: p.Err}
	if cmd.Flags().Changed("deploy") {
		r.Deploy = &f.deploy
	}
	if f.timeout <= 0 {
		return r, &usage{message: fmt.Sprintf("--timeout must be more than 0; got %s", f.timeout)}
	}
	name, isFile := strings.CutPrefix(f.token, "@")
	switch {
	case f.token == "-":
		return r, &usage{message: "--token cannot read standard input here: it is the client's", hint: "--token @FILE reads a file"}
	case isFile:
		token, err := readToken(name)
		if err != nil {
			return r, err
		}
		r.Token, r.Credential = token, name
	case f.token != "":
		fmt.Fprintln(p.Err, "warning: a token on the command line can be read by every user of this machine; use --token @FILE or AION_TOKEN")
		r.Token, r.Credential = f.token, "--token"
	}
	if f.local {
		return r, nil
	}
	err := f.inContext(p, g, &r)
	return r, err
}

// inContext fills in what a saved profile says and neither a flag nor the environment does.
func (f *serverFlags) inContext(p *Program, g *globals, r *MCPRequest) error {
	around, err := p.around(g.openAsClient())
	if err != nil {
		return err
	}
	saved, err := (&where{server: f.url, context: f.context}).profile(around)
	if err != nil || saved.Server == "" {
		return err
	}
	unless := func(variable, given, saved string) string {
		if given == "" && around.Getenv(variable) == "" {
			return saved
		}
		return given
	}
	r.URL = unless("AION_SERVER", r.URL, saved.Server)
	r.Subject, r.CAFile = unless("AION_SUBJECT", r.Subject, saved.Subject), unless("AION_CA_FILE", r.CAFile, saved.CAFile)
	if r.Token == "" && around.Getenv("AION_TOKEN") == "" {
		r.Token, r.Credential, err = saved.credential(around)
	}
	return err
}

const maxTokenFile = 64 << 10

func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fileRefusal("read", name, err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return "", fileRefusal("read", name, err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || len(text) > maxTokenFile {
		return "", &usage{message: name + " holds no token: one line, at most 64 KiB"}
	}
	return token, nil
}

func newMCPBridge(p *Program, g *globals) *cobra.Command {
	var f serverFlags
	var embedded bool
	var logFile string
	cmd := &cobra.Command{
		Use:   "bridge",
		Short: "be an MCP server on standard input and output for a client that launches commands",
		Long: "Passes on to the aion server what a client asks on standard input, one message per line. It speaks revision 2026-07-28 and the older\n" +
			"ones that begin with initialize. It starts without a server: calls are then refused, and served as soon as there is one.",
		Example: "  aion mcp bridge --url http://127.0.0.1:8080 --log bridge.log",
		Args:    arguments(0, 0, "no arguments"),
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&embedded, "embedded", false, "when no process has the local store open, open it and be the server")
	cmd.Flags().StringVar(&logFile, "log", "", "append the log to this file instead of standard error")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if embedded && (f.url != "" || f.context != "") {
			return &usage{message: "--embedded opens the local store, --url and --context name a server; give one of them"}
		}
		f.local = embedded
		r, err := f.request(cmd, p, g)
		if err != nil {
			return err
		}
		r.Embedded = embedded
		if logFile != "" {
			file, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return fileRefusal("written", logFile, err)
			}
			defer file.Close() //nolint:errcheck // lines are written whole
			r.Log = file
		}
		m, err := p.Backend.MCP(g.open())
		if err != nil {
			return err
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error { return m.Bridge(ctx, r, p.In, p.Out) })
	}
	return cmd
}
