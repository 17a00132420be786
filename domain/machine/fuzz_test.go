package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aion/domain/history"
	"aion/domain/machine"
)

// Whatever a store holds, folding it gives a state or an error, never a panic. The text is one event a line: type and members.
func FuzzAdvance(f *testing.F) {
	golden, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	if err != nil || len(golden) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range golden {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	p := compiled(f, head+`subflow sub(x: String)
  outcome out: type String

  step inner
    a(x: x) -> y
    wait word timeout 1s -> w
    route out(y)

step open
  distribute x in xs

step work
  sub(x: x) -> y

  on failure
    sleep 1s
    route shut

step shut
  collect x? -> ys

step last
  loop acc = ""
    fork x in xs
      b(x: x)
    join -> zs
    zs[0] -> acc
    until acc == "stop"
    max 3

  on failure
    c()
    route lost("no")

  outcome fine: otherwise, route done(acc)
`)
	at := time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s := machine.New()
		begin := history.Record(1, at, workflowID, runID, history.WorkflowStarted{Input: []byte(xs3)})
		begun, err := machine.Advance(p, s, begin)
		if err != nil {
			t.Fatal(err)
		}
		seq := int64(len(begun.Derived)) + 2
		for _, line := range strings.Split(text, "\n") {
			parts := strings.SplitN(strings.TrimLeft(line, "0123456789 "), " ", 2)
			if len(parts) != 2 || parts[0] == begin.Type {
				continue
			}
			res, err := machine.Advance(p, s, history.Recorded{
				Seq: seq, At: at, WorkflowID: workflowID, RunID: runID, Type: parts[0],
				Data: []byte(strings.TrimSpace(parts[1])),
			})
			if err != nil {
				return // the state is spoilt by contract
			}
			if !res.Ignored {
				seq += int64(len(res.Derived)) + 1
			}
			s.OpenActivities()
			s.Waits()
			if b, err := s.Query(p, "bindings"); err == nil && len(b) == 0 {
				t.Fatal("an empty answer")
			}
		}
	})
}
