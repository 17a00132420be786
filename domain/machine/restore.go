package machine

import (
	"errors"
	"time"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// restorer reads what a carrier wrote, with the plan at hand: statements and steps are found again by their place and name.
// The first thing that does not fit is kept in err, and everything after it reads as nothing.
type restorer struct {
	p       *plan.Plan
	envs    []*env
	strands map[int64]*strand
	err     error
}

var errCarried = errors.New("the carried state does not fit the plan")

func (r *restorer) fail() { r.err = errCarried }

// restore fills the state of a later generation; spent is what the commit has derived before it.
func (s *State) restore(p *plan.Plan, carried []byte) (spent int, err error) {
	v, err := value.Decode(carried)
	if err != nil {
		return 0, err
	}
	r := &restorer{p: p, strands: map[int64]*strand{}}
	o := r.object(v)
	r.nodes(r.list(o, "envs"))
	s.input = r.env(o, "input")
	s.nextStrand, s.nextBinding = r.int(o, "strands"), r.int(o, "bindings")
	s.root = r.flow(r.object(o.Get("flow")), &p.Flow, nil, flowWorkflow)
	for _, ord := range r.list(o, "ready") {
		s.ready = append(s.ready, r.strandOf(ord))
	}
	for _, id := range r.list(o, "seen") {
		if s.seen == nil {
			s.seen = map[string]struct{}{}
		}
		s.seen[string(r.asText(id))] = struct{}{}
	}
	for _, box := range r.list(o, "mail") {
		s.mail = append(s.mail, r.mailbox(r.object(box), s))
	}
	return int(r.int(o, "spent")), r.err
}

func (r *restorer) mailbox(o value.Object, s *State) *mailbox {
	box := &mailbox{name: r.text(o, "name")}
	for _, ord := range r.list(o, "waiting") {
		box.waiting = append(box.waiting, r.strandOf(ord))
	}
	for _, v := range r.list(o, "payloads") {
		box.payloads = append(box.payloads, value.Encode(v))
		s.unread++
	}
	return box
}

func (r *restorer) strandOf(v value.Value) *strand {
	ord, _ := v.(value.Int)
	st := r.strands[int64(ord)]
	if st == nil {
		r.fail()
		return &strand{dead: true}
	}
	return st
}

func (r *restorer) nodes(list value.List) {
	for _, v := range list {
		o := r.object(v)
		r.envs = append(r.envs, &env{parent: r.env(o, "p"), name: r.text(o, "n"), made: r.int(o, "m"), val: r.packed(o, "v")})
	}
}

func (r *restorer) env(o value.Object, name string) *env { return r.envAt(o.Get(name)) }

func (r *restorer) envAt(v value.Value) *env {
	i, ok := v.(value.Int)
	switch {
	case ok && i == -1:
		return nil
	case !ok || i < 0 || int(i) >= len(r.envs):
		r.fail()
		return nil
	}
	return r.envs[i]
}

func (r *restorer) flow(o value.Object, def *plan.Flow, owner *strand, kind flowKind) *flow {
	fl := &flow{
		kind: kind, def: def, owner: owner, subflow: r.text(o, "subflow"), scope: r.text(o, "scope"),
		index: int(r.int(o, "index")), ended: r.bool(o, "ended"), left: r.env(o, "left"),
	}
	if kind == flowInstance {
		fl.region = owner.act.step.Name
	}
	if def == nil {
		r.fail()
		return fl
	}
	for _, v := range r.list(o, "active") {
		if act := r.activation(r.object(v), fl); act != nil {
			fl.active = append(fl.active, act)
		}
	}
	for _, v := range r.list(o, "pending") {
		a := r.object(v)
		if s := r.step(fl, a); s != nil {
			fl.pending = append(fl.pending, arrival{step: s, env: r.env(a, "env"), routed: r.bool(a, "routed"), gathered: r.gathered(a)})
		}
	}
	for _, v := range r.list(o, "visits") {
		if s := r.step(fl, r.object(v)); s != nil {
			fl.visits = append(fl.visits, visitCount{step: s, n: r.int(r.object(v), "n")})
		}
	}
	r.waiting(o, fl)
	return fl
}

// waiting reads what steps that wait for others hold.
func (r *restorer) waiting(o value.Object, fl *flow) {
	for _, v := range r.list(o, "tokens") {
		s := r.step(fl, r.object(v))
		queues := r.list(r.object(v), "queues")
		if s == nil || len(queues) != len(s.After) {
			r.fail()
			return
		}
		held := fl.held(s)
		for i, q := range queues {
			for _, e := range r.asList(q) {
				held.queues[i] = append(held.queues[i], r.envAt(e))
			}
		}
	}
	for _, v := range r.list(o, "done") {
		fl.done = append(fl.done, completion{step: r.text(r.object(v), "step"), env: r.env(r.object(v), "env")})
	}
}

func (r *restorer) step(fl *flow, o value.Object) *plan.Step {
	s := fl.step(r.text(o, "step"))
	if s == nil {
		r.fail()
	}
	return s
}

func (r *restorer) activation(o value.Object, fl *flow) *activation {
	s := r.step(fl, o)
	if s == nil {
		return nil
	}
	act := &activation{
		flow: fl, step: s, phase: phase(r.int(o, "phase")), visit: r.int(o, "visit"), start: r.env(o, "start"),
		gathered: r.gathered(o),
	}
	body := s.Body
	if act.phase == phaseHandler && s.Handler != nil {
		body = s.Handler.Body
	}
	act.strand.act = act
	r.strand(r.object(o.Get("strand")), &act.strand, body)
	return act
}

func (r *restorer) gathered(o value.Object) *gathered {
	g := o.Get("gathered")
	if !value.Present(g) {
		return nil
	}
	slots, _ := r.packed(r.object(g), "slots").(value.List)
	return &gathered{slots: slots, failure: r.failure(r.object(g))}
}

// strand fills a strand whose place in the tree is known; body is what its outermost frame runs.
func (r *restorer) strand(o value.Object, st *strand, body []plan.Stmt) {
	st.ord, st.index, st.env, st.scope = r.int(o, "ord"), int(r.int(o, "index")), r.env(o, "env"), r.text(o, "scope")
	r.strands[st.ord] = st
	since, _ := time.Parse(history.TimeLayout, r.text(o, "since"))
	st.wait = wait{kind: waitKind(r.int(o, "wait")), name: r.text(o, "name"), since: since}
	switch st.wait.kind {
	case waitNothing:
		st.wait = wait{}
	case waitSignal:
		st.wait.timer = noTimer
	case waitParts:
	case waitActivity, waitTimer, waitChild:
		r.fail() // a generation ends without them
	default:
		r.fail()
	}
	if got := o.Get("got"); value.Present(got) {
		st.got = &delivery{val: r.packed(r.object(got), "v"), failure: r.failure(r.object(got)), cancel: noTimer}
	}
	r.frames(r.list(o, "frames"), st, body)
}

func (r *restorer) failure(o value.Object) *history.Failure {
	v := o.Get("failure")
	if !value.Present(v) {
		return nil
	}
	f := r.object(v)
	failure := &history.Failure{Code: r.text(f, "code"), Message: r.text(f, "message"), Step: r.text(f, "step")}
	if value.Present(f.Get("scope")) {
		failure.Scope = ref(r.text(f, "scope"))
	}
	if value.Present(f.Get("activity_id")) {
		id := r.int(f, "activity_id")
		failure.ActivityID = &id
	}
	return failure
}
