package machine

import (
	"aion/domain/awl/value"
	"aion/domain/history"
)

// carrier writes a state as a value, for the next generation of a chain (engine 4). What many parts share is written once:
// environments stand in a table and are named by their place in it, strands by their ordinal.
type carrier struct {
	envs  map[*env]int
	nodes value.List
}

// carry gives the state of a run at a quiet point as one JSON value: nothing but signals is waited for.
func (s *State) carry(spent int) value.Value {
	c := &carrier{envs: map[*env]int{}}
	ready := value.List{}
	for _, st := range s.ready {
		if st != nil && !st.dead {
			ready = append(ready, value.Int(st.ord))
		}
	}
	seen := value.List{}
	for _, id := range sortedKeys(s.seen) {
		seen = append(seen, value.String(id))
	}
	mail := value.List{}
	for _, box := range s.mail {
		mail = append(mail, c.mailbox(box))
	}
	members := record("flow", c.flow(s.root), "input", c.env(s.input), "mail", mail, "ready", ready, "seen", seen,
		"strands", value.Int(s.nextStrand), "bindings", value.Int(s.nextBinding), "spent", value.Int(spent)).Members()
	return value.NewObject(append(append([]value.Member{}, members...), value.Member{Name: "envs", Value: c.nodes}))
}

func (c *carrier) mailbox(box *mailbox) value.Value {
	waiting, payloads := value.List{}, value.List{}
	for _, st := range box.waiting {
		if st.waitsAt(box.name) {
			waiting = append(waiting, value.Int(st.ord))
		}
	}
	for _, text := range box.payloads {
		if v, err := value.Decode(text); err == nil { // checked when it was received
			payloads = append(payloads, v)
		}
	}
	return record("name", value.String(box.name), "waiting", waiting, "payloads", payloads)
}

// env names an environment; its links are written before it, outermost first.
func (c *carrier) env(e *env) value.Value {
	var links []*env
	for at := e; at != nil; at = at.parent {
		if _, known := c.envs[at]; known {
			break
		}
		links = append(links, at)
	}
	for i := len(links) - 1; i >= 0; i-- {
		link := links[i]
		c.nodes = append(c.nodes, record("p", c.known(link.parent), "n", value.String(link.name), "m", value.Int(link.made), "v", pack(link.val)))
		c.envs[link] = len(c.nodes) - 1
	}
	return c.known(e)
}

func (c *carrier) known(e *env) value.Value {
	if e == nil {
		return value.Int(-1)
	}
	return value.Int(c.envs[e])
}

func (c *carrier) flow(fl *flow) value.Value {
	active, pending, visits, held, done := value.List{}, value.List{}, value.List{}, value.List{}, value.List{}
	for _, act := range fl.active {
		active = append(active, c.activation(act))
	}
	for _, a := range fl.pending {
		pending = append(pending, record("step", value.String(a.step.Name), "env", c.env(a.env), "routed", value.Bool(a.routed),
			"gathered", c.gathered(a.gathered)))
	}
	for _, v := range fl.visits {
		visits = append(visits, record("step", value.String(v.step.Name), "n", value.Int(v.n)))
	}
	for _, h := range fl.tokens {
		queues := value.List{}
		for _, q := range h.queues {
			envs := value.List{}
			for _, e := range q {
				envs = append(envs, c.env(e))
			}
			queues = append(queues, envs)
		}
		held = append(held, record("step", value.String(h.step.Name), "queues", queues))
	}
	for _, d := range fl.done {
		done = append(done, record("step", value.String(d.step), "env", c.env(d.env)))
	}
	return record("subflow", value.String(fl.subflow), "scope", value.String(fl.scope),
		"index", value.Int(fl.index), "ended", value.Bool(fl.ended), "left", c.env(fl.left),
		"active", active, "pending", pending, "visits", visits, "tokens", held, "done", done)
}

func (c *carrier) activation(act *activation) value.Value {
	return record("step", value.String(act.step.Name), "phase", value.Int(act.phase), "visit", value.Int(act.visit),
		"start", c.env(act.start), "gathered", c.gathered(act.gathered), "strand", c.strand(&act.strand))
}

func (c *carrier) gathered(g *gathered) value.Value {
	if g == nil {
		return value.Absent{}
	}
	return record("slots", pack(g.slots), "failure", failureValue(g.failure))
}

func (c *carrier) strand(st *strand) value.Value {
	frames := value.List{}
	for _, f := range st.frames {
		frames = append(frames, c.frame(f))
	}
	got := value.Value(value.Absent{})
	if st.got != nil {
		got = record("v", pack(orNull(st.got.val)), "failure", failureValue(st.got.failure))
	}
	w := st.wait
	return record("ord", value.Int(st.ord), "index", value.Int(st.index), "env", c.env(st.env), "scope", value.String(st.scope),
		"frames", frames, "got", got, "wait", value.Int(w.kind), "name", value.String(w.name),
		"since", value.String(w.since.UTC().Format(history.TimeLayout)))
}

func (c *carrier) frame(f frame) value.Value {
	switch f := f.(type) {
	case *listFrame:
		return record("pc", value.Int(f.pc))
	case *pipeFrame:
		return record("next", value.Int(f.next), "v", pack(f.val))
	case *loopFrame:
		return record("pass", value.Int(f.pass), "max", value.Int(f.max), "inside", value.Bool(f.inside), "v", pack(f.val),
			"base", c.env(f.base), "scope", value.String(f.scope))
	case *forkFrame:
		branches := value.List{}
		for _, b := range f.branches {
			if b != nil {
				branches = append(branches, c.strand(b))
			}
		}
		return record("count", value.Int(f.count), "next", value.Int(f.next), "open", value.Int(f.open), "items", pack(f.items),
			"yields", packSlots(f.yields), "joined", c.env(f.joined), "branches", branches)
	case *regionFrame:
		instances := value.List{}
		for _, fl := range f.instances {
			if fl != nil {
				instances = append(instances, c.flow(fl))
			}
		}
		return record("next", value.Int(f.next), "open", value.Int(f.open), "items", pack(f.items), "slots", pack(f.slots),
			"instances", instances)
	case *flowFrame:
		return record("flow", c.flow(f.flow))
	}
	return value.Null{}
}

func failureValue(f *history.Failure) value.Value {
	if f == nil {
		return value.Absent{}
	}
	v := []any{"code", value.String(f.Code), "message", value.String(f.Message), "step", value.String(f.Step)}
	if f.Scope != nil {
		v = append(v, "scope", value.String(*f.Scope))
	}
	if f.ActivityID != nil {
		v = append(v, "activity_id", value.Int(*f.ActivityID))
	}
	return record(v...)
}

func orNull(v value.Value) value.Value {
	if v == nil {
		return value.Null{}
	}
	return v
}

// pack writes a value so that an absent item of a list is told from null: {} is absent, {"l":[…]} a list that holds one,
// {"v":…} anything else.
func pack(v value.Value) value.Value {
	switch list := v.(type) {
	case value.Absent:
		return record()
	case value.List:
		if !holes(list) {
			break
		}
		packed := make(value.List, len(list))
		for i, item := range list {
			packed[i] = pack(item)
		}
		return record("l", packed)
	default:
	}
	return record("v", orNull(v))
}

// packSlots packs what branches have yielded so far; nil slots are those that have not ended.
func packSlots(slots value.List) value.Value {
	if slots == nil {
		return value.Absent{}
	}
	filled := make(value.List, len(slots))
	for i, v := range slots {
		filled[i] = value.List{}
		if v != nil {
			filled[i] = value.List{pack(v)}
		}
	}
	return filled
}

func holes(list value.List) bool {
	for _, item := range list {
		switch v := item.(type) {
		case value.Absent:
			return true
		case value.List:
			if holes(v) {
				return true
			}
		default:
		}
	}
	return false
}
