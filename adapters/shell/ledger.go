package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aion/adapters/shell/supervise"
	"aion/domain"
)

// LedgerEntry is one attempt that was running when its server process ended.
type LedgerEntry struct {
	Key       domain.AttemptKey
	Action    string
	Server    string // the instance that ran it
	StartedAt time.Time
}

// entry is a file of the ledger: what a later server needs to end the tree, if this one cannot.
type entry struct {
	WorkflowID string    `json:"workflow_id"`
	RunID      string    `json:"run_id"`
	ActivityID int64     `json:"activity_id"`
	Attempt    int       `json:"attempt"`
	Action     string    `json:"action"`
	Server     string    `json:"server"`
	ServerProc processID `json:"server_process"`
	BootID     string    `json:"boot_id"`
	Supervisor processID `json:"supervisor"`
	Leader     processID `json:"leader"`
	Session    int       `json:"session"`
	StartedAt  time.Time `json:"started_at"`
}

// processID names a process of this boot for good.
type processID struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start_ticks"`
}

// find gives the process, if it still is the same one and has not ended.
func (p processID) find() (supervise.Process, bool) {
	if p.Pid <= 0 {
		return supervise.Process{}, false
	}
	found, ok := supervise.Find(p.Pid)
	return found, ok && found.Start == p.Start && !found.Dead()
}

func (e entry) key() domain.AttemptKey {
	return domain.AttemptKey{
		WorkflowID: domain.WorkflowID(e.WorkflowID), RunID: domain.RunID(e.RunID),
		ActivityID: e.ActivityID, Attempt: e.Attempt,
	}
}

// record writes the file of this attempt before its command is sent, and completes it in place once the leader is known;
// what is written later is never shorter. It needs no sync, and no rename: it has to survive the process and not the
// machine, and a file that is not whole belongs to a command that was not started.
func (a *attempt) record(leader processID) error {
	k := a.e.Dispatch.Key
	raw, err := json.Marshal(entry{
		WorkflowID: string(k.WorkflowID), RunID: string(k.RunID), ActivityID: k.ActivityID, Attempt: k.Attempt,
		Action: a.e.Dispatch.Name, Server: a.x.o.Instance, ServerProc: processID{a.x.self.Pid, a.x.self.Start}, BootID: a.x.boot,
		Supervisor: processID{a.supervisor.pid, a.supervisor.process.Start}, Leader: leader, Session: leader.Pid, StartedAt: a.started,
	})
	if err != nil {
		return fmt.Errorf("encode ledger entry: %w", err)
	}
	how := os.O_WRONLY
	if leader.Pid == 0 {
		how |= os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(a.x.ledgerFile(a.hash), how, 0o600)
	if err != nil {
		return fmt.Errorf("write ledger entry: %w", err)
	}
	_, err = file.WriteAt(raw, 0)
	return errors.Join(err, file.Close())
}

func (x *Executor) ledgerFile(hash string) string { return filepath.Join(x.o.attempts(), hash+".json") }

func hashKey(k domain.AttemptKey) string {
	sum := sha256.Sum256([]byte(k.String()))
	return hex.EncodeToString(sum[:])
}

func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(raw)), err
}
