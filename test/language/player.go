package language

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/machine"
)

// WorkflowID is the workflow that a player runs.
const WorkflowID domain.WorkflowID = "0198a000-0000-7000-8000-000000000001"

const firstRun domain.RunID = "0198a000-0000-7000-8000-000000000002"

// maxFacts is how many facts a player offers before it gives up.
const maxFacts = 20_000

// ErrLong says that a run went on for more facts than its player offers.
var ErrLong = errors.New("the run goes on")

// Player drives one run of the machine as an engine does, in a world. What comes next is chosen by Choose, which draws a
// number below its argument.
type Player struct {
	Plan    *plan.Plan
	World   *World
	Options machine.Options
	Choose  func(n int) int
	Facts   int // how many are offered before it gives up; 0: 20,000

	State   *machine.State
	History []history.Recorded
	run     domain.RunID
	at      time.Time
	signals int
}

// Result is how a run ended.
type Result struct {
	Status  history.Status
	Outcome string
	Payload any
	Code    string // of the failure
}

// Play runs to the end. An error is a fault of the machine: a fact refused, a fault on a type, a run that waits for nothing.
func (p *Player) Play() (Result, error) {
	p.State = machine.NewWith(p.Options)
	p.run, p.at = firstRun, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err := p.offer(history.WorkflowStarted{
		WorkflowType: p.Plan.WorkflowType, PackageVersion: p.Plan.ContentHash, Input: domain.Payload(Canonical(p.World.Input())),
		Deadline: p.at.Add(100_000 * time.Hour), StartedBy: "operator",
	})
	for n := 0; err == nil && p.State.Status() == history.Running; n++ {
		if n > cmp.Or(p.Facts, maxFacts) {
			return Result{}, fmt.Errorf("%w after %d facts", ErrLong, n)
		}
		err = p.step()
	}
	if err != nil {
		return Result{}, err
	}
	return p.result()
}

func (p *Player) result() (Result, error) {
	r := Result{Status: p.State.Status(), Outcome: p.State.Outcome()}
	if f := p.State.Failure(); f != nil {
		r.Code = f.Code
		return r, nil
	}
	var err error
	r.Payload, err = Decode(p.State.Result())
	return r, err
}

// offer puts a fact to the machine and records it with what it derives.
func (p *Player) offer(e history.Event) error {
	p.at = p.at.Add(time.Second)
	fact := history.Record(int64(len(p.History))+1, p.at, WorkflowID, p.run, e)
	res, err := machine.Advance(p.Plan, p.State, fact)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Type(), err)
	}
	if res.Ignored {
		return fmt.Errorf("%s %s is ignored", e.Type(), history.EncodeEvent(e))
	}
	p.History = append(p.History, fact)
	for _, d := range res.Derived {
		if f, ok := d.(history.StepFailed); ok && f.Failure.Code == "plan_invalid" {
			return fmt.Errorf("step %s: %s", f.Step, f.Failure.Message)
		}
		if next, ok := d.(history.WorkflowStarted); ok {
			p.run = domain.RunID(domain.DeriveUUID(string(p.run), "next"))
			p.State = machine.NewWith(p.Options)
			return p.offer(next)
		}
		p.History = append(p.History, history.Record(int64(len(p.History))+1, p.at, WorkflowID, p.run, d))
	}
	if f := p.State.Failure(); f != nil && f.Code == "plan_invalid" {
		return fmt.Errorf("the run failed: %s", f.Message)
	}
	return nil
}

// step offers one fact that is due.
func (p *Player) step() error {
	open, waits := p.State.OpenActivities(), p.State.Waits()
	if len(open)+len(waits) == 0 {
		return fmt.Errorf("the run waits for nothing")
	}
	if i := p.Choose(len(open) + len(waits)); i >= len(open) {
		return p.settle(waits[i-len(open)])
	} else {
		return p.execute(open[i])
	}
}

// execute ends an activity, now and then after an attempt that is retried.
func (p *Player) execute(a machine.OpenActivity) error {
	if !a.Started {
		if err := p.offer(history.ActivityStarted{ActivityID: a.ID, Attempt: a.Attempt, Executor: "server"}); err != nil {
			return err
		}
	}
	if p.Choose(16) == 15 {
		return p.offer(history.ActivityFailed{
			ActivityID: a.ID, Attempt: a.Attempt, Class: "lost", Code: "executor_lost", Message: "gone", RetryAt: p.at.Add(time.Minute),
		})
	}
	input, err := p.input(history.ActivityScheduled{}.Type(), "activity_id", a.ID)
	if err != nil {
		return err
	}
	answer := p.World.Call(a.Type, input)
	if answer.Failed == "" {
		return p.offer(history.ActivityCompleted{ActivityID: a.ID, Attempt: a.Attempt, Result: domain.Payload(Canonical(answer.Result))})
	}
	return p.offer(history.ActivityFailed{ActivityID: a.ID, Attempt: a.Attempt, Class: "terminal", Code: answer.Failed, Message: "it failed"})
}

// input finds what was recorded of an activity or a child of the run that goes on.
func (p *Player) input(typ, member string, id int64) (any, error) {
	for _, e := range slices.Backward(p.History) {
		if e.Type != typ || e.RunID != p.run {
			continue
		}
		var data map[string]json.RawMessage
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, err
		}
		if bytes.Equal(data[member], fmt.Append(nil, id)) {
			return Decode(data["input"])
		}
	}
	return nil, fmt.Errorf("no %s with %s %d", typ, member, id)
}

// settle ends another wait.
func (p *Player) settle(w machine.Wait) error {
	switch w.Kind {
	case machine.WaitSignal:
		payload, sent := p.World.Signal(w.Name)
		if !sent {
			return p.offer(history.TimerFired{TimerID: w.TimerID})
		}
		p.signals++
		return p.offer(history.SignalReceived{
			SignalID: fmt.Sprint("signal ", p.signals), SignalName: w.Name, SentBy: "operator", Payload: domain.Payload(Canonical(payload)),
		})
	case machine.WaitTimer:
		return p.offer(history.TimerFired{TimerID: w.TimerID})
	}
	input, err := p.input(history.ChildStarted{}.Type(), "child", w.Child)
	if err != nil {
		return err
	}
	answer := p.World.Child(w.Name, input)
	if answer.Failed == "" {
		return p.offer(history.ChildCompleted{Child: w.Child, Outcome: "done", Result: domain.Payload(Canonical(answer.Result))})
	}
	return p.offer(history.ChildFailed{Child: w.Child, Failure: &history.Failure{Code: answer.Failed, Message: "it failed"}})
}

// Replays reports whether deriving again gives the recorded history; the state is folded from stored events.
func (p *Player) Replays() error {
	rep := machine.NewReplayerWith(p.Plan, p.Options)
	for _, e := range p.History {
		stored := history.Recorded{
			Seq: e.Seq, At: e.At, WorkflowID: e.WorkflowID, RunID: e.RunID, Type: e.Type, Data: slices.Clone(e.Data),
		}
		if err := rep.Feed(stored); err != nil {
			return err
		}
	}
	_, err := rep.Done()
	return err
}
