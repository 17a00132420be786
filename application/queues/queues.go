package queues

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aion/application/workers"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/history"
	"aion/domain/worker"
)

// Shown is a worker as it stands; Contract is set when it is shown alone.
type Shown struct {
	worker.Worker
	State    worker.State
	Held     []Held // of the namespace
	Contract workers.Contract
}

// Held is a task that a worker holds.
type Held struct {
	history.Lease
	Progress workers.Progress // the latest that this server was told
}

// Queue is one task queue at one node; ServerRow stands for what the server executes itself.
type Queue struct {
	TaskQueue string
	Node      string
	Actions   []Action
	Workers   []string // ids of those that are not gone
}

// ServerRow is the node of what the server executes itself.
const ServerRow = "(server)"

// Action is one action of a queue.
type Action struct {
	Name        string
	Queued      int64
	Oldest      time.Time // zero: nothing waits
	Running     int64
	WorkersLive int
	Reason      worker.Reason
}

// Unserved is work that nothing could take now.
type Unserved struct {
	worker.Demand
	Reason  worker.Reason
	Waiting int64
	Oldest  time.Time
	// Workflows are the first ten whose work it is.
	Workflows []domain.WorkflowID
}

// place names an action of a queue at a node.
type place struct{ queue, node, action string }

// sight is everything about the queues of one namespace.
type sight struct {
	moment
	rows     map[place]*Action
	unserved []Unserved
}

// Queues shows the task queues of a namespace by name and node: those in which something waits or runs, and those that are
// served.
func (s *Service) Queues(ctx context.Context, who access.Caller, ns domain.Namespace) ([]Queue, error) {
	if err := who.Reach(ns); err != nil {
		return nil, err
	}
	seen, err := s.see(ctx, ns)
	if err != nil {
		return nil, err
	}
	out := map[[2]string]*Queue{}
	at := func(queue, node string) *Queue {
		key := [2]string{queue, node}
		if out[key] == nil {
			out[key] = &Queue{TaskQueue: queue, Node: node, Actions: []Action{}, Workers: []string{}}
		}
		return out[key]
	}
	for p, a := range seen.rows {
		q := at(p.queue, p.node)
		q.Actions = append(q.Actions, *a)
	}
	for _, w := range seen.workers {
		if w.Serves(ns) {
			q := at(w.TaskQueue, w.Node)
			q.Workers = append(q.Workers, w.ID)
		}
	}
	list := make([]Queue, 0, len(out))
	for _, q := range out {
		slices.SortFunc(q.Actions, func(a, b Action) int { return cmp.Compare(a.Name, b.Name) })
		list = append(list, *q)
	}
	slices.SortFunc(list, func(a, b Queue) int {
		return cmp.Or(cmp.Compare(a.TaskQueue, b.TaskQueue), cmp.Compare(a.Node, b.Node))
	})
	return list, nil
}

// Unserved lists the work of a namespace that nothing could take now, by queue, node and action.
func (s *Service) Unserved(ctx context.Context, who access.Caller, ns domain.Namespace) ([]Unserved, error) {
	if err := who.Reach(ns); err != nil {
		return nil, err
	}
	seen, err := s.see(ctx, ns)
	if err != nil {
		return nil, err
	}
	return seen.unserved, nil
}

// see reads the queues of a namespace.
func (s *Service) see(ctx context.Context, ns domain.Namespace) (sight, error) {
	m, err := s.look(ctx)
	if err != nil {
		return sight{}, err
	}
	seen := sight{moment: m, rows: map[place]*Action{}, unserved: []Unserved{}}
	for _, w := range m.workers {
		if !w.Serves(ns) {
			continue
		}
		for _, a := range w.Actions {
			if row := seen.row(w.TaskQueue, w.Node, a.Name); !w.Draining {
				row.WorkersLive++
			}
		}
	}
	if err := s.waiting(ctx, ns, &seen); err != nil {
		return sight{}, err
	}
	started, err := s.Tasks.Held(ctx)
	if err != nil {
		return sight{}, err
	}
	for _, t := range started {
		if t.Namespace == ns {
			if declared := s.declared(ctx, t.PackageVersion, t.TaskQueue, t.Name); declared != nil {
				seen.row(t.TaskQueue, s.node(declared), t.Name).Running++
			}
		}
	}
	slices.SortFunc(seen.unserved, func(a, b Unserved) int {
		return cmp.Or(cmp.Compare(a.TaskQueue, b.TaskQueue), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Reason, b.Reason))
	})
	return seen, nil
}

// shownWorkflows is how many workflows are named whose work is unserved.
const shownWorkflows = 10

func (s *Service) waiting(ctx context.Context, ns domain.Namespace, seen *sight) error {
	now := s.Clock.Now()
	backlogs, err := s.Store.Backlogs(ctx, "", now)
	if err != nil {
		return err
	}
	for _, b := range backlogs {
		if b.Namespace != ns {
			continue
		}
		declared := s.declared(ctx, b.PackageVersion, b.TaskQueue, b.Name)
		if declared == nil {
			continue // nobody can tell what it is before its version can be read
		}
		row := seen.row(b.TaskQueue, s.node(declared), b.Name)
		row.Queued += b.Tasks
		if row.Oldest.IsZero() || b.Oldest.Before(row.Oldest) {
			row.Oldest = b.Oldest
		}
		if s.Gate.Serves(declared) {
			continue
		}
		d := worker.Demand{Namespace: ns, TaskQueue: b.TaskQueue, Node: declared.Node, Action: b.Name, Waits: now.Sub(b.Oldest)}
		reason := s.reason(seen.moment, ns, declared, b.PackageVersion, d)
		if reason == worker.Served {
			continue
		}
		row.Reason = reason
		first, err := s.Store.WaitingTasks(ctx, b, now, shownWorkflows)
		if err != nil {
			return err
		}
		seen.add(Unserved{Demand: d, Reason: reason, Waiting: b.Tasks, Oldest: b.Oldest, Workflows: workflowsOf(first)})
	}
	return nil
}

// add joins the same work of several versions.
func (v *sight) add(u Unserved) {
	i := slices.IndexFunc(v.unserved, func(o Unserved) bool {
		return o.TaskQueue == u.TaskQueue && o.Node == u.Node && o.Action == u.Action && o.Reason == u.Reason
	})
	if i < 0 {
		v.unserved = append(v.unserved, u)
		return
	}
	o := &v.unserved[i]
	o.Waiting += u.Waiting
	if u.Oldest.Before(o.Oldest) {
		o.Oldest = u.Oldest
	}
	for _, id := range u.Workflows {
		if len(o.Workflows) < shownWorkflows && !slices.Contains(o.Workflows, id) {
			o.Workflows = append(o.Workflows, id)
		}
	}
}

func workflowsOf(tasks []history.Task) []domain.WorkflowID {
	out := make([]domain.WorkflowID, 0, len(tasks))
	for _, t := range tasks {
		if !slices.Contains(out, t.Key.WorkflowID) {
			out = append(out, t.Key.WorkflowID)
		}
	}
	return out
}

func (v *sight) row(queue, node, action string) *Action {
	p := place{queue, node, action}
	if v.rows[p] == nil {
		v.rows[p] = &Action{Name: action}
	}
	return v.rows[p]
}

// node is where an action belongs: with the server when that executes it.
func (s *Service) node(declared *plan.Action) string {
	if s.Gate.Serves(declared) {
		return ServerRow
	}
	return declared.Node
}

func (s *Service) declared(ctx context.Context, version, queue, name string) *plan.Action {
	c, err := s.Versions.Contract(ctx, version)
	if err != nil {
		return nil
	}
	return c.Plan.Action(queue, name)
}
