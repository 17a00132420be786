package workers

import (
	"context"
	"encoding/json"
	"fmt"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/worker"
)

// Declared is an action as reachable versions declare it in the same words.
type Declared struct {
	plan.Action
	Packages []Package
}

// Contracts tells what a worker of a queue has to serve.
func (s *Service) Contracts(ctx context.Context, who access.Caller, namespace, queue string) ([]Declared, error) {
	ns, err := domain.ParseNamespace(namespace)
	if err != nil {
		return nil, err
	}
	if err := who.Reach(ns); err != nil {
		return nil, err
	}
	versions, err := s.reach(ctx, queue)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, worker.QueueNotFound(queue)
	}
	var out []Declared
	at := map[string]int{}
	for _, v := range versions {
		for _, a := range v.actions {
			text, _ := json.Marshal(a) // it came from JSON
			i, known := at[string(text)]
			if !known {
				i = len(out)
				at[string(text)] = i
				out = append(out, Declared{Action: a})
			}
			out[i].Packages = append(out[i].Packages, v.Package)
		}
	}
	return out, nil
}

// Compare holds what a worker registered against what is reachable now.
func (s *Service) Compare(ctx context.Context, w worker.Settings) (Contract, error) {
	return s.compare(ctx, w)
}

// Fits reports whether the contract of an action fits a version.
func (s *Service) Fits(queue string, a worker.Action, declared *plan.Action, version string) bool {
	return s.fit(queue, a, declared, version)
}

// Progress is what a worker last said of a task to this server.
func (s *Service) Progress(task string) (Progress, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.progress[task]
	return p, ok
}

// Draining reports whether this server gives out nothing more.
func (s *Service) Draining() bool { return s.draining() }

// DeployWarnings tells which live workers do not fit a plan that is deployed: its tasks are not given to them.
func (s *Service) DeployWarnings(ctx context.Context, p *plan.Plan) []string {
	live, err := s.Store.Workers(ctx, "", worker.GoneBefore(s.Clock.Now(), s.HeartbeatInterval))
	if err != nil {
		return nil // a warning is no reason to refuse
	}
	var out []string
	for _, w := range live {
		for _, a := range w.Actions {
			declared := p.Action(w.TaskQueue, a.Name)
			if declared == nil || s.Gate.Serves(declared) {
				continue
			}
			for _, m := range worker.Misfits(declared.InputSchema, declared.OutputSchema, a) {
				out = append(out, fmt.Sprintf("worker %s of task queue %s gets no task of this version: the %s of %s does not fit at %q: expected %s, got %s",
					w.Identity, w.TaskQueue, m.Direction, a.Name, m.Pointer, m.Expected, m.Got))
			}
		}
	}
	return out
}
