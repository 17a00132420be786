package conformance

import (
	"testing"
	"time"

	"aion/domain/task"
	"aion/ports"
)

func mcpTaskList(t *testing.T, s MCPTasks) {
	for n := range 6 { // 1 and 2 are made at one time
		k := mcpTask(n)
		k.CreatedAt = start.Add(time.Duration(n/2+n%2) * time.Second)
		if n == 5 {
			k.Owner = "token:bob"
		}
		makeTask(t, s, k)
	}
	turn(t, s, mcpTaskID(3), cancel)
	begun := turn(t, s, mcpTaskID(1), begin)
	listed := func(which ports.MCPTaskFilter) []task.ID {
		t.Helper()
		if which.Now.IsZero() {
			which.Now = start
		}
		if which.Limit == 0 {
			which.Limit = 10
		}
		list, err := s.MCPTasks(t.Context(), which)
		var ids []task.ID
		for _, k := range must(t, list, err) {
			ids = append(ids, k.ID)
			if k.Arguments != nil || k.Outcome != nil || k.Audit != nil {
				t.Errorf("%s has more than a list shows", k.ID)
			}
		}
		return ids
	}
	ids := func(of ...int) (out []task.ID) {
		for _, n := range of {
			out = append(out, mcpTaskID(n))
		}
		return out
	}
	same(t, "all", listed(ports.MCPTaskFilter{}), ids(5, 3, 4, 1, 2, 0))
	same(t, "of one owner", listed(ports.MCPTaskFilter{Owner: "token:ada"}), ids(3, 4, 1, 2, 0))
	same(t, "working ones", listed(ports.MCPTaskFilter{State: task.Working}), ids(5, 4, 1, 2, 0))
	same(t, "cancelled ones", listed(ports.MCPTaskFilter{State: task.Cancelled}), ids(3))
	same(t, "of nobody", listed(ports.MCPTaskFilter{Owner: "token:eve"}), []task.ID(nil))
	same(t, "none", listed(ports.MCPTaskFilter{Limit: -1}), []task.ID(nil))
	same(t, "without the expired one", listed(ports.MCPTaskFilter{Now: start.Add(24 * time.Hour)}), ids(5, 4, 1, 2, 0))
	var walked []task.ID
	which := ports.MCPTaskFilter{Limit: 2, Now: start}
	for {
		page, err := s.MCPTasks(t.Context(), which)
		for _, k := range must(t, page, err) {
			walked = append(walked, k.ID)
			which.After = &ports.MCPTaskPosition{CreatedAt: k.CreatedAt, ID: k.ID}
		}
		if len(page) < which.Limit {
			break
		}
	}
	same(t, "page by page", walked, ids(5, 3, 4, 1, 2, 0))
	list, err := s.MCPTasks(t.Context(), ports.MCPTaskFilter{Now: start, Limit: 10})
	same(t, "a task of the list", must(t, list, err)[3], task.Task{
		ID: begun.ID, Owner: begun.Owner, Namespace: begun.Namespace, Tool: begun.Tool, State: begun.State, StatusMessage: begun.StatusMessage,
		WorkflowID: begun.WorkflowID, RunID: begun.RunID, CreatedAt: begun.CreatedAt, UpdatedAt: begun.UpdatedAt,
	})
}
