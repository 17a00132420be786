package schedules

import (
	"context"
	"strings"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/schedule"
)

// TriggerRequest asks for a run now.
type TriggerRequest struct {
	Namespace string
	ID        string
	Overlap   schedule.Overlap // empty: that of the schedule
	Key       string           // idempotency key; empty: none
}

// Trigger starts a run of a schedule now, also of a paused one, with the grants of its creator. While another run of it is
// open the overlap rule decides: skip and buffer_one refuse (ScheduleOverlap).
func (s *Service) Trigger(ctx context.Context, who access.Caller, req TriggerRequest) (runs.Started, error) {
	of, err := s.forChange(ctx, who, req.Namespace, req.ID)
	if err != nil {
		return runs.Started{}, err
	}
	v, err := s.Store.Schedule(ctx, of)
	if err != nil {
		return runs.Started{}, err
	}
	overlap := v.Overlap
	if req.Overlap != "" {
		overlap = req.Overlap
	}
	if err := overlap.Check(); err != nil {
		return runs.Started{}, err
	}
	start := startOf(req.Namespace, of.ID, v.Settings)
	start.WorkflowID = s.IDs.UUIDv7()
	if req.Key != "" { // the same key finds the same run, before any rule is asked
		start.WorkflowID = domain.DeriveUUID(v.UID, "trigger:"+who.Owner()+":"+req.Key)
		start.IdempotencyKey = strings.ReplaceAll(start.WorkflowID, "-", "")
		known, err := s.Runs.Latest(ctx, caller(v.Creator), runs.Ref{Namespace: req.Namespace, WorkflowID: start.WorkflowID})
		if err == nil {
			return s.repeated(ctx, v, start, known)
		}
		if domain.CodeOf(err) != domain.CodeNotFound {
			return runs.Started{}, err
		}
	}
	if err := s.makeRoom(ctx, v, overlap); err != nil {
		return runs.Started{}, err
	}
	got, err := s.Runs.Start(ctx, caller(v.Creator), start)
	if err != nil || got.Existing {
		return got, err
	}
	s.recordTrigger(ctx, who, v, got.First)
	return got, nil
}

// repeated answers a repetition as the first request was answered.
func (s *Service) repeated(ctx context.Context, v schedule.Schedule, start runs.StartRequest, known runs.Summary) (runs.Started, error) {
	got, err := s.Runs.Start(ctx, caller(v.Creator), start)
	if domain.CodeOf(err) == domain.CodeIdempotencyConflict || domain.TypeOf(err) == "WorkflowExists" { // its settings have changed, or the key is old
		return runs.Started{Run: known, First: known, Existing: true}, nil
	}
	return got, err
}

// makeRoom applies an overlap rule to the open runs before another is started.
func (s *Service) makeRoom(ctx context.Context, v schedule.Schedule, rule schedule.Overlap) error {
	if rule == schedule.Allow {
		return nil
	}
	if rule == schedule.CancelRunning {
		return s.cancelOpen(ctx, v, "")
	}
	open, err := s.Queue.OpenOfSchedule(ctx, v.Ref(), 1)
	if err == nil && len(open) > 0 {
		err = schedule.Overlaps(v.ID, open[0].WorkflowID)
	}
	return err
}

// recordTrigger lists the run among the fires. The run is durable by then, so a failure is told to the log alone.
func (s *Service) recordTrigger(ctx context.Context, who access.Caller, v schedule.Schedule, started runs.Summary) {
	var fired schedule.Fire
	_, err := s.Store.ChangeSchedule(ctx, v.Ref(), func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		after, f := v.Triggered(s.now(), started.WorkflowID, started.RunID, who.Subject)
		after.Audit = who.Audit("schedule.trigger", v.Namespace, string(v.ID))
		after.Audit.Detail = domain.AuditDetail(map[string]any{"workflow_id": string(started.WorkflowID), "run_id": string(started.RunID)})
		fired = f
		return after, []schedule.Fire{f}, nil
	})
	if err != nil {
		s.Log.WarnContext(ctx, "a run that was asked for is not among the fires of its schedule", "namespace", v.Namespace, "schedule_id", v.ID,
			"workflow_id", started.WorkflowID, "error", err)
		return
	}
	s.count(v, fired)
}
