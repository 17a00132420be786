package supervise

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// cgroup is the directory of the commands' cgroup and two files of it. A nil one is none.
type cgroup struct{ dir, killer, events int }

func openCgroup(dir string) (*cgroup, error) {
	c := &cgroup{}
	var err error
	if c.dir, err = unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open the cgroup: %w", err)
	}
	if c.killer, err = unix.Openat(c.dir, "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open the cgroup: %w", err)
	}
	if c.events, err = unix.Openat(c.dir, "cgroup.events", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open the cgroup: %w", err)
	}
	return c, nil
}

// kill kills every process of the cgroup at once.
func (c *cgroup) kill() {
	if c != nil {
		_, _ = unix.Pwrite(c.killer, []byte("1"), 0) // populated tells whether it did
	}
}

// state reports whether a process is in it, and whether it is frozen, as what is started in it would be. A file that cannot be
// read says no: the tree says the rest.
func (c *cgroup) state() (populated, frozen bool) {
	if c == nil {
		return false, false
	}
	var buf [128]byte
	n, err := unix.Pread(c.events, buf[:], 0)
	if err != nil {
		return false, false
	}
	return bytes.Contains(buf[:n], []byte("populated 1")), bytes.Contains(buf[:n], []byte("frozen 1"))
}
