package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// worldWarnings are settings of the world of commands that do less than they seem to.
func (x *Executor) worldWarnings() []string {
	return slices.Concat(
		x.looked("actions.allowed_programs", x.programWarnings),
		x.looked("actions.env", x.grantWarnings),
		x.looked("actions.workspace_root", x.rootWarnings),
	)
}

// looked gives the warnings of a look at files. One that is not answered is one of them: it holds no start.
func (x *Executor) looked(key string, look func() []string) []string {
	var list []string
	if !x.pool.inTime(func() { list = look() }) {
		return []string{fmt.Sprintf("%s was not examined: a file system that it names did not answer within %s", key, x.o.KillWait)}
	}
	return list
}

func (x *Executor) programWarnings() (list []string) {
	for _, entry := range x.o.AllowedPrograms {
		if warning := x.entryWarning(entry); warning != "" {
			list = append(list, "actions.allowed_programs names "+warning)
		}
	}
	return list
}

func (x *Executor) grantWarnings() (list []string) {
	for _, g := range x.o.Env {
		value, err := x.o.valueOf(g)
		if !g.Secret || err != nil {
			continue
		}
		short := 0
		for _, line := range linesOf(value) {
			if len(line) > 0 && len(line) < minSecret {
				short++
			}
		}
		switch {
		case len(value) < minSecret:
			list = append(list, fmt.Sprintf("actions.env: the secret %s has fewer than %d bytes, so it is not masked in what commands print", g.Name, minSecret))
		case short > 0:
			list = append(list, fmt.Sprintf("actions.env: lines of the secret %s that have fewer than %d bytes (%d of them) are masked only where the "+
				"whole value is printed", g.Name, minSecret, short))
		}
	}
	return list
}

// entryWarning names an admitted program that runs others, by its own name or by what it is a link to, and an entry that is
// in vain because of what it is a link to.
func (x *Executor) entryWarning(entry string) string {
	const open = "which runs any other program: the list keeps nothing out"
	found, err := lookup(entry, strings.Join(x.o.ProgramDirs, string(filepath.ListSeparator)))
	resolved := ""
	if err == nil {
		resolved, err = filepath.EvalSymlinks(found)
	}
	switch byPath := strings.Contains(entry, "/"); {
	case err == nil && byPath && resolved != entry:
		return fmt.Sprintf("%s, whose real path is %s: the entry admits nothing; name the real path", entry, resolved)
	case err == nil && !byPath && !x.inside(resolved):
		return fmt.Sprintf("%s, whose real path %s is outside actions.program_dirs: the entry admits nothing; name the real path", entry, resolved)
	case runsAny(entry):
		return entry + ", " + open
	case err == nil && runsAny(resolved):
		return entry + " (" + resolved + "), " + open
	}
	return "" // also one that is not there yet
}

func runsAny(program string) bool {
	return slices.Contains(runsOthers(), strings.TrimRight(filepath.Base(program), "0123456789."))
}

// rootWarnings look at the workspace root as it is before the first command. Whoever may not use it finds out by an action
// that fails, so it is said at the start.
func (x *Executor) rootWarnings() []string {
	root := x.o.WorkspaceRoot
	if !filepath.IsAbs(root) {
		return nil // actions that need it say why they fail
	}
	var list []string
	info, err := os.Stat(root)
	if err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 {
		list = append(list, fmt.Sprintf("actions.workspace_root %s has mode %04o, so other users of this host reach workspaces; chmod 700 %s",
			root, info.Mode().Perm(), root))
	}
	if x.o.user == nil {
		return list
	}
	if reason := x.o.user.hindered(root); reason != "" {
		list = append(list, fmt.Sprintf("actions.run_as %s cannot use actions.workspace_root %s: %s. Actions that use {workspace_root} fail; name "+
			"a root outside the private home, in a directory that exists and that this user can pass", x.o.RunAs, root, reason))
	}
	return list
}

// hindered tells why the user cannot use a directory, which is made for it when it is missing; empty: it can. Lists of
// access rights beside the modes are not read.
func (c *credential) hindered(root string) string {
	parent, err := filepath.EvalSymlinks(filepath.Dir(root))
	if err != nil { // the server would make it, for itself alone
		return filepath.Dir(root) + " does not exist yet and would be private to the server"
	}
	for dir := parent; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Sprintf("%s cannot be examined", dir)
		}
		if !c.may(info, 1) {
			return fmt.Sprintf("it cannot pass %s (mode %04o)", dir, info.Mode().Perm())
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return fmt.Sprintf("%s cannot be examined", root)
	case !info.IsDir():
		return root + " is not a directory"
	case !c.may(info, 7):
		return fmt.Sprintf("%s (mode %04o) belongs to another user", root, info.Mode().Perm())
	}
	return ""
}

// may reports whether the mode of a file gives the user these rights: 4 to read, 2 to write, 1 to pass.
func (c *credential) may(info fs.FileInfo, rights fs.FileMode) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || c.uid == 0 {
		return true
	}
	mode := info.Mode().Perm()
	switch {
	case st.Uid == c.uid:
		mode >>= 6
	case slices.Contains(c.groups, st.Gid):
		mode >>= 3
	}
	return mode&rights == rights
}
