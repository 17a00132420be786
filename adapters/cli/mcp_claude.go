package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aion/adapters/cli/clients"
)

// claude changes the user scope of Claude Code, which its own command keeps: the file is only read.
func (f *installFlags) claude(ctx context.Context, p *Program, m *MCP, t clients.Target, e clients.Entry) error {
	file, err := t.File(m.Places, clients.User)
	if err != nil {
		return err
	}
	text, _, err := clients.Read(file)
	if err != nil {
		return err
	}
	state, err := t.State(text, f.name, e)
	var wrong *clients.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return &usage{message: fmt.Sprintf("%s:%d:%d: %s; mend the file first, nothing was changed", file, wrong.Line, wrong.Column, wrong.What)}
	case err != nil:
		return &usage{message: fmt.Sprintf("%s: %v; nothing was changed", file, err)}
	}
	remove := []string{"mcp", "remove", "--scope", "user", f.name}
	add := []string{"mcp", "add-json", "--scope", "user", f.name, t.JSON(e)}
	commands, done := [][]string{add}, "installed"
	switch {
	case f.uninstall && state == clients.Absent:
		return told(p, t, "not installed", file)
	case !f.uninstall && state == clients.Installed:
		return told(p, t, "already installed", file)
	case f.uninstall:
		commands, done = [][]string{remove}, "uninstalled"
	case state == clients.Different:
		commands = [][]string{remove, add}
	}
	program, ok := m.Find("claude")
	if !ok || f.print {
		if !f.print {
			fmt.Fprintln(p.Err, "claude is not on the PATH; run this where it is:")
		}
		for _, args := range commands {
			if _, err := fmt.Fprintln(p.Out, "claude "+shellWords(args)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, args := range commands {
		if err := m.Run(ctx, program, args...); err != nil {
			return err
		}
	}
	return told(p, t, done, file)
}

func told(p *Program, t clients.Target, what, file string) error {
	_, err := fmt.Fprintf(p.Out, "%s\t%s\t%s\n", t.Name, what, printable(file))
	return err
}

// shellWords writes arguments as a POSIX shell reads them.
func shellWords(args []string) string {
	words := make([]string, 0, len(args))
	for _, a := range args {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return !strings.ContainsRune("-_./:=@%+,", r) && !alphanumeric(r) }) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
