package gormstore

import (
	"aion/domain"
	"aion/domain/history"
)

// Changes is what other processes have done to the store.
type Changes struct {
	Workflows []domain.WorkflowID // those that have moved on
	All       bool                // anything may have changed
	Timers    bool                // some were set
	Messages  bool                // some were posted
	Tasks     bool                // some wait for a slot
	Replicas  bool                // one has joined or left
}

// changed is what a transaction has to tell the others.
type changed struct {
	workflows                         []domain.WorkflowID
	timers, messages, tasks, replicas bool
}

func (c *changed) task(state history.TaskState) {
	c.tasks = c.tasks || state != history.TaskStarted
}

func (c *changed) nothing() bool {
	return len(c.workflows) == 0 && !c.timers && !c.messages && !c.tasks && !c.replicas
}
