package actions

import (
	"context"
	"log/slog"
	"sync"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
)

// Versions is what the catalogue reads: the deployed versions and the route of each type.
type Versions interface {
	// Contract gives the loaded version with a content hash.
	Contract(ctx context.Context, contentHash string) (*deployment.Contract, error)
	// Versions lists the stored versions of all types when workflowType is empty.
	Versions(ctx context.Context, workflowType string) ([]deployment.Version, error)
	// Routed gives the version that new runs of a type get.
	Routed(ctx context.Context, workflowType string) (*deployment.Contract, error)
}

// Records tells the runs of a workflow.
type Records interface {
	Runs(ctx context.Context, id domain.WorkflowID) ([]history.RunRow, error)
}

// Question asks for the body of an action as one run sees it.
type Question struct {
	TaskQueue, Name string
	Key             domain.AttemptKey
	Version         string // the content hash that the run is pinned to; empty: the run's record is asked
}

// Answer is a lookup, with the version that declares the body.
type Answer struct {
	action.Lookup
	Contract *deployment.Contract // nil unless the lookup is Declared
}

// Catalogue finds declared bodies (actions 1.3). It is built empty and installed once the store is ready. It is safe for
// concurrent use.
type Catalogue struct {
	log *slog.Logger

	mu         sync.Mutex
	versions   Versions
	records    Records
	unreadable map[Question]bool // bodies that could not be read at their last lookup, by version, queue and action
}

// NewCatalogue gives a catalogue that knows nothing yet.
func NewCatalogue(log *slog.Logger) *Catalogue {
	return &Catalogue{log: log, unreadable: map[Question]bool{}}
}

// Install gives the catalogue what it reads. A second call changes nothing and is logged.
func (c *Catalogue) Install(versions Versions, records Records) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.versions != nil {
		c.log.Warn("the catalogue of declared bodies is installed already; the second one is ignored")
		return
	}
	c.versions, c.records = versions, records
}

// Lookup answers for one dispatch. A catalogue that is not installed answers that there is no body.
func (c *Catalogue) Lookup(ctx context.Context, q Question) Answer {
	c.mu.Lock()
	versions, records := c.versions, c.records
	c.mu.Unlock()
	if versions == nil {
		c.log.Error("the catalogue of declared bodies was asked before it was installed",
			keyed(q.Key, "task_queue", q.TaskQueue, "action", q.Name)...)
		return Answer{Lookup: action.NoBody{}}
	}
	hash := q.Version
	if hash == "" {
		hash = c.pinned(ctx, records, q)
	}
	a, err := pick(ctx, versions, hash, q)
	if err != nil {
		a = Answer{Lookup: action.Unreadable{Reason: err.Error()}}
	}
	c.note(q, hash, a)
	return a
}

// unreadableMost bounds the bodies that are remembered as unreadable; of others the log says so each time.
const unreadableMost = 10_000

// note logs, once until it is readable again, that a body could not be read.
func (c *Catalogue) note(q Question, hash string, a Answer) {
	u, failed := a.Lookup.(action.Unreadable)
	body := Question{TaskQueue: q.TaskQueue, Name: q.Name, Version: hash}
	c.mu.Lock()
	known := c.unreadable[body]
	switch {
	case !failed:
		delete(c.unreadable, body)
	case len(c.unreadable) < unreadableMost:
		c.unreadable[body] = true
	}
	c.mu.Unlock()
	if failed && !known {
		c.log.Error("the declared body of an action cannot be read; it is left to the workers of its queue",
			keyed(q.Key, "task_queue", q.TaskQueue, "action", q.Name, "reason", u.Reason)...)
	}
}

// pinned reads the content hash from the run's record; empty when it cannot be known.
func (c *Catalogue) pinned(ctx context.Context, records Records, q Question) string {
	rows, err := records.Runs(ctx, q.Key.WorkflowID)
	if err != nil {
		c.log.Error("the record of a run cannot be read; all retained versions decide on the body", keyed(q.Key, "error", err)...)
		return ""
	}
	for _, row := range rows {
		if row.RunID == q.Key.RunID {
			return row.PackageVersion
		}
	}
	c.log.Error("a run has no record; all retained versions decide on the body", keyed(q.Key)...)
	return ""
}

// pick selects the body by the rules of domain/action.
func pick(ctx context.Context, versions Versions, hash string, q Question) (Answer, error) {
	loaded := map[string]*deployment.Contract{}
	var declaring []action.DeclaringVersion
	add := func(v deployment.Version, routed bool) error {
		contract, err := versions.Contract(ctx, v.ContentHash)
		if domain.CodeOf(err) == domain.CodeNotFound {
			return nil // not retained
		}
		if err != nil {
			return err
		}
		declared := contract.Plan.Action(q.TaskQueue, q.Name)
		if declared == nil {
			return nil
		}
		loaded[v.ContentHash] = contract
		declaring = append(declaring, action.DeclaringVersion{
			ContentHash: v.ContentHash, WorkflowTypes: []string{contract.Plan.WorkflowType}, RouteActive: routed, Body: declared.Body,
		})
		return nil
	}
	if hash != "" {
		if err := add(deployment.Version{ContentHash: hash}, false); err != nil {
			return Answer{}, err
		}
	} else if err := all(ctx, versions, add); err != nil {
		return Answer{}, err
	}
	a := Answer{Lookup: action.Select(hash, declaring)}
	if _, found := a.Lookup.(action.Declared); found {
		for _, v := range declaring {
			if v.Body != nil {
				a.Contract = loaded[v.ContentHash]
				break
			}
		}
	}
	return a, nil
}

// all hands on every retained version, routed or not.
func all(ctx context.Context, versions Versions, add func(v deployment.Version, routed bool) error) error {
	list, err := versions.Versions(ctx, "")
	if err != nil {
		return err
	}
	routes := map[string]string{}
	for _, v := range list {
		if _, known := routes[v.WorkflowType]; !known {
			routes[v.WorkflowType] = ""
			routed, err := versions.Routed(ctx, v.WorkflowType)
			if err == nil {
				routes[v.WorkflowType] = routed.Plan.ContentHash
			} else if domain.CodeOf(err) != domain.CodeNotFound {
				return err
			}
		}
		if err := add(v, routes[v.WorkflowType] == v.ContentHash); err != nil {
			return err
		}
	}
	return nil
}
