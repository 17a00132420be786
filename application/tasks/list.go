package tasks

import (
	"context"

	"aion/domain/access"
	"aion/domain/task"
	"aion/ports"
)

// ListRequest asks for tasks: the caller's own, or those of All owners, which needs the deploy grant.
type ListRequest struct {
	All   bool
	State task.State // empty: any
	After *ports.MCPTaskPosition
	Limit int
}

// List shows tasks, newest first, as they were recorded last. more tells that others follow.
func (s *Service) List(ctx context.Context, who access.Caller, req ListRequest) (list []task.Task, more bool, err error) {
	which := ports.MCPTaskFilter{Owner: who.Owner(), State: req.State, Now: s.Clock.Now(), After: req.After, Limit: req.Limit + 1}
	if req.All {
		if err := who.MayDeploy(); err != nil {
			return nil, false, err
		}
		which.Owner = ""
	}
	list, err = s.Tasks.MCPTasks(ctx, which)
	return list[:min(len(list), req.Limit)], len(list) > req.Limit, err
}
