package worker

import (
	"fmt"
	"time"

	"aion/domain"
)

// Reason is why nothing could take waiting work now (actions 8.9).
type Reason string

// The reasons, the first that applies first. Served is none.
const (
	Served             Reason = ""
	NoWorker           Reason = "no_worker"
	NoWorkerForNode    Reason = "no_worker_for_node"
	NoWorkerForAction  Reason = "no_worker_for_action"
	ContractIneligible Reason = "contract_ineligible"
	AllDraining        Reason = "draining"
	AtCapacity         Reason = "at_capacity"
	Throttled          Reason = "throttled"
)

// fullFor is how long workers may be full before their work counts as unserved.
const fullFor = 5 * time.Second

// Demand is work that waits for a remote worker.
type Demand struct {
	Namespace domain.Namespace
	TaskQueue string
	Node      string
	Action    string
	Waits     time.Duration
}

// Supply is what there is to serve it.
type Supply struct {
	Workers   []Worker            // that are not gone, of any queue
	Held      map[string]int      // leases by worker id
	Fits      func(a Action) bool // whether the contract of an action fits the version of the work
	Draining  bool                // the server gives out nothing
	Throttled bool                // the namespace, or the server, is at its bound
}

// Unserved tells why nothing could take the work now.
func (s Supply) Unserved(d Demand) Reason {
	var there, node, named, fit, taking, free bool
	for _, w := range s.Workers {
		if w.TaskQueue != d.TaskQueue || !w.Serves(d.Namespace) {
			continue
		}
		there = true
		if !w.Takes(d.Node) {
			continue
		}
		node = true
		a := w.Action(d.Action)
		if a == nil {
			continue
		}
		named = true
		if !s.Fits(*a) {
			continue
		}
		fit = true
		if w.Draining || s.Draining {
			continue
		}
		taking = true
		free = free || s.Held[w.ID] < w.MaxConcurrency
	}
	switch {
	case !there:
		return NoWorker
	case !node:
		return NoWorkerForNode
	case !named:
		return NoWorkerForAction
	case !fit:
		return ContractIneligible
	case !taking:
		return AllDraining
	case !free && d.Waits > fullFor:
		return AtCapacity
	case free && s.Throttled:
		return Throttled
	}
	return Served
}

// Hint says what would serve the work.
func (r Reason) Hint(d Demand) string {
	place := fmt.Sprintf("task queue %s of namespace %s", d.TaskQueue, d.Namespace)
	switch r {
	case NoWorker:
		return fmt.Sprintf("connect a worker to %s that runs %s", place, d.Action)
	case NoWorkerForNode:
		if d.Node == "" {
			return fmt.Sprintf("connect a worker to %s that is not pinned_only and runs %s", place, d.Action)
		}
		return fmt.Sprintf("connect a worker with node %s to %s that runs %s", d.Node, place, d.Action)
	case NoWorkerForAction:
		return fmt.Sprintf("let a worker of %s register %s", place, d.Action)
	case ContractIneligible:
		return fmt.Sprintf("let a worker of %s register %s with schemas that fit the version of the run", place, d.Action)
	case AllDraining:
		return fmt.Sprintf("connect another worker to %s that runs %s", place, d.Action)
	case AtCapacity:
		return fmt.Sprintf("connect more workers to %s, or raise their max_concurrency", place)
	case Throttled:
		return "raise max_in_flight_activities of the namespace, or limits.max_in_flight_activities"
	case Served:
	}
	return ""
}
