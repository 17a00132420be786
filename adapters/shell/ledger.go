package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
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

// entry is what a file of the ledger holds: one for each supervisor, with what a later server needs to end the tree of
// its command, if this one cannot. Without an attempt the supervisor was idle, or kept a process of the server's own.
type entry struct {
	WorkflowID string    `json:"workflow_id,omitempty"`
	RunID      string    `json:"run_id,omitempty"`
	ActivityID int64     `json:"activity_id"`
	Attempt    int       `json:"attempt,omitempty"`
	Action     string    `json:"action,omitempty"`
	Marker     string    `json:"marker,omitempty"` // AION_ACTIVITY_KEY of the command
	Server     string    `json:"server"`
	ServerProc processID `json:"server_process"`
	BootID     string    `json:"boot_id"`
	Supervisor processID `json:"supervisor"`
	Leader     processID `json:"leader"`
	Session    int       `json:"session,omitempty"`
	StartedAt  time.Time `json:"started_at,omitzero"`
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

// record writes the entry of this attempt before its command is sent, and again once the leader is known.
func (a *attempt) record(leader processID) error {
	k := a.e.Dispatch.Key
	e := a.x.pool.idle(a.supervisor)
	e.WorkflowID, e.RunID, e.ActivityID, e.Attempt = string(k.WorkflowID), string(k.RunID), k.ActivityID, k.Attempt
	e.Action, e.Marker, e.StartedAt = a.e.Dispatch.Name, k.ActivityKey(), a.began
	e.Leader, e.Session = leader, leader.Pid
	return a.supervisor.slot.write(e)
}

func (x *Executor) ledgerFile(name string) string { return filepath.Join(x.o.attempts(), name+".json") }

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
