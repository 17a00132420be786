package machine

import (
	"aion/domain/awl/plan"
	"aion/domain/awl/value"
)

// execute runs the statement at the program counter. It ends it, waits, or puts a frame above it.
func (t *turn) execute(st *strand, stmt *plan.Stmt) {
	switch stmt.Op {
	case plan.OpCall, plan.OpChild, plan.OpSpawn:
		if args, ok := t.arguments(st, stmt.Args); ok {
			t.call(st, calleeOf(stmt), args)
		}
	case plan.OpPipe:
		if head, ok := t.eval(st, stmt.Value, nil); ok {
			st.push(&pipeFrame{stmt: stmt, val: head})
		}
	case plan.OpWait:
		t.await(st, stmt)
	case plan.OpSleep:
		t.sleep(st, stmt)
	case plan.OpRoute:
		t.route(st, nil, stmt.Target, nil)
	case plan.OpFork:
		t.fork(st, stmt)
	case plan.OpLoop:
		t.startLoop(st, stmt)
	case plan.OpDistribute, plan.OpSequence:
		t.openRegion(st, stmt)
	case plan.OpCollect:
		t.collect(st)
	case plan.OpGroup:
		t.enterFlow(st, &flow{kind: flowGroup, def: stmt.Flow, scope: within(st.scope, st.act.step.Name)}, st.env)
	case plan.OpSubflow:
		t.enterSubflow(st, stmt)
	default:
		t.failWith(st, value.Failed(planInvalid, "statement %q is not known", stmt.Op))
	}
}

// arguments makes the one object that a call sends; false: the step has failed.
func (t *turn) arguments(st *strand, args []plan.Arg) (value.Value, bool) {
	v, f := t.names(st, nil).record(args)
	if f != nil {
		t.failWith(st, f)
		return nil, false
	}
	return v, t.fits(st, v)
}

// pipe runs the next stage, or ends the pipe.
func (t *turn) pipe(st *strand, f *pipeFrame) {
	if f.next < len(f.stmt.Stages) {
		t.stage(st, f, &f.stmt.Stages[f.next])
		return
	}
	st.pop()
	if target := f.stmt.Target; target != nil {
		t.route(st, nil, target, f.val)
		return
	}
	t.finish(st, f.val)
}

func (t *turn) stage(st *strand, f *pipeFrame, stage *plan.Stage) {
	switch stage.Op {
	case plan.StageExpr:
		if v, ok := t.eval(st, stage.Expr, f.val); ok {
			t.finish(st, v)
		}
	case plan.OpCall, plan.OpChild:
		input := value.NewObject([]value.Member{{Name: stage.Param, Value: f.val}})
		if t.fits(st, input) {
			t.call(st, callee{op: stage.Op, name: stage.Name, queue: stage.Queue, node: stage.Node, timeoutMS: stage.TimeoutMS}, input)
		}
	default:
		t.failWith(st, value.Failed(planInvalid, "stage %q is not known", stage.Op))
	}
}

// startLoop evaluates seed and bound, once.
func (t *turn) startLoop(st *strand, stmt *plan.Stmt) {
	seed, ok := t.eval(st, stmt.Value, nil)
	if !ok || !t.fits(st, seed) {
		return
	}
	limit, ok := t.eval(st, stmt.Max, nil)
	if !ok {
		return
	}
	n, ok := limit.(value.Int)
	switch {
	case !ok:
		t.failWith(st, value.Failed(planInvalid, "`max` is %s", value.Kind(limit)))
	case n > maxPasses:
		t.failWith(st, value.Failed(boundOutOfRange, "`max %d` is more than the %d passes that a loop may have", n, maxPasses))
	default:
		st.push(&loopFrame{stmt: stmt, max: int64(n), val: seed, base: st.env, scope: st.scope})
	}
}
