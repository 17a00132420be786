package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"aion/domain"

	"golang.org/x/sys/unix"
)

// makeScratch makes the fresh, empty directory of an attempt, for the user that its command runs as.
func makeScratch(path string, owner *credential) error {
	if err := removeScratch(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("make the directory of the attempt: %w", err)
	}
	if err := owner.own(path); err != nil {
		return fmt.Errorf("make the directory of the attempt: %w", err)
	}
	return nil
}

// restName ends the name of the directory beside a scratch directory into which a removal moves what lies deeper. What cannot
// be removed stays in either.
const restName = ".rest"

// removeScratch removes a directory that a command wrote, also when it took its own rights away, and however deep it is. Links
// are not followed, and what is mounted in it is not entered.
func removeScratch(path string) error {
	d := &removal{rest: strings.TrimSuffix(path, restName) + restName}
	if path == d.rest {
		d.note(path, d.open(false))
	} else {
		d.remove(unix.AT_FDCWD, path)
	}
	for len(d.names) > 0 {
		last := len(d.names) - 1
		name := d.names[last]
		d.names = d.names[:last]
		d.remove(int(d.dir.Fd()), name)
	}
	if d.dir != nil {
		_ = d.dir.Close() // only read from
		d.note(d.rest, unix.Rmdir(d.rest))
	}
	if d.err != nil {
		return fmt.Errorf("remove the directory of the attempt: %w", d.err)
	}
	return nil
}

// removal removes a tree with two descriptors, whatever its depth: a directory in another one that is not empty is moved up, and
// comes after it.
type removal struct {
	rest  string   // the directory where they go
	dir   *os.File // it; nil: none was moved so far
	names []string // in it, that are still to be removed
	next  int      // is the name of no other
	err   error    // the first one
}

func (d *removal) note(name string, err error) {
	if d.err == nil && err != nil && !errors.Is(err, unix.ENOENT) {
		d.err = &fs.PathError{Op: "remove", Path: domain.Quote(name, 256), Err: err}
	}
}

// remove removes one name of a directory, with what is in it except what it moves up.
func (d *removal) remove(parent int, name string) {
	for removed := true; ; {
		err := unix.Unlinkat(parent, name, unix.AT_REMOVEDIR)
		if errors.Is(err, unix.ENOTDIR) {
			err = unix.Unlinkat(parent, name, 0)
		}
		if !notEmpty(err) || !removed {
			d.note(name, err)
			return
		}
		if removed, err = d.empty(parent, name); err != nil {
			d.note(name, err)
			return
		}
	}
}

// empty takes everything out of a directory that can be taken out, and reports whether there was something.
func (d *removal) empty(parent int, name string) (removed bool, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, flags, 0)
	if errors.Is(err, unix.EACCES) && opens(parent, name) {
		fd, err = unix.Openat(parent, name, flags, 0)
	}
	if err != nil {
		return false, err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer func() { _ = dir.Close() }() // only read from
	if os.Geteuid() != 0 {
		_ = unix.Fchmod(fd, 0o700) // what stays shut is noted
	}
	for {
		names, _ := dir.Readdirnames(512) // an error is the end, too: what is left is noted
		if len(names) == 0 {
			return removed, nil
		}
		for _, n := range names {
			err := d.take(fd, n)
			removed = removed || err == nil
			d.note(n, err)
		}
	}
}

// take takes one name out of a directory.
func (d *removal) take(dir int, name string) error {
	err := unix.Unlinkat(dir, name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) { // the second also says that a file cannot be removed
		if e := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); !errors.Is(e, unix.ENOTDIR) {
			err = e
		}
	}
	if !notEmpty(err) {
		return err
	}
	if d.dir == nil {
		if err := d.open(true); err != nil {
			return err
		}
	}
	d.next++
	up := strconv.Itoa(d.next)
	err = unix.Renameat(dir, name, int(d.dir.Fd()), up)
	if errors.Is(err, unix.EACCES) && opens(dir, name) {
		err = unix.Renameat(dir, name, int(d.dir.Fd()), up)
	}
	if err == nil {
		d.names = append(d.names, up)
	}
	return err
}

// open opens the directory for what is moved up, and finds what an earlier removal has left in it.
func (d *removal) open(create bool) error {
	if create {
		if err := unix.Mkdir(d.rest, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	dir, err := os.OpenFile(d.rest, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	d.dir = dir
	d.names, err = dir.Readdirnames(-1)
	for _, name := range d.names {
		if n, err := strconv.Atoi(name); err == nil {
			d.next = max(d.next, n)
		}
	}
	return err
}

// opens gives this user, unless it is root, its rights to a directory back.
func opens(parent int, name string) bool {
	return os.Geteuid() != 0 && unix.Fchmodat(parent, name, 0o700, 0) == nil
}

func notEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) }
