package engine

import (
	"time"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
)

// View is a workflow as it stands when its turn comes. It is valid during the call that it is handed to and must be
// neither changed nor kept.
type View struct {
	At       time.Time            // now, as a fact decided here is recorded
	Run      *run.Run             // the latest run; nil: the workflow does not exist
	State    *machine.State       // nil: the plan is not loaded, or the history does not fold under it
	Contract *deployment.Contract // nil: the plan is not loaded
}

// Decision looks at a workflow and says what is to be recorded, or refuses. It must be free of side effects: after a lost
// race it is asked again.
type Decision func(v View) (Change, error)

// Change is what a decision wants recorded, in this order and in one commit. No facts: nothing has to be recorded.
type Change struct {
	Facts  []history.Event
	Claims []history.Claim      // that the facts rest on: with one that is lost nothing is recorded (ClaimLost)
	Begin  *Begin               // set when the first fact opens a new workflow
	Key    *history.Idempotency // kept with the facts of a workflow that goes on, when any is recorded; nil: no key
	// Remote is the worker that runs the attempts which the facts start; empty: this server does. Its lease is their claim.
	Remote string
	Acts   []history.Act // written with the facts, when any is recorded
	// Audit is recorded with the facts, when any of them is; nil: nothing is.
	Audit *domain.AuditRecord
}

// Begin is what a first commit needs beyond its facts.
type Begin struct {
	Namespace domain.Namespace
	RunID     domain.RunID
	Contract  *deployment.Contract // the plan that the run is pinned to
	Started   *history.Idempotency // nil: no key
}

// Receipt is the answer to a recorded change, from the commit's own data.
type Receipt struct {
	Events  []history.Recorded // the facts that took effect, each with what it derived; empty: nothing had to be recorded
	Row     history.RunRow     // of the latest run, after the commit
	Result  domain.Payload
	Failure *history.Failure
}

// First is the seq of the first recorded event; 0 when nothing was recorded.
func (r Receipt) First() history.Seq {
	if len(r.Events) == 0 {
		return 0
	}
	return r.Events[0].Seq
}
