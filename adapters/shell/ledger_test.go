package shell_test

import (
	"encoding/json"
	"testing"
	"time"

	"aion/adapters/shell"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// actions 5.5: whatever an author calls an action, the next server reads the entry as it was.
func TestALedgerEntryIsReadAsPackageJSONWouldHaveWrittenIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		e := shell.Entry{
			WorkflowID: text.Draw(t, "workflow"), RunID: text.Draw(t, "run"), ActivityID: rapid.Int64().Draw(t, "activity"),
			Attempt: rapid.Int().Draw(t, "attempt"), Action: text.Draw(t, "action"), Marker: text.Draw(t, "marker"),
			Server: text.Draw(t, "server"), BootID: text.Draw(t, "boot"), Session: rapid.Int().Draw(t, "session"),
			StartedAt: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")).UTC(),
		}
		e.ServerProc.Pid, e.ServerProc.Start = rapid.Int().Draw(t, "pid"), rapid.Uint64().Draw(t, "ticks")
		e.Supervisor.Pid, e.Supervisor.Start = rapid.Int().Draw(t, "pid"), rapid.Uint64().Draw(t, "ticks")
		e.Leader.Pid, e.Leader.Start = rapid.Int().Draw(t, "pid"), rapid.Uint64().Draw(t, "ticks")
		standard, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var want, got shell.Entry
		if err := json.Unmarshal(standard, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.Encode(), &got); err != nil {
			t.Fatalf("%v: %s", err, e.Encode())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
