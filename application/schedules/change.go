package schedules

import (
	"context"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/schedule"
)

// maxReason bounds what people say about a pause.
const maxReason = 1_000

// accept judges settings and the start that they ask for, and gives their zone.
func (s *Service) accept(ctx context.Context, who access.Caller, of schedule.Ref, set schedule.Settings) (*time.Location, error) {
	if _, err := set.Check(); err != nil {
		return nil, err
	}
	zone, err := s.Zones.Zone(set.Zone)
	if err != nil {
		return nil, err
	}
	_, err = s.Runs.Admit(ctx, who, startOf(string(of.Namespace), of.ID, set))
	return zone, err
}

// UpdateRequest replaces the settings of a schedule. Revision is the one that they rest on; empty: Any, or none was named.
type UpdateRequest struct {
	Namespace string
	ID        string
	Settings  schedule.Settings
	Revision  string
	Any       bool
}

// Update replaces all settings; a stale revision is refused (RevisionMismatch), and none, too (PreconditionRequired). What has started goes on, a fire that waits
// goes on waiting, and the runs still act with the grants of the creator.
func (s *Service) Update(ctx context.Context, who access.Caller, req UpdateRequest) (Shown, error) {
	of, err := s.forChange(ctx, who, req.Namespace, req.ID)
	if err != nil {
		return Shown{}, err
	}
	v, err := s.Store.Schedule(ctx, of)
	if err != nil {
		return Shown{}, err
	}
	if req.Revision == "" && !req.Any {
		return Shown{}, schedule.Unconditional(of.ID)
	}
	if err := rests(v, req.Revision); err != nil { // before the settings are judged
		return Shown{}, err
	}
	zone, err := s.accept(ctx, who, of, req.Settings)
	if err != nil {
		return Shown{}, err
	}
	return s.change(ctx, who, of, "schedule.update", func(v schedule.Schedule, now time.Time) (schedule.Schedule, error) {
		if err := rests(v, req.Revision); err != nil {
			return v, err
		}
		return v.Update(req.Settings, now, zone)
	})
}

// rests refuses a change that rests on another revision.
func rests(v schedule.Schedule, revision string) error {
	if revision == "" || revision == strconv.FormatInt(v.Revision, 10) {
		return nil
	}
	return schedule.Mismatch(v.ID, v.Revision)
}

// Delete removes a schedule; its runs go on. A stale revision is refused (RevisionMismatch), an empty one is any.
func (s *Service) Delete(ctx context.Context, who access.Caller, namespace, id, revision string) error {
	of, err := s.forChange(ctx, who, namespace, id)
	if err != nil {
		return err
	}
	return s.Store.DeleteSchedule(ctx, of, func(v schedule.Schedule) error { return rests(v, revision) },
		who.Audit("schedule.delete", of.Namespace, string(of.ID)))
}

// Pause keeps a schedule from firing; what comes meanwhile is recorded as skipped. One that is paused stays as it is.
func (s *Service) Pause(ctx context.Context, who access.Caller, namespace, id, reason string) (Shown, error) {
	if !utf8.ValidString(reason) || utf8.RuneCountInString(reason) > maxReason {
		return Shown{}, invalid("a reason has at most %d characters of UTF-8", maxReason)
	}
	of, err := s.forChange(ctx, who, namespace, id)
	if err != nil {
		return Shown{}, err
	}
	return s.change(ctx, who, of, "schedule.pause", func(v schedule.Schedule, now time.Time) (schedule.Schedule, error) {
		return v.PausedBy(who.Subject, reason, now), nil
	})
}

// Resume lets a schedule fire again.
func (s *Service) Resume(ctx context.Context, who access.Caller, namespace, id string) (Shown, error) {
	of, err := s.forChange(ctx, who, namespace, id)
	if err != nil {
		return Shown{}, err
	}
	return s.change(ctx, who, of, "schedule.resume", func(v schedule.Schedule, now time.Time) (schedule.Schedule, error) {
		return v.Resumed(now), nil
	})
}

// change stores what becomes of a schedule, and shows it.
func (s *Service) change(ctx context.Context, who access.Caller, of schedule.Ref, action string,
	change func(schedule.Schedule, time.Time) (schedule.Schedule, error),
) (Shown, error) {
	stored, err := s.Store.ChangeSchedule(ctx, of, func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		after, err := change(v, s.now())
		after.Audit = who.Audit(action, of.Namespace, string(of.ID))
		after.Audit.Detail = detail(after)
		return after, nil, err
	})
	if err != nil {
		return Shown{}, err
	}
	s.wake()
	return s.show(ctx, stored)
}

// BackfillRequest asks for the runs of times that have passed.
type BackfillRequest struct {
	Namespace string
	ID        string
	schedule.Span
}

// Backfill plans the starts of the times in a span, oldest first, whatever the overlap rule and a pause say. A time that
// has started a run starts no other. It gives how many were planned.
func (s *Service) Backfill(ctx context.Context, who access.Caller, req BackfillRequest) (int, error) {
	of, err := s.forChange(ctx, who, req.Namespace, req.ID)
	if err != nil {
		return 0, err
	}
	read, err := s.Store.Schedule(ctx, of)
	if err != nil {
		return 0, err
	}
	zone, err := s.Zones.Zone(read.Zone)
	if err != nil {
		return 0, err
	}
	planned := 0
	_, err = s.change(ctx, who, of, "schedule.backfill", func(v schedule.Schedule, now time.Time) (_ schedule.Schedule, err error) {
		if v.Zone != read.Zone {
			return v, schedule.Mismatch(v.ID, v.Revision)
		}
		v, planned, err = v.FillIn(req.Span, who.Subject, now, zone)
		return v, err
	})
	return planned, err
}

func invalid(format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: fmt.Sprintf(format, args...)}
}
