package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// postmaster is the process that all others of the server are children of, or 0 when the server is down.
func (k *keeper) postmaster() int {
	text, err := os.ReadFile(filepath.Join(k.folder, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, _ := strconv.Atoi(string(line))
	return pid
}

// freeze stops the postmaster, which then makes no new process, and then its children.
func (k *keeper) freeze() error {
	parent := k.postmaster()
	if parent == 0 {
		return errors.New("the server is down and cannot be frozen")
	}
	if err := halt(parent); err != nil {
		return err
	}
	pids, err := children(parent)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := halt(pid); err != nil {
			return err
		}
	}
	return nil
}

// thaw lets the children go on first: nobody is to find one that does not answer.
func (k *keeper) thaw() error {
	parent := k.postmaster()
	if parent == 0 {
		return nil
	}
	return k.signal(parent, syscall.SIGCONT, syscall.SIGCONT)
}

// kill lets no process do one thing more, but for the postmaster: it is the one that can tell the system that it is gone.
func (k *keeper) kill() error {
	parent := k.postmaster()
	if parent == 0 {
		return nil
	}
	if err := k.freeze(); err != nil {
		return err
	}
	if err := k.signal(parent, syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGCONT); err != nil {
		return err
	}
	return until("the killed server is down", func() bool { return k.postmaster() == 0 })
}

// signal sends one signal to the children of the postmaster, and then others to itself.
func (k *keeper) signal(parent int, toChildren syscall.Signal, toParent ...syscall.Signal) error {
	pids, err := children(parent)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := send(pid, toChildren); err != nil {
			return err
		}
	}
	for _, s := range toParent {
		if err := send(parent, s); err != nil {
			return err
		}
	}
	return nil
}

// send counts a process that is gone as one that has heard.
func send(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %v to process %d of the server: %w", s, pid, err)
	}
	return nil
}

// halt freezes one process and waits until it stands still, or is gone.
func halt(pid int) error {
	if err := send(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return until(fmt.Sprintf("process %d stands still", pid), func() bool {
		state, _ := stat(pid)
		return state != 'R' && state != 'S' && state != 'D'
	})
}

func children(parent int) ([]int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if _, ppid := stat(pid); ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// stat is the state and the parent of a process; of one that is gone, nothing.
func stat(pid int) (state byte, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// 12 (a name) S 1 ...; the name may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}

// until waits for another process.
func until(what string, holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("in vain: " + what)
		}
	}
	return nil
}
