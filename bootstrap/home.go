package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// resolveHome finds AION_HOME: --home, the variable, else ~/.aion.
func resolveHome(flag string, env map[string]string) (string, error) {
	home, from := flag, "--home"
	if home == "" {
		home, from = env["AION_HOME"], "AION_HOME"
	}
	if home == "" {
		user := env["HOME"]
		if user == "" {
			return "", configRefusal("cannot resolve Aion home: set AION_HOME or HOME")
		}
		home = filepath.Join(user, ".aion")
	}
	home = expandHome(home)
	if !filepath.IsAbs(home) {
		return "", configRefusal(`%s %s is not an absolute path; for a place below this folder write "$PWD/%s"`, from, home, filepath.Clean(home))
	}
	home = filepath.Clean(home)
	if info, err := os.Stat(home); err == nil && !info.IsDir() {
		return "", homeNoDirectory(home)
	}
	return home, nil
}

func homeNoDirectory(home string) error {
	return configRefusal("AION_HOME %s is not a directory; name one, or a place where one can be made", home)
}

// makeHome creates AION_HOME with mode 0700, and refuses one that others can reach: it holds the store and its secrets.
func makeHome(home string) error {
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil { //nolint:gosec // parents follow the system's habit; home itself is private
		return homeUnwritable(home, err)
	}
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return homeUnwritable(home, err)
	}
	return judgeHome(home)
}

// judgeHome refuses a home that is not ours alone, or cannot be written.
func judgeHome(home string) error {
	info, err := os.Lstat(home)
	if err != nil {
		return homeUnwritable(home, err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return configRefusal("AION_HOME %s is a link; name the directory itself", home)
	case !info.IsDir():
		return homeNoDirectory(home)
	case info.Mode().Perm()&0o077 != 0:
		return configRefusal("AION_HOME %s has mode %04o and must be private: chmod 700 %s", home, info.Mode().Perm(), home)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return configRefusal("AION_HOME %s belongs to uid %d and this process runs as uid %d; name a directory of your own", home, st.Uid, os.Geteuid())
	}
	if err := sheltered(filepath.Dir(home)); err != nil {
		return err
	}
	probe, err := os.CreateTemp(home, ".write-*")
	if err != nil {
		return homeUnwritable(home, err)
	}
	name := probe.Name()
	return errors.Join(probe.Close(), os.Remove(name))
}

// sheltered refuses a home below a directory in which others could swap it: writable by others without the sticky bit.
func sheltered(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return configRefusal("the directory %s above AION_HOME cannot be examined: %v", dir, errors.Unwrap(err))
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return configRefusal("AION_HOME lies below %s, which every user can write (mode %04o); use another place or chmod o-w %s", dir, info.Mode().Perm(), dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func homeUnwritable(home string, cause error) error {
	owner := "unknown"
	if info, err := os.Stat(home); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			owner = fmt.Sprintf("uid %d", st.Uid)
		}
	}
	reason := cause
	var path *fs.PathError
	if errors.As(cause, &path) {
		reason = path.Err
	}
	return configRefusal("AION_HOME %s cannot be written (%v; owner %s, this process uid %d); fix its owner with chown, or set AION_HOME to another directory",
		home, reason, owner, os.Geteuid())
}
