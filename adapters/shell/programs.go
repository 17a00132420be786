package shell

import (
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

// admitted applies the operator's list (actions 10). An entry with `/` is compared with the resolved real path; one without
// with the name as it was written, which then must resolve inside the program directories.
func (x *Executor) admitted(program, path string) bool {
	if len(x.o.AllowedPrograms) == 0 {
		return true
	}
	found, err := lookup(program, path)
	if err != nil {
		return slices.Contains(x.o.AllowedPrograms, program) // it cannot start; say so and not that it is forbidden
	}
	resolved, err := filepath.EvalSymlinks(found)
	if err != nil {
		return false
	}
	for _, entry := range x.o.AllowedPrograms {
		byPath := strings.Contains(entry, "/")
		if byPath && entry == resolved || !byPath && entry == program && x.inside(resolved) {
			return true
		}
	}
	return false
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
	program, class, name := of.Program, action.Terminal, ""
	var errno unix.Errno
	if errors.As(err, &errno) {
		name = unix.ErrnoName(errno)
		if slices.Contains([]unix.Errno{
			unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY, unix.ENOSPC, unix.EDQUOT,
			unix.EROFS, unix.EIO,
		}, errno) {
			class = action.Retryable
		}
	}
	text := errno.Error()
	if name == "" {
		class, name, text = action.Retryable, "unknown", err.Error()
	}
	hint := ""
	switch {
	case strings.Contains(program, "/") && !filepath.IsAbs(program):
		hint = "; a program with `/` in its name must be an absolute path"
	case errors.Is(err, unix.ENOENT):
		hint = "; the program, or the interpreter that its first line names, is not there: install it, or correct the command"
	case errors.Is(err, unix.EACCES):
		hint = "; make it an executable file for the user of the server"
	case errors.Is(err, unix.ENOEXEC):
		hint = "; it is no program of this machine: begin a script with `#!/bin/sh`"
	}
	at := of.Place()
	if at != "" {
		at += ": "
	}
	d := of.Details()
	d.Errno = name
	return action.Fail(class, action.CodeSpawnFailed,
		fmt.Sprintf("%s`%s` could not be started: %s: %s%s", at, domain.Quote(program, 64), name, text, hint), &d)
}
