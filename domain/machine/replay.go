package machine

import (
	"bytes"
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/history"
)

// Replayer folds a recorded history of one run and checks that deriving again gives the recorded derived events, byte for
// byte. After an error it must be thrown away.
type Replayer struct {
	plan     *plan.Plan
	state    *State
	expected []history.Event // derived and not yet seen
	last     history.Seq
}

// NewReplayer folds into a new state.
func NewReplayer(p *plan.Plan) *Replayer { return &Replayer{plan: p, state: New()} }

// Feed takes the next event of the run. A difference is a *Nondeterminism that names it; a fact that no history can hold
// there is an *Illegal.
func (r *Replayer) Feed(e history.Recorded) error {
	if r.last != 0 && e.Seq != r.last+1 {
		return &Nondeterminism{Seq: r.last + 1, Expected: fmt.Sprintf("event %d", r.last+1), Got: fmt.Sprintf("event %d", e.Seq)}
	}
	r.last = e.Seq
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
	result, err := Advance(r.plan, r.state, e)
	if err != nil {
		return err
	}
	r.expected = result.Derived
	return nil
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
	return nil
}

// Done gives the state at the end of the history. Derived events that are missing there are a *Nondeterminism.
func (r *Replayer) Done() (*State, error) {
	if len(r.expected) > 0 {
		want := r.expected[0]
		return nil, &Nondeterminism{Seq: r.last + 1, Expected: shown(want.Type(), history.EncodeEvent(want))}
	}
	return r.state, nil
}

func shown(typ string, data []byte) string { return fmt.Sprintf("%s %s", typ, data) }
