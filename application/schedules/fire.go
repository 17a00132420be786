package schedules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/schedule"
)

// The bounds of one turn of a schedule: what is left is due at once, so that the next look goes on with it.
const (
	decisions = 3 * schedule.MaxCaughtUp
	patience  = 20 * time.Second // of one decision, or one start
	together  = 100              // open runs that are cancelled at a time
)

// errNothing leaves a schedule as it is.
var errNothing = errors.New("there is nothing to decide")

// turn decides and starts what is due of one schedule. A store that is away, and a start that may succeed later, leave the
// rest to the next look.
func (s *Service) turn(ctx context.Context, of schedule.Ref) error {
	var err error
	more := true
	for n := 0; n < decisions && more && err == nil && ctx.Err() == nil && !s.draining.Load(); n++ {
		more, err = s.step(ctx, of)
	}
	return err
}

// step settles the start that is under way, or else takes the next decision.
func (s *Service) step(ctx context.Context, of schedule.Ref) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := s.Store.Schedule(ctx, of)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return false, nil // it was deleted
	}
	if err != nil {
		return false, err
	}
	if v.Starting != nil {
		return s.launch(ctx, v)
	}
	return s.decide(ctx, v)
}

// decide records the next decision that is due. The decision is taken once, whoever else looks at the schedule: a start is
// noted first, and whoever reads the note carries it out under the same name.
func (s *Service) decide(ctx context.Context, read schedule.Schedule) (bool, error) {
	zone, err := s.Zones.Zone(read.Zone)
	if err != nil {
		return false, err
	}
	rows, err := s.Queue.OpenOfSchedule(ctx, read.Ref(), 1)
	if err != nil {
		return false, err
	}
	var open domain.WorkflowID
	if len(rows) > 0 {
		open = rows[0].WorkflowID
	}
	var fires []schedule.Fire
	after, err := s.Store.ChangeSchedule(ctx, read.Ref(), func(v schedule.Schedule) (_ schedule.Schedule, _ []schedule.Fire, err error) {
		ok := v.Zone == read.Zone
		if ok {
			v, fires, ok = v.Decide(s.now(), open, zone)
		}
		if !ok {
			err = errNothing
		}
		return v, fires, err
	})
	if errors.Is(err, errNothing) || domain.CodeOf(err) == domain.CodeNotFound {
		return false, nil
	}
	if err == nil {
		s.count(after, fires...)
	}
	return err == nil, err
}

// launch starts the run that was decided on, and records how that ended. It may be called again for the same decision, by
// any server: the workflow's id and the key come from the schedule and the time alone.
func (s *Service) launch(ctx context.Context, v schedule.Schedule) (bool, error) {
	f := *v.Starting
	if f.Cancel {
		if err := s.cancelOpen(ctx, v, f.WorkflowID); err != nil {
			return false, err
		}
	}
	run, err := s.start(ctx, v, f)
	if again(ctx, err) {
		return false, err
	}
	refused := ""
	if err != nil {
		refused = reason(err)
		s.Log.WarnContext(ctx, "a schedule cannot start its run", "namespace", v.Namespace, "schedule_id", v.ID, "error_type", domain.TypeOf(err), "error", err)
	}
	var fired schedule.Fire
	after, err := s.Store.ChangeSchedule(ctx, v.Ref(), func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		after, settled, ok := v.Settle(f, run, refused)
		if !ok {
			return v, nil, errNothing
		}
		fired = settled
		return after, []schedule.Fire{settled}, nil
	})
	if errors.Is(err, errNothing) || domain.CodeOf(err) == domain.CodeNotFound { // another server was faster, or it was deleted
		return true, nil
	}
	if err == nil {
		s.count(after, fired)
	}
	return err == nil, err
}

// start starts the run of a fire, or finds the one that was started for it before.
func (s *Service) start(ctx context.Context, v schedule.Schedule, f schedule.Fire) (domain.RunID, error) {
	who := caller(v.Creator)
	req := startOf(string(v.Namespace), v.ID, v.Settings)
	req.WorkflowID = string(f.WorkflowID)
	req.IdempotencyKey = v.UID + "/" + f.Nominal.UTC().Format(time.RFC3339Nano)
	got, err := s.Runs.Start(ctx, who, req)
	if err == nil {
		return got.First.RunID, nil
	}
	if domain.CodeOf(err) == domain.CodeIdempotencyConflict || domain.TypeOf(err) == "WorkflowExists" { // the settings have changed since, or long ago
		known, missing := s.Runs.Latest(ctx, who, runs.Ref{Namespace: string(v.Namespace), WorkflowID: string(f.WorkflowID)})
		if missing == nil {
			return known.RunID, nil
		}
	}
	return "", err
}

// cancelOpen cancels the open runs of a schedule, but for one workflow.
func (s *Service) cancelOpen(ctx context.Context, v schedule.Schedule, but domain.WorkflowID) error {
	open, err := s.Queue.OpenOfSchedule(ctx, v.Ref(), together)
	if err != nil {
		return err
	}
	for _, row := range open {
		if row.WorkflowID == but {
			continue
		}
		_, err := s.Runs.Cancel(ctx, caller(v.Creator), runs.CancelRequest{
			Ref:    runs.Ref{Namespace: string(v.Namespace), WorkflowID: string(row.WorkflowID)},
			Reason: fmt.Sprintf("schedule %s fires again, and its overlap rule is cancel_running", v.ID),
		})
		if err != nil && domain.CodeOf(err) != domain.CodeNotRunning && domain.CodeOf(err) != domain.CodeNotFound {
			return err
		}
	}
	return nil
}

// again tells whether a start that failed so may succeed when it is repeated.
func again(ctx context.Context, err error) bool {
	code := domain.CodeOf(err)
	return err != nil && (ctx.Err() != nil || code == domain.CodeUnavailable || code == domain.CodeSequenceConflict || code == domain.CodeResourceExhausted)
}

// reason is a refusal as it is listed. What is none is for the log.
func reason(err error) string {
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Code == domain.CodeBackend {
		return "Internal: the server failed at the start; its operator finds the cause in the log"
	}
	return refusal.Type + ": " + domain.Quote(refusal.Message, 500)
}

// count tells the meter about fires.
func (s *Service) count(v schedule.Schedule, fires ...schedule.Fire) {
	if s.Meter == nil {
		return
	}
	for _, f := range fires {
		s.Meter.ScheduleFired(f.Action)
		if lag, ok := v.Lag(f); ok {
			s.Meter.ScheduleLag(lag)
		}
	}
}
