package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/domain/run"
	"aion/ports"
)

// routes gives the version that new runs of a type get, or refuses the type (WorkflowTypeNotFound).
type routes interface {
	Routed(ctx context.Context, workflowType string) (*deployment.Contract, error)
}

// The bounds of one reading of the outbox: messages that are carried side by side, and those that are left alone because
// their receiver cannot take them now.
const (
	carried    = 256
	leftAlone  = 10_000
	leaveAlone = time.Minute
	// closesAhead is how many levels of a tree of children are closed while it grows by one: a tree that is cancelled
	// and starts children without end must not outrun what closes it.
	closesAhead = 16
)

// Couriers carry what one workflow posted for another: children to start and to close, and the ends of children. A
// message is carried until its effect is durable; carrying it again has no effect.
type Couriers struct {
	engine *Engine
	outbox ports.OutboxStore
	types  routes
	ids    ports.IDs
	poll   time.Duration

	mu    sync.Mutex
	alone map[string]time.Time // by message id, until when it is left alone
}

// NewCouriers gives couriers that do nothing until Run. A wake-up that gets lost stays unnoticed for at most poll (1 s
// when zero).
func NewCouriers(e *Engine, outbox ports.OutboxStore, types routes, ids ports.IDs, poll time.Duration) *Couriers {
	if poll <= 0 {
		poll = time.Second
	}
	return &Couriers{engine: e, outbox: outbox, types: types, ids: ids, poll: poll, alone: map[string]time.Time{}}
}

// Run carries messages until ctx ends, and returns its cause.
func (c *Couriers) Run(ctx context.Context) error {
	for {
		pause := c.carry(ctx)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.engine.outbox.Messages():
		case <-c.engine.deps.Clock.After(pause):
		}
	}
}

// carry carries what is pending and tells how long nothing has to be looked for. Children are closed before others are
// started: a start whose parent has closed meanwhile starts nothing.
func (c *Couriers) carry(ctx context.Context) time.Duration {
	for ahead := 0; ; {
		limit := carried + c.forget()
		pending, err := c.outbox.Pending(ctx, c.engine.Shards(), limit)
		if err != nil {
			c.logger().Warn("the outbox cannot be read", "error", err)
			return c.poll
		}
		batch, some := pending, false
		if ahead < closesAhead {
			batch, some = c.closes(pending)
		}
		ahead++
		if !some {
			ahead = 0
		}
		delivered, away := c.deliver(ctx, batch)
		if len(delivered) > 0 {
			if err := c.outbox.Delivered(ctx, delivered); err != nil {
				c.logger().Warn("delivered messages cannot be removed; they are carried again", "error", err)
				return c.poll
			}
		}
		switch {
		case away:
			return c.poll
		case some:
			continue
		case len(delivered) == 0 || len(pending) < limit:
			return c.engine.Rest(c.poll)
		}
	}
}

// closes gives the messages that close children and are not left alone, or all when there is none.
func (c *Couriers) closes(pending []history.Message) (batch []history.Message, some bool) {
	for _, m := range pending {
		if m.Kind == run.CloseChild && !c.isAlone(m.ID) {
			batch = append(batch, m)
		}
	}
	if len(batch) == 0 {
		return pending, false
	}
	return batch, true
}

func (c *Couriers) logger() *slog.Logger { return c.engine.deps.Logger }

// deliver carries messages: those of one workflow in order, those of different ones side by side. away says that the
// store could not be reached.
func (c *Couriers) deliver(ctx context.Context, pending []history.Message) (delivered []string, away bool) {
	var order []domain.WorkflowID
	bySender := map[domain.WorkflowID][]history.Message{}
	for _, m := range pending {
		if c.isAlone(m.ID) {
			continue
		}
		if bySender[m.WorkflowID] == nil {
			order = append(order, m.WorkflowID)
		}
		bySender[m.WorkflowID] = append(bySender[m.WorkflowID], m)
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, sender := range order {
		wait.Go(func() {
			for _, m := range bySender[sender] {
				err := c.one(ctx, m)
				if Later(err) {
					mu.Lock()
					away = true
					mu.Unlock()
					return // what follows must not overtake it
				}
				if err != nil {
					c.leave(m, err)
					continue
				}
				mu.Lock()
				delivered = append(delivered, m.ID)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return delivered, away
}

func (c *Couriers) one(ctx context.Context, m history.Message) error {
	switch m.Kind {
	case run.StartChild:
		body, err := run.DecodeMessage[run.ChildStart](m)
		if err != nil {
			return err
		}
		return c.startChild(ctx, m, body)
	case run.CloseChild:
		body, err := run.DecodeMessage[run.ChildClose](m)
		if err != nil {
			return err
		}
		_, err = c.engine.Do(ctx, body.WorkflowID, closed(m, body))
		return err
	case run.ChildEnded:
		body, err := run.DecodeMessage[run.ChildEnd](m)
		if err != nil {
			return err
		}
		_, err = c.engine.Do(ctx, body.Parent.WorkflowID, told(m, body))
		return err
	}
	return &domain.Error{
		Code: domain.CodeBackend, Type: "StoreFault",
		Message: "message " + m.ID + " is of kind " + domain.Quote(m.Kind, 64) + ", which this version does not know",
	}
}

// startChild starts a child under its derived id. A refusal (the type is not deployed, the input does not fit) is the
// child's failure.
func (c *Couriers) startChild(ctx context.Context, m history.Message, s run.ChildStart) error {
	wanted, err := c.wanted(ctx, m, s)
	if err != nil {
		return err
	}
	if !wanted {
		return c.unwanted(ctx, m, s)
	}
	contract, refusal := c.types.Routed(ctx, s.WorkflowType)
	if refusal == nil {
		refusal = contract.AcceptInput(s.Input)
	}
	if refusal == nil {
		_, refusal = c.engine.Do(ctx, s.WorkflowID, c.child(m, s, contract))
	}
	if refusal == nil && c.engine.Shared() {
		if wanted, refusal = c.wanted(ctx, m, s); !wanted && refusal == nil {
			return c.unwanted(ctx, m, s)
		}
	}
	if refusal == nil || Later(refusal) {
		return refusal
	}
	var e *domain.Error
	failure := history.Failure{Code: string(domain.CodeOf(refusal)), Message: "the child could not be started"}
	if errors.As(refusal, &e) {
		failure.Message = e.Message
	}
	end := run.ChildEnd{
		Parent: history.Parent{WorkflowID: m.WorkflowID, RunID: s.RunID, Child: s.Child},
		Failed: &history.ChildFailed{Child: s.Child, Failure: &failure},
	}
	_, err = c.engine.Do(ctx, m.WorkflowID, told(history.Message{WorkflowID: s.WorkflowID}, end))
	return err
}

// wanted reports whether a child is still to be started: nobody starts one for a parent that has ended meanwhile, unless
// the child was to outlive it anyway.
func (c *Couriers) wanted(ctx context.Context, m history.Message, s run.ChildStart) (yes bool, err error) {
	if s.Detached {
		return true, nil
	}
	err = c.engine.Look(ctx, m.WorkflowID, func(v View) error {
		yes = v.Run != nil && v.Run.ID() == s.RunID && v.Run.Awaits(s.Child, s.WorkflowID)
		return nil
	})
	return yes, err
}

// unwanted closes a child that was started for a parent that had closed: of two servers that carried the messages of one
// parent, the other one may have found nothing to close before this one started it. A server that is alone carries them in
// order.
func (c *Couriers) unwanted(ctx context.Context, m history.Message, s run.ChildStart) error {
	if !c.engine.Shared() {
		return nil
	}
	_, err := c.engine.Do(ctx, s.WorkflowID, closed(m, run.ChildClose{WorkflowID: s.WorkflowID, Reason: "parent_closed"}))
	return err
}

// child decides on the start of a child: one that runs already was started by an earlier carrying.
func (c *Couriers) child(m history.Message, s run.ChildStart, contract *deployment.Contract) Decision {
	runID := domain.RunID(c.ids.UUIDv7())
	parent := history.Parent{WorkflowID: m.WorkflowID, RunID: s.RunID, Child: s.Child}
	return func(v View) (Change, error) {
		if v.Run != nil {
			if p := v.Run.Row().Parent; p == nil || *p != parent {
				return Change{}, &domain.Error{
					Code: domain.CodeInvalidState, Type: "WorkflowExists",
					Message: "another workflow has the id of this child",
				}
			}
			return Change{}, nil
		}
		fact := history.WorkflowStarted{
			WorkflowType: contract.Plan.WorkflowType, PackageVersion: contract.Plan.ContentHash, Input: s.Input,
			Parent: &parent, StartedBy: "workflow:" + string(m.WorkflowID),
		}
		if ms := contract.Plan.TimeoutMS; ms > 0 {
			fact.Deadline = v.At.Add(time.Duration(ms) * time.Millisecond)
		}
		return Change{Facts: []history.Event{fact}, Begin: &Begin{Namespace: m.Namespace, RunID: runID, Contract: contract}}, nil
	}
}

// closed decides on the closing of an awaited child whose parent goes on without it. One that has ended, or was never
// started, is left as it is.
func closed(m history.Message, body run.ChildClose) Decision {
	return func(v View) (Change, error) {
		if v.Run == nil || v.Run.Ended() {
			return Change{}, nil
		}
		fact, err := v.Run.Cancel("workflow:"+string(m.WorkflowID), body.Reason)
		return Change{Facts: []history.Event{fact}}, err
	}
}

// told decides on the end of a child in its parent. A result that does not fit what the parent declares is a failure.
func told(m history.Message, end run.ChildEnd) Decision {
	return func(v View) (Change, error) {
		if v.Run == nil || v.Run.ID() != end.Parent.RunID || !v.Run.Awaits(end.Parent.Child, m.WorkflowID) {
			return Change{}, nil
		}
		if v.State == nil && v.Run.Status() != history.Paused {
			return Change{}, v.Run.NoLiveExecution()
		}
		if end.Failed != nil {
			return Change{Facts: []history.Event{*end.Failed}}, nil
		}
		done := *end.Completed
		if v.Contract != nil {
			if misfit := v.Contract.JudgeChild(v.Run.ChildType(done.Child), done.Result); misfit != "" {
				return Change{Facts: []history.Event{history.ChildFailed{
					Child: done.Child, Outcome: done.Outcome,
					Failure: &history.Failure{Code: action.CodeResultInvalid, Message: misfit},
				}}}, nil
			}
		}
		return Change{Facts: []history.Event{done}}, nil
	}
}

// leave leaves a message alone for a while: its receiver cannot take it.
func (c *Couriers) leave(m history.Message, err error) {
	c.logger().Error("a message cannot be delivered", "workflow_id", m.WorkflowID, "message", m.ID, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alone) < leftAlone {
		c.alone[m.ID] = c.engine.now().Add(leaveAlone)
	}
}

func (c *Couriers) isAlone(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.alone[id]
	return ok
}

// forget ends the rest of messages that were left alone long enough, and counts the others.
func (c *Couriers) forget() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.engine.now()
	for id, until := range c.alone {
		if !until.After(now) {
			delete(c.alone, id)
		}
	}
	return len(c.alone)
}
