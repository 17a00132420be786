package workers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/awl/plan"
	"aion/domain/deployment"
	"aion/domain/worker"
)

// Contract is how what a worker registered compares with what documents declare.
type Contract struct {
	Undeclared []string  // actions that no reachable version declares for the queue
	Ineligible []Finding // misfits with versions that only open runs use
	misfits    []Finding // misfits with routed versions
}

// Package is a version that declares an action.
type Package struct {
	WorkflowType string `json:"workflow_type"`
	ContentHash  string `json:"content_hash"`
	RouteActive  bool   `json:"route_active"`
}

// Finding is one misfit, and the versions that it is one with. Got is nil when a schema is missing that is required.
type Finding struct {
	Action    string    `json:"action"`
	Direction string    `json:"direction"`
	Pointer   string    `json:"pointer"`
	Expected  string    `json:"expected"`
	Got       *string   `json:"got"`
	Packages  []Package `json:"packages"`
	Remedy    string    `json:"remedy"`
}

// reachable is a version that new or open runs use, with the actions that it declares for a queue.
type reachable struct {
	Package
	actions []plan.Action
}

// reach lists the versions that declare a queue and that runs can have: routed ones, and those of open runs.
func (s *Service) reach(ctx context.Context, queue string) ([]reachable, error) {
	versions, err := s.Versions.Versions(ctx, "")
	if err != nil {
		return nil, err
	}
	routes := map[string]string{}
	var found []reachable
	for _, v := range versions {
		c := s.version(ctx, v.ContentHash)
		if c == nil {
			continue // nothing of it runs before it can be read
		}
		i := slices.IndexFunc(c.Plan.Workers, func(w plan.Worker) bool { return w.Name == queue })
		if i < 0 {
			continue
		}
		if err := s.routed(ctx, v.WorkflowType, routes); err != nil {
			return nil, err
		}
		r := reachable{Package: Package{v.WorkflowType, v.ContentHash, routes[v.WorkflowType] == v.ContentHash}, actions: c.Plan.Workers[i].Actions}
		if !r.RouteActive {
			_, pinned, err := s.Index.PinnedBy(ctx, v.ContentHash, nil, 1)
			if err != nil {
				return nil, err
			}
			if pinned == 0 {
				continue
			}
		}
		found = append(found, r)
	}
	return found, nil
}

// routed adds the version that a type is routed to, once.
func (s *Service) routed(ctx context.Context, workflowType string, routes map[string]string) error {
	if _, asked := routes[workflowType]; asked {
		return nil
	}
	routed, err := s.Versions.Routed(ctx, workflowType)
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		return err
	}
	routes[workflowType] = ""
	if err == nil {
		routes[workflowType] = routed.Plan.ContentHash
	}
	return nil
}

// compare holds what a worker registers against every reachable version.
func (s *Service) compare(ctx context.Context, w worker.Settings) (Contract, error) {
	versions, err := s.reach(ctx, w.TaskQueue)
	if err != nil {
		return Contract{}, err
	}
	var c Contract
	for _, a := range w.Actions {
		declared := false
		for _, v := range versions {
			i := slices.IndexFunc(v.actions, func(d plan.Action) bool { return d.Name == a.Name })
			if i < 0 {
				continue
			}
			declared = true
			into := &c.Ineligible
			if v.RouteActive {
				into = &c.misfits
			}
			for _, f := range s.findings(a, v.actions[i]) {
				*into = join(*into, f, v.Package)
			}
		}
		if !declared {
			c.Undeclared = append(c.Undeclared, a.Name)
		}
	}
	return c, nil
}

// findings compares one action with one declaration.
func (s *Service) findings(a worker.Action, declared plan.Action) []Finding {
	var out []Finding
	if s.RequireContracts {
		for direction, text := range map[string]json.RawMessage{worker.DirectionInput: a.InputSchema, worker.DirectionOutput: a.OutputSchema} {
			if text == nil {
				out = append(out, Finding{
					Action: a.Name, Direction: direction, Expected: "a schema",
					Remedy: fmt.Sprintf("register the %s_schema of %s: workers.require_contracts is set", direction, a.Name),
				})
			}
		}
		slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Direction, b.Direction) })
	}
	for _, m := range worker.Misfits(declared.InputSchema, declared.OutputSchema, a) {
		got := m.Got
		out = append(out, Finding{Action: a.Name, Direction: m.Direction, Pointer: m.Pointer, Expected: m.Expected, Got: &got})
	}
	return out
}

// join adds a finding, or its version to the same one.
func join(list []Finding, f Finding, p Package) []Finding {
	same := func(g Finding) bool {
		return g.Action == f.Action && g.Direction == f.Direction && g.Pointer == f.Pointer && g.Expected == f.Expected &&
			(g.Got == nil) == (f.Got == nil) && (g.Got == nil || *g.Got == *f.Got)
	}
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i].Packages = append(list[i].Packages, p)
		return list
	}
	f.Packages = []Package{p}
	if f.Remedy == "" {
		f.Remedy = remedy(f, p.WorkflowType)
	}
	return append(list, f)
}

func remedy(f Finding, workflowType string) string {
	at := f.Pointer[strings.LastIndex(f.Pointer, "/")+1:]
	if at == "" {
		at = "the " + f.Direction
	}
	if f.Direction == worker.DirectionInput {
		return fmt.Sprintf("accept %s: %s, or deploy a version of %s that does not send it", at, f.Expected, workflowType)
	}
	return fmt.Sprintf("return %s as %s, or deploy a version of %s that declares what the worker returns", at, f.Expected, workflowType)
}

// judge refuses a worker that does not fit a routed version. The log says so once for each changed refusal.
func (s *Service) judge(who access.Caller, instance string, w worker.Settings, c Contract) error {
	key := who.Owner() + " " + instance
	if len(c.misfits) == 0 {
		s.mu.Lock()
		delete(s.refused, key)
		s.mu.Unlock()
		return nil
	}
	var schemas []string
	for _, a := range w.Actions {
		if a.InputSchema != nil || a.OutputSchema != nil {
			schemas = append(schemas, a.Name)
		}
	}
	advertised := worker.Worker{Settings: w}.ActionNames()
	err := &domain.Error{
		Code: domain.CodeInvalidState, Type: "ContractMismatch",
		Message: fmt.Sprintf("worker %s does not fit task queue %s: %s", w.Identity, w.TaskQueue, c.misfits[0].Remedy),
		Details: map[string]any{"advertised": advertised, "with_schema": append([]string{}, schemas...), "findings": c.misfits},
	}
	text, _ := json.Marshal(err.Details) // it is made of texts
	s.mu.Lock()
	again := s.refused[key] == string(text)
	if len(s.refused) >= maxWorkers {
		clear(s.refused)
	}
	s.refused[key] = string(text)
	s.mu.Unlock()
	if !again {
		s.Log.Warn("a worker does not fit its task queue and is refused", "worker", w.Identity, "task_queue", w.TaskQueue, "findings", string(text))
	}
	return err
}

// fit names a comparison that is remembered.
type fit struct{ input, output, version, queue, action string }

// eligible reports whether a worker may be given what waits of a declared action.
func (s *Service) eligible(w worker.Worker, ns domain.Namespace, declared *plan.Action, version string) bool {
	a := w.Action(declared.Name)
	return a != nil && w.Serves(ns) && w.Takes(declared.Node) && s.fit(w.TaskQueue, *a, declared, version)
}

// fit reports whether the contract of an action fits a version, and remembers it.
func (s *Service) fit(queue string, a worker.Action, declared *plan.Action, version string) bool {
	if a.InputSchema == nil && a.OutputSchema == nil {
		return true // whether that may be is decided when it registers
	}
	key := fit{string(a.InputSchema), string(a.OutputSchema), version, queue, a.Name}
	s.mu.Lock()
	fits, known := s.fits[key]
	s.mu.Unlock()
	if known {
		return fits
	}
	fits = len(worker.Misfits(declared.InputSchema, declared.OutputSchema, a)) == 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fits) >= maxWorkers {
		clear(s.fits)
	}
	s.fits[key] = fits
	return fits
}

// version gives a loaded version; nil: it cannot be read now.
func (s *Service) version(ctx context.Context, hash string) *deployment.Contract {
	c, err := s.Versions.Contract(ctx, hash)
	if err != nil {
		return nil
	}
	return c
}
