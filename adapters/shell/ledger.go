package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
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
	WorkflowID string    `json:"workflow_id"`
	RunID      string    `json:"run_id"`
	ActivityID int64     `json:"activity_id"`
	Attempt    int       `json:"attempt"`
	Action     string    `json:"action"`
	Marker     string    `json:"marker"` // AION_ACTIVITY_KEY of the command
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

// encode gives the entry as JSON, by hand: it is a part of every command, and package json takes longer than the write.
func (e entry) encode() []byte {
	b := make([]byte, 0, 1024)
	for _, m := range []struct{ name, text string }{
		{`{"workflow_id":`, e.WorkflowID},
		{`,"run_id":`, e.RunID},
		{`,"action":`, e.Action},
		{`,"marker":`, e.Marker},
		{`,"server":`, e.Server},
		{`,"boot_id":`, e.BootID},
	} {
		b = appendJSON(append(b, m.name...), m.text)
	}
	b = strconv.AppendInt(append(b, `,"activity_id":`...), e.ActivityID, 10)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(e.Attempt), 10)
	b = strconv.AppendInt(append(b, `,"session":`...), int64(e.Session), 10)
	b = e.ServerProc.encode(append(b, `,"server_process":`...))
	b = e.Supervisor.encode(append(b, `,"supervisor":`...))
	b = e.Leader.encode(append(b, `,"leader":`...))
	b = e.StartedAt.AppendFormat(append(b, `,"started_at":"`...), time.RFC3339Nano)
	return append(b, `"}`...)
}

func (p processID) encode(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"pid":`...), int64(p.Pid), 10)
	return append(strconv.AppendUint(append(b, `,"start_ticks":`...), p.Start, 10), '}')
}

// appendJSON adds a text as JSON; those of a ledger are plain but for the names that authors give.
func appendJSON(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, err := json.Marshal(text)
			if err != nil {
				panic("shell: a text without an encoding: " + err.Error())
			}
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
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
