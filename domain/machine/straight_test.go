package machine_test

import (
	"testing"
	"time"

	"aion/domain/history"
)

const ship = `//! Build, then wait for a word.
workflow ship
  signal go_on: Word
  outcome done: type Word, route success

type Word { by: String }

worker shell
  action make() -> String
    retry 1 every 1s
    run "make" capture text

step build
  make()

step hold
  wait go_on -> done
  route done
`

// engine 3: the history that the specification shows, but for the attempts' numbers in its commits.
func TestTheExampleOfTheSpecificationComesOut(t *testing.T) {
	t.Parallel()
	r := start(t, compiled(t, ship), `{}`)
	r.fact(history.ActivityStarted{ActivityID: 0, Attempt: 1, Executor: "server"})
	r.after(204310 * time.Microsecond)
	r.fact(history.ActivityFailed{
		ActivityID: 0, Attempt: 1, Class: "retryable", Code: "exit_nonzero",
		Message: "exited with code 2: disk full", Details: []byte(`{"exit_code":2}`), RetryAt: r.at.Add(time.Second),
	})
	r.after(time.Second).fact(history.ActivityStarted{ActivityID: 0, Attempt: 2, Executor: "server"})
	r.fact(history.ActivityCompleted{ActivityID: 0, Attempt: 2, Result: []byte(`"built"`)})
	if w := r.s.Waits(); len(w) != 1 || w[0].Kind != "signal" || w[0].Name != "go_on" || w[0].Step != "hold" {
		t.Errorf("waits: %+v", w)
	}
	r.signal("s1", "go_on", `{"by":"Bo"}`)
	r.ends(history.Completed, "done")
	r.golden("example")
}
