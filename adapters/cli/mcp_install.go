package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"aion/adapters/cli/clients"
	"aion/domain/awl/diag"
)

type installFlags struct {
	targets                     []string
	scope, transport, url, name string
	token, context              string
	print, uninstall, embedded  bool
}

func newMCPInstall(p *Program, g *globals) *cobra.Command {
	f := &installFlags{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "write this program into the configuration of MCP clients",
		Long: "Adds one entry to the configuration of each target and leaves every other byte as it is; the text before stays beside it as FILE.bak.\n" +
			"Without --target it lists the clients that are found on this machine.",
		Example: "  aion mcp install\n  aion mcp install --target cursor --scope project\n  aion mcp install --target claude-desktop --print",
		Args:    arguments(0, 0, "no arguments; clients are named with --target"),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.targets, "target", nil, strings.Join(targetNames(), ", ")+"; may be repeated")
	flags.StringVar(&f.scope, "scope", string(clients.User), "user, or project: the configuration in the current directory")
	flags.StringVar(&f.transport, "transport", "bridge", "bridge: the client launches this program; http: for clients that speak 2026-07-28 themselves")
	flags.StringVar(&f.url, "url", "", "the server (default: the bridge finds it at each start; http: the server that is found now)")
	flags.StringVar(&f.name, "name", "aion", "name of the entry")
	flags.StringVar(&f.token, "token", "", "@FILE: the bridge reads its token from this file; a token itself is never written")
	flags.StringVar(&f.context, "context", "", "a saved profile: the bridge takes server and token from it; http: its server")
	flags.BoolVar(&f.print, "print", false, "print the entry and write nothing")
	flags.BoolVar(&f.uninstall, "uninstall", false, "take the entry away")
	flags.BoolVar(&f.embedded, "embedded", false, "the bridge opens the local store itself when no server has it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return err
		}
		m, err := p.Backend.MCP(g.open())
		if err != nil {
			return err
		}
		server, err := f.server(cmd.Context(), p, m, g)
		if err != nil {
			return err
		}
		if len(f.targets) == 0 {
			return f.list(p, m, server)
		}
		for _, name := range f.targets {
			target, _ := clients.Find(name)
			if err := f.install(cmd.Context(), p, m, target, server); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

func targetNames() []string {
	var names []string
	for _, t := range clients.Targets() {
		names = append(names, t.Name)
	}
	return names
}

var entryName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check refuses flags that mean nothing, before anything is done.
func (f *installFlags) check() error {
	for _, name := range f.targets {
		if _, ok := clients.Find(name); ok {
			continue
		}
		wrong := &usage{message: fmt.Sprintf("there is no target %q", name), hint: "targets are " + strings.Join(targetNames(), ", ")}
		if near := diag.Closest(name, targetNames()); near != "" {
			wrong.hint = "did you mean: --target " + near
		}
		return wrong
	}
	switch {
	case f.scope != string(clients.User) && f.scope != string(clients.Project):
		return &usage{message: fmt.Sprintf("--scope takes user or project; got %q", f.scope)}
	case f.transport != "bridge" && f.transport != "http":
		return &usage{message: fmt.Sprintf("--transport takes bridge or http; got %q", f.transport)}
	case !entryName.MatchString(f.name):
		return &usage{message: fmt.Sprintf("--name takes at most 64 letters, digits, - and _; got %q", f.name)}
	case f.token != "" && !strings.HasPrefix(f.token, "@"):
		return &usage{message: "a token is never written into a configuration", hint: "--token @FILE names a file that the bridge reads"}
	case f.transport == "http" && f.token != "":
		return &usage{message: "--token is for --transport bridge; over http clients read AION_TOKEN from their environment"}
	case f.transport == "http" && f.embedded:
		return &usage{message: "--embedded is for --transport bridge"}
	case f.embedded && (f.url != "" || f.context != ""):
		return &usage{message: "--embedded opens the local store, --url and --context name a server; give one of them"}
	case f.context != "" && f.token != "":
		return &usage{message: "--context brings its own token; give one of --context and --token", hint: "aion context save " + f.context + " --token " + f.token}
	}
	return nil
}

// server is what the entry says. A bridge finds its server at each start, so its entry names one only when it was named.
func (f *installFlags) server(ctx context.Context, p *Program, m *MCP, g *globals) (clients.Server, error) {
	if f.context != "" {
		around, err := p.around(g.openAsClient())
		if err != nil {
			return clients.Server{}, err
		}
		saved, err := (&where{server: f.url, context: f.context}).profile(around) // one that there is, and of this server
		if err != nil {
			return clients.Server{}, err
		}
		if f.transport == "http" {
			f.url = saved.Server
		}
	}
	if f.transport == "http" {
		endpoint, found, err := m.Endpoint(ctx, f.url)
		if err != nil {
			return clients.Server{}, err
		}
		if !found {
			fmt.Fprintf(p.Err, "no server was found; the entry names %s\n", endpoint)
		}
		if strings.HasPrefix(endpoint, "unix:") {
			return clients.Server{}, &usage{message: "the server at " + endpoint + " has no URL; use --transport bridge, or name one with --url"}
		}
		s := clients.Server{URL: endpoint, Token: m.Token}
		if m.Token {
			s.Headers = []clients.Member{{Name: "x-aion-subject", Value: m.Subject}, {Name: "x-aion-namespaces", Value: "*"}, {Name: "x-aion-deploy", Value: "true"}}
		}
		return s, nil
	}
	args, err := f.arguments(ctx, m, g)
	return clients.Server{Command: m.Program, Args: args}, err
}

// arguments are those of the bridge. Directories are absolute: the client starts it from anywhere.
func (f *installFlags) arguments(ctx context.Context, m *MCP, g *globals) ([]string, error) {
	args := []string{"mcp", "bridge"}
	add := func(flag, value string) error {
		if value == "" {
			return nil
		}
		abs, err := filepath.Abs(value)
		args = append(args, flag, abs)
		return err
	}
	if err := add("--home", cmp.Or(g.home, m.Home)); err != nil {
		return nil, err
	}
	if err := add("--config", cmp.Or(g.config, m.Config)); err != nil {
		return nil, err
	}
	if f.context != "" {
		args = append(args, "--context", f.context)
	} else if url := cmp.Or(f.url, m.Server); url != "" && !f.embedded {
		endpoint, _, err := m.Endpoint(ctx, url)
		if err != nil {
			return nil, err
		}
		args = append(args, "--url", endpoint)
	}
	if f.token != "" {
		abs, err := filepath.Abs(strings.TrimPrefix(f.token, "@"))
		if err != nil {
			return nil, err
		}
		args = append(args, "--token", "@"+abs)
	}
	if f.embedded {
		args = append(args, "--embedded")
	}
	return args, nil
}

func (f *installFlags) install(ctx context.Context, p *Program, m *MCP, t clients.Target, s clients.Server) error {
	entry, err := t.Entry(s)
	if err != nil {
		return err
	}
	file, err := t.File(m.Places, clients.Scope(f.scope))
	if err != nil {
		return err
	}
	if f.print && !f.uninstall {
		fmt.Fprintf(p.Err, "%s reads this from %s\n", t.Name, printable(file))
		_, err := fmt.Fprint(p.Out, t.Render(f.name, entry))
		return err
	}
	if t.Name == clients.ClaudeCode && f.scope == string(clients.User) {
		return f.claude(ctx, p, m, t, entry)
	}
	fresh := fs.FileMode(0o600)
	if f.scope == string(clients.Project) {
		fresh = 0o644
	}
	edit, done, same := func(text []byte) ([]byte, error) { return t.Merge(text, f.name, entry) }, "installed", "already installed"
	if f.uninstall {
		edit, done, same = func(text []byte) ([]byte, error) { return t.Remove(text, f.name) }, "uninstalled", "not installed"
	}
	if f.print {
		_, err := fmt.Fprintf(p.Out, "%s\ttake away the entry %s\t%s\n", t.Name, f.name, printable(file))
		return err
	}
	changed, err := clients.Change(file, fresh, edit)
	if err != nil {
		return err
	}
	if !changed {
		done = same
	}
	_, err = fmt.Fprintf(p.Out, "%s\t%s\t%s\n", t.Name, done, printable(file))
	if err == nil && changed {
		fmt.Fprintf(p.Err, "restart %s, or let it read its servers again\n", t.Name)
	}
	return err
}

// list shows the clients that are found here, what they say about the entry, and the command that adds it.
func (f *installFlags) list(p *Program, m *MCP, s clients.Server) error {
	found := 0
	for _, t := range clients.Targets() {
		_, missing := os.Stat(t.Trace(m.Places))
		_, program := m.Find("claude")
		if missing != nil && (t.Name != clients.ClaudeCode || !program) {
			continue
		}
		file, err := t.File(m.Places, clients.User)
		if err != nil {
			return err
		}
		entry, err := t.Entry(s)
		if err != nil {
			entry, _ = t.Entry(clients.Server{Command: m.Program, Args: []string{"mcp", "bridge"}})
		}
		if found++; found == 1 {
			if _, err := fmt.Fprintln(p.Out, "TARGET\tSTATE\tFILE\tCOMMAND"); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(p.Out, "%s\t%s\t%s\taion mcp install --target %s\n", t.Name, stateOf(t, file, f.name, entry), printable(file), t.Name); err != nil {
			return err
		}
	}
	if found == 0 {
		fmt.Fprintf(p.Err, "no client was found on this machine; name one with --target: %s\n", strings.Join(targetNames(), ", "))
	}
	return nil
}

func stateOf(t clients.Target, file, name string, e clients.Entry) string {
	text, _, err := clients.Read(file)
	if err != nil {
		return "unreadable"
	}
	switch state, err := t.State(text, name, e); {
	case err != nil:
		return "broken"
	case state == clients.Installed:
		return "installed"
	case state == clients.Different:
		return "differs"
	default:
		return "not installed"
	}
}
