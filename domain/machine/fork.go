package machine

import (
	"fmt"

	"aion/domain/awl/plan"
	"aion/domain/awl/value"
	"aion/domain/history"
)

// fork starts branches: one per item, or one per statement.
func (t *turn) fork(st *strand, stmt *plan.Stmt) {
	f := &forkFrame{stmt: stmt, count: len(stmt.Branches)}
	if stmt.Item != "" {
		items, ok := t.items(st, stmt)
		if !ok {
			return
		}
		f.items, f.count = items, len(items)
		if stmt.Bind != "" {
			f.yields = make(value.List, f.count)
		}
	}
	f.branches = make([]*strand, f.count)
	f.joined = st.env
	st.push(f)
	st.wait = wait{kind: waitParts, since: t.at}
	t.emit(history.ForkStarted{Step: st.act.step.Name, Scope: st.scope, Fork: stmt.K, Branches: f.count, Sequential: stmt.Sequential})
	t.pumpFork(st, f)
}

// items evaluates the list of a fork or region; false: the step has failed.
func (t *turn) items(st *strand, stmt *plan.Stmt) (value.List, bool) {
	v, ok := t.eval(st, stmt.Value, nil)
	if !ok {
		return nil, false
	}
	items, ok := v.(value.List)
	switch {
	case !ok:
		t.failWith(st, value.Failed(planInvalid, "`%s … in` needs a list, found %s", stmt.Op, value.Kind(v)))
		return nil, false
	case len(items) > maxItems:
		t.failWith(st, value.Failed(fanOutTooLarge, "%d items are more than the %d that one %s may have", len(items), maxItems, stmt.Op))
		return nil, false
	}
	return items, true
}

// pumpFork starts the branches whose turn it is, and joins when none is left.
func (t *turn) pumpFork(st *strand, f *forkFrame) {
	for f.next < f.count && (f.open == 0 || !f.stmt.Sequential) {
		i := f.next
		f.next++
		f.open++
		f.branches[i] = t.branch(st, f, i)
		t.wake(f.branches[i])
	}
	if f.open > 0 {
		return
	}
	t.emit(history.ForkJoined{Step: st.act.step.Name, Scope: st.scope, Fork: f.stmt.K, Branches: f.count, Sequential: f.stmt.Sequential})
	st.env = f.joined
	t.succeed(st, f.yields)
}

func (t *turn) branch(st *strand, f *forkFrame, i int) *strand {
	b := t.newStrand()
	b.act, b.parent, b.index = st.act, st, i
	b.env = st.env
	b.scope = within(st.scope, fmt.Sprintf("%s.fork%d[%d]", st.act.step.Name, f.stmt.K, i))
	stmts := f.stmt.Body
	if f.stmt.Item == "" {
		stmts = f.stmt.Branches[i]
	} else {
		b.env = t.extend(b.env, f.stmt.Item, f.items[i])
	}
	b.push(&listFrame{stmts: stmts})
	return b
}

func (t *turn) newStrand() *strand {
	t.s.nextStrand++
	return &strand{ord: t.s.nextStrand}
}

// branchDone ends a branch: a collection keeps what it yields, a named fork what it bound.
func (t *turn) branchDone(b *strand) {
	b.dead = true
	st := b.parent
	f, ok := st.top().(*forkFrame)
	if !ok {
		return // its fork has ended
	}
	f.branches[b.index] = nil
	f.open--
	switch {
	case f.stmt.Item == "":
		f.joined = f.joined.union(b.env)
	case f.yields != nil:
		f.yields[b.index] = value.Null{}
		if link := b.env.find(f.stmt.Yield); link != nil {
			f.yields[b.index] = link.val
		}
	}
	t.pumpFork(st, f)
}
