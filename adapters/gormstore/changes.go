package gormstore

import (
	"aion/domain/history"
	"aion/ports"
)

// changed is what a transaction has to tell the others.
type changed ports.Changes

func (c *changed) task(state history.TaskState) {
	c.Tasks = c.Tasks || state != history.TaskStarted
}

func (c *changed) nothing() bool {
	return len(c.Workflows) == 0 && !c.Timers && !c.Messages && !c.Tasks && !c.Replicas
}
