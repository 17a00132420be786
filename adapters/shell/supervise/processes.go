package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Process is one line of the process table. Pid and Start together name a process for good: a pid alone is reused.
type Process struct {
	Pid     int
	Parent  int
	Session int
	State   byte
	Start   uint64 // clock ticks since boot: field 22 of /proc/<pid>/stat
}

// Dead reports whether the process has ended and only waits to be reaped.
func (p Process) Dead() bool { return p.State == 'Z' || p.State == 'X' || p.State == 'x' }

// Table reads the process table. It is no snapshot: what starts or ends meanwhile may be missing or stale.
func Table() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // only read from
	if err != nil {
		return nil, err
	}
	table := make([]Process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := Find(pid); ok {
			table = append(table, p)
		}
	}
	return table, nil
}

// Find reads one process; ok is false when there is none with this pid.
func Find(pid int) (p Process, ok bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	p, err = parseStat(raw)
	return p, err == nil
}

// parseStat reads `pid (name) state ppid pgrp session …`. The name may hold anything, `)` and line breaks too.
func parseStat(raw []byte) (Process, error) {
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 2 || end < open {
		return Process{}, errors.New("stat without a name")
	}
	fields := bytes.Fields(raw[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return Process{}, fmt.Errorf("stat with %d fields", len(fields))
	}
	p := Process{State: fields[0][0]}
	var err error
	number := func(b []byte) int {
		n, e := strconv.Atoi(string(b))
		err = errors.Join(err, e)
		return n
	}
	p.Pid, p.Parent, p.Session = number(raw[:open-1]), number(fields[1]), number(fields[3])
	start, e := strconv.ParseUint(string(fields[19]), 10, 64)
	p.Start = start
	return p, errors.Join(err, e)
}

// Below gives the living descendants of the given processes by parent pid, parents first. The roots are not in it.
func Below(table []Process, roots ...int) []Process {
	children := make(map[int][]Process, len(table))
	for _, p := range table {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var below []Process
	seen := make(map[int]bool, len(roots))
	for _, pid := range roots {
		seen[pid] = true
	}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if seen[p.Pid] {
				continue // a table that is no snapshot may hold a cycle
			}
			seen[p.Pid] = true
			queue = append(queue, p.Pid)
			if !p.Dead() {
				below = append(below, p)
			}
		}
	}
	return below
}

// Send signals exactly this process: through a pidfd, and only when its start still matches. A process that is gone is
// not an error.
func Send(p Process, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.Pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if now, ok := Find(p.Pid); !ok || now.Start != p.Start {
		return nil
	}
	if err != nil { // a kernel or a filter without pidfds: a reuse of the pid right now would go unseen
		return unix.Kill(p.Pid, sig)
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", p.Pid, err)
	}
	return nil
}
