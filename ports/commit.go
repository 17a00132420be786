package ports

import (
	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
)

// Grounds is what a store finds out about one commit so that Judge can decide. What an error of it means is the store's
// own matter.
type Grounds interface {
	// KeyFree reports whether no live record has the key of a start.
	KeyFree(k *history.Idempotency) (bool, error)
	// Waiting gives the MCP task that waits for a start; known is false when there is none.
	Waiting(id task.ID) (t task.Task, known bool, err error)
	// Held reports whether a claim holds: its task is started with that attempt and token, or parked when the token is 0.
	Held(c history.Claim) (bool, error)
	// Follows reports whether the head of the workflow is where the commit expects it. It is asked last, of a commit that
	// nothing else refuses, so that a store may move the head to find out.
	Follows(c *history.Commit) (bool, error)
}

// Judge decides about a commit that CheckCommit lets pass, in the order that every store keeps. begun is what becomes of the
// task that waits for the start; nil: nothing. Neither it nor refusal means anything when there is an error.
func Judge(c *history.Commit, on Grounds) (begun *task.Task, refusal, err error) {
	if k := c.Started; k != nil {
		free, err := on.KeyFree(k)
		if !free || err != nil {
			return nil, IdempotencyTaken(k.Key), err
		}
		if k.Task != "" {
			if begun, refusal, err = begin(c, on); refusal != nil || err != nil {
				return nil, refusal, err
			}
		}
	}
	for _, claim := range c.Claims {
		if held, err := on.Held(claim); !held || err != nil {
			return nil, ClaimLost(claim), err
		}
	}
	if follows, err := on.Follows(c); !follows || err != nil {
		return nil, domain.SequenceConflict(c.WorkflowID, c.ExpectedSeq), err
	}
	return begun, nil, nil
}

// begin is what becomes of the task that waits for a start.
func begin(c *history.Commit, on Grounds) (begun *task.Task, refusal, err error) {
	k := c.Started
	before, known, err := on.Waiting(task.ID(k.Task))
	switch {
	case err != nil:
		return nil, nil, err
	case !known || before.State != task.Working:
		return nil, task.Ended(task.ID(k.Task)), nil
	case len(c.Events) == 0:
		return nil, nil, nil
	}
	after, refusal := before.Begin(k.WorkflowID, k.RunID, c.Events[0].At)
	return &after, refusal, nil
}
