package engine

import (
	"context"
	"errors"
	"log/slog"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Past is where a rehearsal reads.
type Past struct {
	Events       ports.EventStore
	Index        ports.RunIndex
	Namespaces   ports.NamespaceStore
	Plans        plans
	HistoryLimit int
}

// Rehearsal is what the open runs of a store would meet at a start of this program.
type Rehearsal struct {
	Runs    int        // that were folded
	Differ  int        // that would be paused by a fault
	Differs []Differer // the first of them
}

// Differer is an open run whose history does not fold under its plan.
type Differer struct {
	Namespace  domain.Namespace
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	Fault      string
}

const (
	rehearsePage  = 200
	namedDiffers  = 100 // of one rehearsal
	unloadedFault = "engine_fault: its plan cannot be loaded"
)

// Rehearse folds the history of every open run with the check that a start makes, and changes nothing. each, unless nil,
// hears after every run how many were folded.
func Rehearse(ctx context.Context, p Past, each func(done int)) (Rehearsal, error) {
	e := &Engine{deps: Deps{Events: p.Events, Index: p.Index, Plans: p.Plans, HistoryLimit: p.HistoryLimit, Logger: slog.New(slog.DiscardHandler)}}
	var out Rehearsal
	for after := domain.Namespace(""); ; {
		page, err := p.Namespaces.Namespaces(ctx, after, rehearsePage)
		if err != nil {
			return out, err
		}
		for _, ns := range page {
			after = ns.Name
			if err := e.rehearse(ctx, ns.Name, &out, each); err != nil {
				return out, err
			}
		}
		if len(page) < rehearsePage {
			return out, nil
		}
	}
}

func (e *Engine) rehearse(ctx context.Context, ns domain.Namespace, out *Rehearsal, each func(done int)) error {
	filter := ports.RunFilter{Namespace: ns, Statuses: []history.Status{history.Running, history.Paused}, Order: ports.OldestFirst}
	for after := (*ports.RunPosition)(nil); ; {
		rows, err := e.deps.Index.List(ctx, filter, after, rehearsePage)
		if err != nil {
			return err
		}
		for _, listed := range rows {
			row, last := listed.RunRow, ports.PositionOf(listed.RunRow, filter.Order)
			after = &last
			ent, err := e.read(ctx, row.WorkflowID, row, false)
			if errors.Is(err, errNextRun) {
				continue // it has ended meanwhile
			}
			if err != nil {
				return err
			}
			out.add(row, ent)
			if each != nil {
				each(out.Runs)
			}
		}
		if len(rows) < rehearsePage {
			return nil
		}
	}
}

func (r *Rehearsal) add(row history.RunRow, ent *entry) {
	r.Runs++
	fault := ent.fault
	if ent.contract == nil {
		fault = unloadedFault
	}
	if fault == "" {
		return
	}
	if r.Differ++; r.Differ <= namedDiffers {
		r.Differs = append(r.Differs, Differer{Namespace: row.Namespace, WorkflowID: row.WorkflowID, RunID: row.RunID, Fault: fault})
	}
}
