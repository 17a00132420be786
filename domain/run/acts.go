package run

import (
	"strconv"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// Acts collects the rows that events cause, in their order. A nil collector takes nothing: a stored history has its rows.
type Acts struct {
	List []history.Act
}

func (a *Acts) add(act history.Act) {
	if a != nil {
		a.List = append(a.List, act)
	}
}

func (a *Acts) taskAdded(r *Run, o *Activity, ev history.ActivityScheduled) {
	if a == nil {
		return
	}
	a.add(history.TaskAdded{Task: history.Task{
		Namespace: r.row.Namespace, Key: r.key(o.ID, o.Attempt), TaskQueue: o.TaskQueue, Node: o.Node, Name: o.Type,
		PackageVersion: r.row.PackageVersion, Input: ev.Input,
		Config: o.Config, State: history.TaskQueued, ScheduledAt: o.Since, NotBefore: o.NotBefore,
	}})
}

// taskMoved writes the present place of an open activity. A task that the same commit added is added in that place: one
// row written once.
func (a *Acts) taskMoved(r *Run, o *Activity) {
	if a == nil {
		return
	}
	state, due, token := history.TaskQueued, o.NotBefore, history.Seq(0)
	if o.Started {
		state, token = history.TaskStarted, o.movedSeq
	} else if r.row.Status == history.Paused {
		due = held
	}
	key := r.key(o.ID, o.Attempt)
	for i := len(a.List) - 1; i >= 0; i-- {
		if added, ok := a.List[i].(history.TaskAdded); ok && added.Task.Key.ActivityID == o.ID && added.Task.Key.RunID == key.RunID {
			added.Task.Key, added.Task.State, added.Task.NotBefore, added.Task.Token = key, state, due, token
			added.Task.Owner, added.Task.ClaimUntil = "", time.Time{}
			a.List[i] = added
			return
		}
	}
	a.add(history.TaskMoved{Key: key, State: state, NotBefore: due, Token: token})
}

func (a *Acts) taskEnded(r *Run, id int64) {
	a.add(history.TaskEnded{WorkflowID: r.row.WorkflowID, RunID: r.row.RunID, ActivityID: id})
}

func (a *Acts) timerSet(r *Run, t Timer) {
	a.add(history.TimerSet{Timer: history.Timer{
		Namespace: r.row.Namespace, WorkflowID: r.row.WorkflowID, RunID: r.row.RunID,
		TimerID: t.ID, Purpose: t.Purpose, FireAt: t.FireAt,
	}})
}

func (a *Acts) timerCleared(r *Run, id int64) {
	a.add(history.TimerCleared{WorkflowID: r.row.WorkflowID, RunID: r.row.RunID, TimerID: id})
}

// runClosed removes the rows of an ended run, closes its awaited children and tells its parent; a generation that goes on
// under another run id tells nobody.
func (a *Acts) runClosed(r *Run) {
	if a == nil {
		return
	}
	a.add(history.RunClosed{WorkflowID: r.row.WorkflowID, RunID: r.row.RunID})
	r.children.each(func(c *Child) bool { a.childClosed(r, *c, "parent_closed"); return true })
	if r.row.Parent != nil && r.row.Status != history.ContinuedAsNew {
		a.post(r, ChildEnded, 0, r.childEnd())
	}
}

func (a *Acts) childStarted(r *Run, ev history.ChildStarted) {
	if a == nil {
		return
	}
	a.post(r, StartChild, ev.Child, encode(ChildStart{
		Child: ev.Child, WorkflowID: ev.ChildWorkflowID, WorkflowType: ev.WorkflowType,
		Input: ev.Input, Detached: ev.Detached, RunID: r.row.RunID,
	}))
}

func (a *Acts) childClosed(r *Run, c Child, reason string) {
	if a == nil {
		return
	}
	a.post(r, CloseChild, c.ID, encode(ChildClose{WorkflowID: c.WorkflowID, Reason: reason}))
}

func (a *Acts) post(r *Run, kind string, ordinal int64, body domain.Payload) {
	a.add(history.Posted{Message: history.Message{
		ID:        string(r.row.RunID) + ":" + kind + ":" + strconv.FormatInt(ordinal, 10),
		Namespace: r.row.Namespace, WorkflowID: r.row.WorkflowID, Kind: kind, Body: body,
	}})
}

func (r *Run) key(id int64, attempt int) domain.AttemptKey {
	return domain.AttemptKey{WorkflowID: r.row.WorkflowID, RunID: r.row.RunID, ActivityID: id, Attempt: attempt}
}

// Own names the server or worker that runs the attempts which acts start and nobody owns yet, and until when its claims
// hold.
func (a *Acts) Own(owner string, until time.Time) {
	for i, act := range a.List {
		switch act := act.(type) {
		case history.TaskAdded:
			if act.Task.State == history.TaskStarted && act.Task.Owner == "" {
				act.Task.Owner, act.Task.ClaimUntil = owner, until
				a.List[i] = act
			}
		case history.TaskMoved:
			if act.State == history.TaskStarted && act.Owner == "" {
				act.Owner, act.ClaimUntil = owner, until
				a.List[i] = act
			}
		case history.TaskEnded, history.TimerSet, history.TimerCleared, history.RunClosed, history.Posted, history.LeaseTaken, history.LeaseOver:
			// no attempt begins
		}
	}
}
