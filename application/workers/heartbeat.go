package workers

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// Beat is what a worker says of one task that it holds.
type Beat struct {
	TaskID   string
	Token    string
	Progress domain.Payload // nil: none; the latest one is kept
}

// Standing is the answer for one task.
type Standing struct {
	TaskID string
	Status string // ok, cancel or lost
	Reason string
	Until  time.Time // of one that is ok
}

// The answers.
const (
	statusOK     = "ok"
	statusCancel = "cancel"
	statusLost   = "lost"
)

// Progress is what a worker last said of a task.
type Progress struct {
	At    time.Time
	Value domain.Payload
}

// Heartbeat keeps a worker and the tasks that it names alive, and tells which of them it is to stop.
func (s *Service) Heartbeat(ctx context.Context, who access.Caller, id string, beats []Beat) (drain bool, standing []Standing, err error) {
	w, err := s.known(ctx, who, id)
	if err != nil {
		return false, nil, err
	}
	var leases []history.Lease
	var at []int
	standing = make([]Standing, len(beats))
	for i, b := range beats {
		standing[i] = Standing{TaskID: b.TaskID, Status: statusLost, Reason: "unknown"}
		l, err := s.lease(ctx, who, b.TaskID, b.Token)
		if domain.CodeOf(err) == domain.CodeNotFound {
			continue
		}
		if err != nil {
			return false, nil, err
		}
		leases, at = append(leases, l), append(at, i)
	}
	now := s.Clock.Now()
	leases, err = s.beat(ctx, leases, now.Add(s.LeaseTTL))
	if err != nil {
		return false, nil, err
	}
	for n, l := range leases {
		standing[at[n]] = toStanding(l)
		if l.State == history.LeaseHeld && beats[at[n]].Progress != nil {
			s.keep(l.TaskID, Progress{At: now, Value: beats[at[n]].Progress})
		}
	}
	return w.Draining || s.draining(), standing, nil
}

func toStanding(l history.Lease) Standing {
	switch {
	case l.State == history.LeaseHeld:
		return Standing{TaskID: l.TaskID, Status: statusOK, Until: l.Until}
	case cancels(l.End):
		return Standing{TaskID: l.TaskID, Status: statusCancel, Reason: string(l.End)}
	}
	return Standing{TaskID: l.TaskID, Status: statusLost, Reason: string(l.End)}
}

// keep notes the latest progress of a task; the sweep drops it with the lease.
func (s *Service) keep(task string, p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.progress[task]; known || len(s.progress) < maxWaiting {
		s.progress[task] = p
	}
}
