package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aion/domain"
	"aion/domain/action"

	"golang.org/x/sys/unix"
)

// lookup finds a program the way the command itself would: on its own PATH, first regular executable file wins. A name
// with `/` must be absolute. Relative elements of PATH are skipped: they would mean the command's directory.
func lookup(program, path string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			return "", fmt.Errorf("a program with `/` in its name must be an absolute path: %w", unix.EINVAL)
		}
		return program, executable(program)
	}
	found := error(unix.ENOENT)
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, program)
		err := executable(candidate)
		if err == nil {
			return candidate, nil
		}
		if errors.Is(err, unix.EACCES) {
			found = err
		}
	}
	return "", found
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "execute", Path: path, Err: unix.EACCES}
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return &fs.PathError{Op: "execute", Path: path, Err: err}
	}
	return nil
}

// found is what the name of a program means at the moment: a command may change that while it runs.
type found struct {
	path    string
	err     error          // why it cannot be started
	refused *action.Failed // why it may not be
}

// find looks a program up, and applies the operator's list to what it finds (actions 10). An entry with `/` is compared with the
// resolved real path; one without with the name as it was written, which then must resolve inside the program directories.
func (x *Executor) find(program, path string) (f found) {
	if f.path, f.err = lookup(program, path); len(x.o.AllowedPrograms) == 0 {
		return f
	}
	listed := slices.Contains(x.o.AllowedPrograms, program)
	refusal := action.ProgramNotAllowed(program)
	if f.err != nil {
		if !listed { // else it cannot start: say so and not that it is forbidden
			f.refused = &refusal
		}
		return f
	}
	resolved, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		f.refused = &refusal
		return f
	}
	for _, entry := range x.o.AllowedPrograms {
		byPath := strings.Contains(entry, "/")
		if byPath && entry == resolved || !byPath && entry == program && x.inside(resolved) {
			return f
		}
	}
	if f.refused = &refusal; listed {
		hint := fmt.Sprintf("add its real path `%s` there", domain.Quote(resolved, 256))
		refusal.Message = strings.Replace(refusal.Message, "add it there", hint, 1)
	}
	return f
}

func (x *Executor) inside(program string) bool {
	for _, dir := range x.o.ProgramDirs {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil && filepath.Dir(program) == resolved {
			return true
		}
	}
	return false
}

// spawnFailure tells what it means that the program of a process could not be started (actions 6.2).
func spawnFailure(of action.Exit, err error) action.Failed {
	hint := ""
	switch {
	case strings.Contains(of.Program, "/") && !filepath.IsAbs(of.Program):
		hint = "; a program with `/` in its name must be an absolute path"
	case errors.Is(err, unix.ENOENT):
		hint = "; the program, or the interpreter that its first line names, is not there: install it, or correct the command"
	case errors.Is(err, unix.EACCES):
		hint = "; make it an executable file for the user of the server"
	case errors.Is(err, unix.EPERM):
		hint = "; this host permits neither the program nor, if that is set, one of the limits in `actions.limits`"
	case errors.Is(err, unix.ENOEXEC):
		hint = "; it is no program of this machine: begin a script with `#!/bin/sh`"
	}
	return notBegun(of, err, fmt.Sprintf("`%s` could not be started", domain.Quote(of.Program, 64)), hint)
}

// directoryFailure tells what it means that a process could not be started because of its directory.
func directoryFailure(of action.Exit, dir string, err error) action.Failed {
	return notBegun(of, err, fmt.Sprintf("the directory %q cannot be used", domain.Quote(dir, 64)),
		"; it must be there when a line starts: create it before, or correct `cwd`")
}

// notBegun names the error of a start, and what it was about.
func notBegun(of action.Exit, err error, what, hint string) action.Failed {
	class, name, text := action.Retryable, "unknown", err.Error()
	if errno := unix.Errno(0); errors.As(err, &errno) {
		class, name, text = action.Terminal, cmp.Or(unix.ErrnoName(errno), name), errno.Error()
		if slices.Contains([]unix.Errno{
			unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY, unix.ENOSPC, unix.EDQUOT,
			unix.EROFS, unix.EIO,
		}, errno) {
			class = action.Retryable
		}
	}
	at := of.Place()
	if at != "" {
		at += ": "
	}
	d := of.Details()
	d.Errno = name
	return action.Fail(class, action.CodeSpawnFailed, fmt.Sprintf("%s%s: %s: %s%s", at, what, name, text, hint), &d)
}
