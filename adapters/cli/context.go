package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
)

func newContextCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "context", Short: "keep servers under a name: list, show, save, use, delete"}
	return group(cmd, newContextList(p, g), newContextShow(p, g), newContextSave(p, g), newContextUse(p, g), newContextDelete(p, g))
}

// withContexts gives the saved contexts to one command.
func withContexts(p *Program, g *globals, do func(around *Surroundings, c *contexts) error) error {
	around, err := p.around(g.open())
	if err != nil {
		return err
	}
	c, err := readContexts(around.Home)
	if err != nil {
		return err
	}
	return do(around, c)
}

func newContextList(p *Program, g *globals) *cobra.Command {
	var output string
	cmd := &cobra.Command{Use: "list", Short: "list the saved contexts", Example: "  aion context list", Args: arguments(0, 0, "no arguments")}
	outputFlag(cmd, &output)
	cmd.RunE = func(*cobra.Command, []string) error {
		return withContexts(p, g, func(_ *Surroundings, c *contexts) error {
			if output == "json" {
				return printJSON(p.Out, c)
			}
			t := newTable(p.screen(), []column{text("NAME", "name"), text("SERVER", "server"), text("NAMESPACE", "namespace"), mark("CURRENT", "current", "current")})
			for _, one := range c.Contexts {
				if err := t.add(object{"name": one.Name, "server": one.Server, "namespace": one.Namespace, "current": one.Name == c.Current}); err != nil {
					return err
				}
			}
			return t.end()
		})
	}
	return cmd
}

func newContextShow(p *Program, g *globals) *cobra.Command {
	var output string
	cmd := &cobra.Command{Use: "show [NAME]", Short: "show a context, by default the current one; never its token", Example: "  aion context show", Args: arguments(0, 1, "at most one name")}
	outputFlag(cmd, &output)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return withContexts(p, g, func(_ *Surroundings, c *contexts) error {
			name := cmp.Or(strings.Join(args, ""), c.Current)
			if name == "" {
				return &usage{message: "no context is in use", hint: "aion context list shows the saved ones"}
			}
			found, err := c.find(name)
			if err != nil {
				return err
			}
			if output == "json" {
				return printJSON(p.Out, found)
			}
			text, err := marshal(found)
			if err != nil {
				return err
			}
			return printYAML(p.Out, text)
		})
	}
	return cmd
}

type contextFlags struct{ server, namespace, subject, token, tokenEnv, caFile string }

func newContextSave(p *Program, g *globals) *cobra.Command {
	f := &contextFlags{}
	cmd := &cobra.Command{
		Use:   "save NAME",
		Short: "save a server, and who asks it, under a name",
		Long: "Saves what the flags say; of a context that exists, what no flag names stays. --token writes the token to a file of its own that only\n" +
			"you can read; it is sent to this server and nowhere else.",
		Example: "  aion context save prod --server https://aion.example.org --token @token.txt",
		Args:    arguments(1, 1, "one name"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "", "URL of the server, or unix:/path of its socket")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of commands that name none")
	flags.StringVar(&f.subject, "subject", "", "who asks, where the server takes it from callers")
	flags.StringVar(&f.token, "token", "", "bearer token: @FILE reads it from a file, - from standard input")
	flags.StringVar(&f.tokenEnv, "token-env", "", "the environment variable that holds the token")
	flags.StringVar(&f.caFile, "ca-file", "", "certificates of the authority that signed the server's")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return withContexts(p, g, func(around *Surroundings, c *contexts) error { return f.save(p, around, c, args[0]) })
	}
	return cmd
}

func (f *contextFlags) save(p *Program, around *Surroundings, c *contexts, name string) error {
	if !contextName.MatchString(name) {
		return &usage{message: fmt.Sprintf("a context's name has at most 63 letters, digits, ., - and _; got %q", cut(name, 64))}
	}
	if f.token != "" && f.tokenEnv != "" {
		return &usage{message: "--token and --token-env exclude each other"}
	}
	at := slices.IndexFunc(c.Contexts, func(one profile) bool { return one.Name == name })
	if at < 0 {
		c.Contexts = append(c.Contexts, profile{Name: name})
		at = len(c.Contexts) - 1
	}
	one := &c.Contexts[at]
	if f.server != "" && one.Server != "" && origin(f.server) != origin(one.Server) && f.token == "" && f.tokenEnv == "" && (one.TokenFile != "" || one.TokenEnv != "") {
		return &usage{message: fmt.Sprintf("context %s holds the token of %s; give the one of %s with --token, or delete the context first", name, one.Server, f.server)}
	}
	one.Server, one.Namespace, one.Subject = cmp.Or(f.server, one.Server), cmp.Or(f.namespace, one.Namespace), cmp.Or(f.subject, one.Subject)
	if one.Server == "" {
		return &usage{message: "a context needs a server", hint: "aion context save " + name + " --server http://127.0.0.1:8080"}
	}
	if f.caFile != "" {
		abs, err := filepath.Abs(f.caFile)
		if err != nil {
			return err
		}
		one.CAFile = abs
	}
	token, err := f.take(p, around, one)
	if err != nil {
		return err
	}
	probe := client.Target{URL: one.Server, Token: token, Credential: cmp.Or(one.TokenFile, one.TokenEnv)}
	if probe.Credential != "" && token == "" {
		probe.Token = "x" // stands for the token: what counts is whether one may go there
	}
	check, err := client.New(probe)
	if err != nil {
		return err // nothing is written so far
	}
	check.Close()
	if token != "" {
		if err := writePrivate(one.TokenFile, []byte(token+"\n")); err != nil {
			return err
		}
	}
	return c.write()
}

// take says where the context has its token from, and gives one that is to be written there.
func (f *contextFlags) take(p *Program, around *Surroundings, one *profile) (token string, err error) {
	if f.tokenEnv != "" {
		one.TokenEnv, one.TokenFile = f.tokenEnv, ""
		return "", nil
	}
	if f.token == "" {
		return "", nil
	}
	if token, _, err = (&where{token: f.token}).credential(p, around, profile{}); err != nil {
		return "", err
	}
	one.TokenFile, one.TokenEnv = filepath.Join(around.Home, "tokens", one.Name), ""
	return token, nil
}

func newContextUse(p *Program, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "let commands that name no server ask the one of this context", Example: "  aion context use prod", Args: arguments(1, 1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withContexts(p, g, func(_ *Surroundings, c *contexts) error {
				if _, err := c.find(args[0]); err != nil {
					return err
				}
				c.Current = args[0]
				return c.write()
			})
		},
	}
}

func newContextDelete(p *Program, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "forget a context, and the token that was saved with it", Example: "  aion context delete prod", Args: arguments(1, 1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withContexts(p, g, func(around *Surroundings, c *contexts) error {
				found, err := c.find(args[0])
				if err != nil {
					return err
				}
				saved := filepath.Join(around.Home, "tokens", found.Name)
				own := found.TokenFile == saved
				c.Contexts = slices.DeleteFunc(c.Contexts, func(one profile) bool { return one.Name == args[0] })
				if c.Current == args[0] {
					c.Current = ""
				}
				if err := c.write(); err != nil || !own {
					return err
				}
				if err := os.Remove(saved); err != nil && !os.IsNotExist(err) {
					return fileRefusal("deleted", saved, err)
				}
				return nil
			})
		},
	}
}
