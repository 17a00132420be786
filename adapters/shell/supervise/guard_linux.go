package supervise

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// guardFor bounds how long a supervisor looks after its siblings.
const guardFor = 10 * time.Second

// guard looks after the siblings of this supervisor once their server is dead. A command may have stopped its supervisor
// just then, or does so over and over: its tree is killed from here and the supervisor goes on, until none has a tree.
func (s *supervisor) guard() {
	for end := time.Now().Add(guardFor); time.Now().Before(end); pause(lookEvery) {
		table, err := Table()
		if err != nil {
			continue
		}
		busy := false
		for _, p := range table {
			if p.Pid == s.self || p.Session != p.Pid || p.Dead() || !isSibling(p.Pid, s.family) {
				continue
			}
			tree := Below(table, p.Pid)
			if len(tree) == 0 && p.State != 'T' {
				continue // it ends by itself
			}
			busy = true
			for _, below := range tree {
				_ = Send(below, unix.SIGKILL) // who may not be signalled is left to the next server
			}
			_ = Send(p, unix.SIGCONT) // as above
		}
		if !busy {
			return
		}
	}
}

// isSibling reports whether a process is a supervisor of the same server: its command line says so.
func isSibling(pid int, family string) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return false
	}
	args := bytes.Split(line, []byte{0})
	return len(args) > 3 && string(args[1]) == Arg && string(args[3]) == family
}
