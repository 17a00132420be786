package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain"

	"golang.org/x/sys/unix"
)

// CleanUp ends what an earlier server of this home left running, before any run is recovered, and tells which attempts
// that concerned, for the caller to log (actions 5.5). Attempts of another server that is alive are left alone. Scratch directories of attempts
// that are gone are removed. An error names processes that could not be ended.
func (x *Executor) CleanUp(ctx context.Context) ([]LedgerEntry, error) {
	files, err := filepath.Glob(filepath.Join(x.o.attempts(), "*.json*"))
	if err != nil {
		return nil, fmt.Errorf("list the ledger: %w", err)
	}
	var found []LedgerEntry
	var late []leftover
	others := false
	for _, file := range files {
		e, ok := readEntry(file)
		if ok && x.alive(e) {
			others = others || e.ServerProc != x.pool.server.ServerProc
			continue
		}
		if !ok {
			x.removeLedger(file)
			continue
		}
		if e.Server != "" && !slices.Contains(x.died, e.Server) {
			x.died = append(x.died, e.Server)
		}
		if e.Attempt > 0 {
			found = append(found, LedgerEntry{Key: e.key(), Action: e.Action, Server: e.Server, StartedAt: e.StartedAt})
		}
		if e.BootID != x.boot {
			x.removeLedger(file)
			continue
		}
		late = append(late, leftover{entry: e, file: file})
	}
	x.pool.cgroups.sweep(pidNamespace())
	failures := x.end(ctx, late)
	if !others {
		failures = append(failures, x.sweepScratch(ctx))
	}
	return found, errors.Join(failures...)
}

// Died gives the instances of this home that CleanUp has found dead: also those that ran no command when they died, but
// may not have recorded how the last ones ended.
func (x *Executor) Died() []string { return slices.Clone(x.died) }

// leftover is a tree that an earlier server did not end itself.
type leftover struct {
	entry
	file  string
	looks int // in a row that found nothing
}

// emptyLooks is how many looks in a row must find nothing of a tree before it is gone: a process that executes a program shows
// no environment for a moment, and then its key cannot be seen.
const emptyLooks = 3

// readEntry reads a file of the ledger. A half-written one is no entry: its command was not started.
func readEntry(file string) (entry, bool) {
	raw, err := os.ReadFile(file)
	var e entry
	if err != nil || json.Unmarshal(raw, &e) != nil || !strings.HasSuffix(file, ".json") {
		return entry{}, false
	}
	return e, true
}

// alive reports whether the server that wrote an entry still runs on this host.
func (x *Executor) alive(e entry) bool {
	if e.BootID != x.boot {
		return false
	}
	_, alive := e.ServerProc.find()
	return alive
}

func (x *Executor) removeLedger(file string) {
	if err := os.Remove(file); err != nil {
		x.o.Logger.Warn("ledger entry not removed", "error", err)
	}
}

// end waits for the supervisors to end by themselves, which is what they do when their server dies, then kills.
func (x *Executor) end(ctx context.Context, late []leftover) []error {
	alone := time.Now().Add(x.o.KillGrace + time.Second)
	limit := alone.Add(x.o.KillWait)
	for len(late) > 0 {
		late = x.remaining(late, time.Now().After(alone))
		if len(late) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			break
		}
		select {
		case <-ctx.Done():
			return []error{context.Cause(ctx)}
		case <-time.After(escapedRescan):
		}
	}
	failures := make([]error, 0, len(late))
	for _, l := range late {
		failures = append(failures, &domain.Error{Code: domain.CodeUnavailable, Type: "ProcessesLeft", Message: fmt.Sprintf(
			"processes of action `%s` of an earlier server could not be ended; end the processes of session %d by hand",
			domain.Quote(l.Action, 64), l.Session)})
	}
	return failures
}

// remaining gives the trees of which something lives, after killing it when it had its time.
func (x *Executor) remaining(late []leftover, kill bool) []leftover {
	table, err := supervise.Table()
	if err != nil {
		return late
	}
	var left []leftover
	for _, l := range late {
		tree := l.tree(table, x.self.Pid)
		// Without its supervisor nothing ends the tree by itself.
		_, supervised := l.Supervisor.find()
		if kill || !supervised {
			for _, p := range tree {
				_ = supervise.Send(p, unix.SIGKILL) // who may not be killed remains
			}
		}
		if len(tree) > 0 || supervised {
			l.looks = 0
		} else if l.looks++; l.looks == emptyLooks {
			x.removeLedger(l.file)
			continue
		}
		left = append(left, l)
	}
	return left
}

// tree finds the processes of an attempt: below its supervisor, in the session of its leader, and those that carry its
// activity key, with all below them. A process that is older than the leader is never one of them, nor one with the key that
// somebody looks after: a later attempt has the same one. And the session is not the recorded one when its number was given
// to a new leader.
func (l leftover) tree(table []supervise.Process, self int) []supervise.Process {
	var tree []supervise.Process
	var roots []int
	if p, ok := l.Supervisor.find(); ok {
		roots, tree = append(roots, p.Pid), append(tree, p)
	}
	oldest, session := l.Leader.Start, l.Session
	if l.Leader.Pid == 0 { // the server died before it knew the leader
		oldest = l.Supervisor.Start
	}
	if p, ok := supervise.Find(l.Leader.Pid); l.Leader.Pid == 0 || ok && p.Start != l.Leader.Start {
		session = 0
	}
	marker := []byte("AION_ACTIVITY_KEY=" + l.Marker + "\x00")
	for _, p := range table {
		if p.Pid == self || p.Dead() || p.Start < oldest {
			continue
		}
		if session != 0 && p.Session == session || l.Marker != "" && carries(p.Pid, marker) && !lookedAfter(table, p, self) {
			roots, tree = append(roots, p.Pid), append(tree, p)
		}
	}
	return append(supervise.Below(table, roots...), tree...)
}

// carries reports whether the first environment of a process holds an entry.
func carries(pid int, entry []byte) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && (bytes.HasPrefix(env, entry) || bytes.Contains(env, append([]byte{0}, entry...)))
}

// lookedAfter reports whether a process runs below a supervisor, or below a server that has none: those of another server, because
// what is left has neither. Above this process there may be one that has nothing to do with either.
func lookedAfter(table []supervise.Process, p supervise.Process, self int) bool {
	parents := make(map[int]int, len(table))
	for _, q := range table {
		parents[q.Pid] = q.Parent
	}
	above := func(pid int) []int {
		var all []int
		for ; pid > 1 && len(all) <= len(table); pid = parents[pid] { // a table that is no snapshot may hold a cycle
			all = append(all, pid)
		}
		return all
	}
	ours := above(self)
	return slices.ContainsFunc(above(p.Parent), func(pid int) bool { return !slices.Contains(ours, pid) && looksAfter(pid) })
}

// looksAfter reports whether a process is a supervisor, or runs the program of this one.
func looksAfter(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && (supervise.Active(strings.Split(string(line), "\x00")) || program(pid) == program(os.Getpid()))
}

// program is the name of the file that a process runs, also when that was replaced meanwhile.
func program(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return strings.TrimSuffix(filepath.Base(path), " (deleted)")
}

// sweepScratch removes the directories of attempts that no ledger entry names any more.
func (x *Executor) sweepScratch(ctx context.Context) error {
	dirs, err := os.ReadDir(x.o.scratches())
	if err != nil {
		return fmt.Errorf("list scratch directories: %w", err)
	}
	for _, d := range dirs {
		if _, err := os.Stat(x.ledgerFile(d.Name())); err == nil {
			continue
		}
		dir := filepath.Join(x.o.scratches(), d.Name())
		_ = x.pool.aside(ctx, within(x.o.KillWait), func() { // what takes longer goes on
			if err := removeScratch(dir); err != nil {
				x.o.Logger.Warn("scratch directory not removed", "error", err)
				x.pool.keepTrying(strings.TrimSuffix(dir, restName))
			}
		})
	}
	return nil
}
