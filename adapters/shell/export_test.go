package shell

import (
	"time"

	"aion/domain/action"
)

// Shrink ends idle supervisors beyond keep that have had no work since before.
func (x *Executor) Shrink(keep int, before time.Time) { x.pool.shrink(keep, before) }

// RemoveRest tries again to remove what could not be removed.
func (x *Executor) RemoveRest() { x.pool.removeRest() }

// RemoveScratch removes a directory that a command wrote.
func RemoveScratch(path string) error { return removeScratch(path) }

// Unanswered counts the looks at files that nobody waits for any more.
func (x *Executor) Unanswered() int64 { return x.pool.unanswered.Load() }

// OutOfMemory tells what the cgroup in a directory says of processes that were killed for want of memory, beyond those seen
// before.
func OutOfMemory(dir string, seen int) bool {
	l := &leaf{dir: dir, memory: true, oomKills: seen}
	return l.outOfMemory()
}

// PlainCgroup lets commands have their cgroups below an ordinary directory, as if the memory controller were delegated in
// it: the kernel's part is played by whoever writes its files. The executor must have no supervisors that enter cgroups.
func (x *Executor) PlainCgroup(dir string) {
	x.pool.cgroups = &cgroups{dir: dir, limits: x.o.Limits, controllers: map[string]bool{"memory": true}}
}

// Mask shows a stream that comes in parts without its secrets: part by part, then what was held back.
func Mask(values []string, parts ...[]byte) (shown []string) {
	m := masker{secrets: newSecrets(values)}
	for _, p := range parts {
		shown = append(shown, string(m.take(p)))
	}
	return append(shown, string(m.end()))
}

// LinesOf gives the texts of a secret that are printed one by one.
func LinesOf(value string) []string { return linesOf(value) }

// SpawnFailure tells what an error at the start of a program means.
func SpawnFailure(program string, err error) action.Failed {
	return spawnFailure(action.Exit{Program: program}, err)
}

// Waiting is when text without a line break that was read at a time is shown, and what is shown then.
func Waiting(text string, at time.Time, looks ...time.Time) (due time.Time, shown []string) {
	l := lines{emit: func(_ time.Time, text string, _ bool) { shown = append(shown, text) }}
	l.take([]byte(text), at)
	due = l.ready()
	for _, look := range looks {
		l.flush(look)
	}
	return due, shown
}

// Entry is a file of the ledger.
type Entry = entry

// Encode gives the text of the file.
func (e entry) Encode() []byte { return e.encode() }
