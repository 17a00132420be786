package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"aion/adapters/cli"
)

// listener is a process side whose server listens where it is told.
type listener struct {
	cli.Backend // the other commands are not used

	at    cli.Listening
	shown bool
}

func (*listener) AddFlags(*pflag.FlagSet) {}

func (l *listener) Serve(_ context.Context, _ cli.Open, ready func(cli.Listening) bool) error {
	l.shown = ready(l.at)
	return nil
}

// server 5.1: the first line says who may use the server, and never more than is true.
func TestTheBannerSaysWhoMayUseTheServer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"off", "token", "jwks"} {
		for reachable, reach := range map[bool]string{false: "loopback only", true: "REACHABLE FROM OTHER MACHINES"} {
			l := &listener{at: cli.Listening{
				Version: "1", URL: "http://127.0.0.1:7", Store: "sqlite x", Auth: mode, Reachable: reachable, MCP: true, Warnings: []string{"look here"},
			}}
			var errs bytes.Buffer
			if code := cli.Run(t.Context(), cli.Program{Out: &bytes.Buffer{}, Err: &errs, ErrTerminal: true, Backend: l}, []string{"server"}); code != 0 {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			first, rest, _ := strings.Cut(errs.String(), "\n")
			if want := "aion 1   sqlite x   auth " + mode + ", " + reach; first != want {
				t.Errorf("%q, wanted %q", first, want)
			}
			install := "aion mcp install --target claude-code --token @FILE "
			if mode == "off" {
				install = "aion mcp install --target claude-code  "
			}
			for _, want := range []string{"http://127.0.0.1:7/mcp", install} {
				if !strings.Contains(rest, want) {
					t.Errorf("%q is missing in\n%s", want, rest)
				}
			}
			if strings.Count(rest, "look here") != 1 || !l.shown {
				t.Errorf("the warning stands once, and the log is told so (%t):\n%s", l.shown, rest)
			}
		}
	}
}

// Without a terminal, or with -q, there is no banner and the log has all of it.
func TestWithoutATerminalThereIsNoBanner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal bool
		args     []string
	}{{false, []string{"server"}}, {true, []string{"server", "-q"}}} {
		l := &listener{at: cli.Listening{Auth: "off"}}
		var errs bytes.Buffer
		code := cli.Run(t.Context(), cli.Program{Out: &bytes.Buffer{}, Err: &errs, ErrTerminal: c.terminal, Backend: l}, c.args)
		if code != 0 || errs.Len() > 0 || l.shown {
			t.Errorf("%v: exit %d, shown %t: %s", c.args, code, l.shown, errs.String())
		}
	}
}
