package schedules

import (
	"context"
	"time"

	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
)

// What is shown of a schedule.
const (
	shownTimes = 5
	shownFires = 20
	shownRuns  = 20
	maxPreview = 100
)

// Shown is a schedule as people see it. Fires and Running are not read for a list.
type Shown struct {
	schedule.Schedule
	NextTimes []time.Time
	Fires     []schedule.Fire  // newest first, at most 20
	Running   []history.RunRow // that it has started and that are open, oldest first, at most 20
}

// Describe shows one schedule.
func (s *Service) Describe(ctx context.Context, who access.Caller, namespace, id string) (Shown, error) {
	of, err := s.find(ctx, who, namespace, id)
	if err != nil {
		return Shown{}, err
	}
	v, err := s.Store.Schedule(ctx, of)
	if err != nil {
		return Shown{}, err
	}
	return s.show(ctx, v)
}

func (s *Service) show(ctx context.Context, v schedule.Schedule) (Shown, error) {
	out := s.times(v)
	var err error
	if out.Fires, err = s.Store.Fires(ctx, v, 0, shownFires); err != nil {
		return Shown{}, err
	}
	out.Running, err = s.Queue.OpenOfSchedule(ctx, v.Ref(), shownRuns)
	return out, err
}

func (s *Service) times(v schedule.Schedule) Shown {
	out := Shown{Schedule: v}
	zone, err := s.Zones.Zone(v.Zone)
	spec, unread := schedule.Parse(v.Spec)
	if v.Next.IsZero() || err != nil || unread != nil { // a database of zones may lose one
		return out
	}
	out.NextTimes = append([]time.Time{v.Next}, spec.Upcoming(v.Next, zone, shownTimes-1)...)
	return out
}

// ListRequest asks for schedules of a namespace. Zero members but Limit do not filter.
type ListRequest struct {
	Namespace    string
	Paused       *bool
	WorkflowType string
	After        string
	Limit        int
}

// List shows schedules by id. more tells that others follow.
func (s *Service) List(ctx context.Context, who access.Caller, req ListRequest) (list []Shown, more bool, err error) {
	ns, err := s.Runs.Reach(ctx, who, req.Namespace)
	if err != nil {
		return nil, false, err
	}
	read, err := s.Store.Schedules(ctx, ports.ScheduleFilter{
		Namespace: ns, Paused: req.Paused, WorkflowType: req.WorkflowType, After: schedule.ID(req.After), Limit: req.Limit + 1,
	})
	for _, v := range read[:min(len(read), req.Limit)] {
		list = append(list, s.times(v))
	}
	return list, len(read) > req.Limit, err
}

// Fires lists what became of the fires of a schedule, newest first, behind a number (0: from the newest). more tells that
// others follow.
func (s *Service) Fires(ctx context.Context, who access.Caller, ref [2]string, before int64, limit int) (list []schedule.Fire, more bool, err error) {
	of, err := s.find(ctx, who, ref[0], ref[1])
	if err != nil {
		return nil, false, err
	}
	v, err := s.Store.Schedule(ctx, of)
	if err != nil {
		return nil, false, err
	}
	list, err = s.Store.Fires(ctx, v, before, limit+1)
	return list[:min(len(list), limit)], len(list) > limit, err
}

// Preview tells when a spec would fire after a time (zero: now), and what is worth knowing about that.
func (s *Service) Preview(ctx context.Context, who access.Caller, namespace string, p PreviewRequest) (times []time.Time, notes []string, err error) {
	if _, err := s.Runs.Reach(ctx, who, namespace); err != nil {
		return nil, nil, err
	}
	spec, err := schedule.Parse(p.Spec)
	if err != nil {
		return nil, nil, err
	}
	zone, err := s.Zones.Zone(p.Zone)
	if err != nil {
		return nil, nil, err
	}
	after := p.After
	if after.IsZero() {
		after = s.now()
	}
	times = spec.Upcoming(after, zone, min(max(p.Count, 1), maxPreview))
	return times, schedule.Notes(spec, times, zone), nil
}

// PreviewRequest is a spec to look ahead with.
type PreviewRequest struct {
	Spec  string
	Zone  string
	After time.Time
	Count int // 1..100
}
