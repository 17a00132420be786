package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
	p.Pid, p.Parent, p.Group, p.Session = number(raw[:open-1]), number(fields[1]), number(fields[2]), number(fields[3])
	start, e := strconv.ParseUint(string(fields[19]), 10, 64)
	p.Start = start
	return p, errors.Join(err, e)
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
