package machine

import (
	"bytes"
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/history"
)

// Replayer folds a recorded history, of one run or of a chain, and checks that deriving again gives the recorded derived
// events, byte for byte. Where a generation ended is taken from the record: the limit may have changed since. After an error
// a replayer must be thrown away.
type Replayer struct {
	plan     *plan.Plan
	options  Options
	state    *State
	turn     *turn           // on the last fact; nil: none or done
	taken    int             // events of the turn that are expected or seen
	expected []history.Event // derived and not yet seen
	last     history.Seq
}

// NewReplayer folds into a new state.
func NewReplayer(p *plan.Plan) *Replayer { return NewReplayerWith(p, Options{}) }

// NewReplayerWith folds into a new state with options.
func NewReplayerWith(p *plan.Plan, o Options) *Replayer {
	return &Replayer{plan: p, options: o, state: NewWith(o)}
}

// Feed takes the next event. A difference is a *Nondeterminism that names it; a fact that no history can hold there is an
// *Illegal.
func (r *Replayer) Feed(e history.Recorded) error {
	if r.last != 0 && e.Seq != r.last+1 {
		return &Nondeterminism{Seq: r.last + 1, Expected: fmt.Sprintf("event %d", r.last+1), Got: fmt.Sprintf("event %d", e.Seq)}
	}
	r.last = e.Seq
	for len(r.expected) == 0 && r.turn != nil {
		r.goOn(e.Type == history.WorkflowContinuedAsNew{}.Type())
	}
	if len(r.expected) > 0 {
		return r.compare(e)
	}
	event, err := e.Event()
	if err != nil {
		return err
	}
	if !history.Fact(event) {
		return &Nondeterminism{Seq: e.Seq, Got: shown(e.Type, e.Data)}
	}
	return r.take(e, event)
}

// take begins the turn of a fact.
func (r *Replayer) take(fact history.Recorded, e history.Event) error {
	t := &turn{p: r.plan, s: r.state, seq: fact.Seq, at: fact.At.UTC(), fuel: maxSteps, replay: true}
	ignored, err := t.begin(fact, e)
	if err != nil || ignored {
		return err
	}
	r.turn, r.taken = t, 0
	r.collect()
	return nil
}

// goOn continues the turn after a quiet point, as the record says.
func (r *Replayer) goOn(ends bool) {
	t := r.turn
	if st := t.held; ends {
		t.held = nil
		t.continueAsNew(st)
	} else {
		t.resume()
	}
	r.collect()
}

// collect expects what the turn has derived meanwhile, and ends a turn that stopped for good.
func (r *Replayer) collect() {
	t := r.turn
	r.expected = t.out[r.taken:]
	r.taken = len(t.out)
	if t.held == nil {
		t.s.events += 1 + len(t.out)
		r.turn = nil
	}
}

// compare checks one event against the next expected one.
func (r *Replayer) compare(e history.Recorded) error {
	want := r.expected[0]
	data := history.EncodeEvent(want)
	if e.Type != want.Type() || !bytes.Equal(e.Data, data) {
		return &Nondeterminism{Seq: e.Seq, Expected: shown(want.Type(), data), Got: shown(e.Type, e.Data)}
	}
	r.expected[0] = nil
	r.expected = r.expected[1:]
	if next, ok := want.(history.WorkflowStarted); ok {
		r.state = NewWith(r.options)
		return r.take(e, next)
	}
	return nil
}

// Done gives the state at the end of the history. Derived events that are missing there are a *Nondeterminism.
func (r *Replayer) Done() (*State, error) {
	for len(r.expected) == 0 && r.turn != nil {
		r.goOn(false)
	}
	if len(r.expected) > 0 {
		want := r.expected[0]
		return nil, &Nondeterminism{Seq: r.last + 1, Expected: shown(want.Type(), history.EncodeEvent(want))}
	}
	return r.state, nil
}

func shown(typ string, data []byte) string { return fmt.Sprintf("%s %s", typ, data) }
