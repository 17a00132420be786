package workers

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"

	"aion/application/engine"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// afterCancel is how long transcript events of a cancelled attempt are still taken.
const afterCancel = 30 * time.Second

// nothing records nothing.
func nothing(engine.View) (engine.Change, error) { return engine.Change{}, nil }

// lease finds a lease by the pair that names it; whichever worker id the call came with. Any other answer is the same for a
// task that does not exist, a token of another one, and a namespace that the caller does not reach.
func (s *Service) lease(ctx context.Context, who access.Caller, task, token string) (history.Lease, error) {
	if err := s.admit(who); err != nil {
		return history.Lease{}, err
	}
	found, err := s.Store.Leases(ctx, task)
	if err != nil {
		return history.Lease{}, err
	}
	hash := []byte(hashOf(token))
	i := slices.IndexFunc(found, func(l history.Lease) bool { return subtle.ConstantTimeCompare([]byte(l.Hash), hash) == 1 })
	if i < 0 || who.Reach(found[i].Namespace) != nil {
		return history.Lease{}, worker.TaskNotFound(task)
	}
	return found[i], nil
}

// ended notes why the attempt of a held lease is not open any more: its run or its activity is over, or somebody else has
// it. It gives the lease as it is then.
func (s *Service) ended(ctx context.Context, l history.Lease) (history.Lease, error) {
	why, _, err := s.Attempts.Standing(ctx, l.Key)
	if err != nil || why == "" {
		return l, err
	}
	m := ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnded, End: why}
	if cancels(why) {
		m.Until = s.Clock.Now().Add(afterCancel)
	}
	moved, err := s.Store.MoveLeases(ctx, []string{l.Hash}, m)
	if err != nil {
		return l, err
	}
	if len(moved) > 0 {
		if l.State, l.End = m.To, m.End; !m.Until.IsZero() {
			l.Until = m.Until
		}
		return l, nil
	}
	found, err := s.Store.Leases(ctx, l.TaskID)
	if i := slices.IndexFunc(found, func(other history.Lease) bool { return other.Hash == l.Hash }); i >= 0 {
		l = found[i]
	}
	return l, err
}

// cancels reports whether a worker is to stop because nobody wants the work any more.
func cancels(why history.LeaseEnd) bool {
	return why == history.LeaseRunClosed || why == history.LeaseCancelled || why == history.LeaseTimeout
}

// lost is the refusal of a lease that has ended, or is about to.
func (s *Service) lost(ctx context.Context, l history.Lease) error {
	_, attempt, err := s.Attempts.Standing(ctx, l.Key)
	if err != nil {
		return err
	}
	if l.State == history.LeaseHeld {
		l.End = history.LeaseSuperseded
	}
	return worker.LeaseLost(l.End, attempt)
}

// ExtendRequest asks for a longer lease.
type ExtendRequest struct {
	TaskID string
	Token  string
	For    time.Duration
}

// Extend lets one lease last so long from now, but never behind its deadline.
func (s *Service) Extend(ctx context.Context, who access.Caller, req ExtendRequest) (time.Time, error) {
	l, err := s.lease(ctx, who, req.TaskID, req.Token)
	if err != nil {
		return time.Time{}, err
	}
	beats, err := s.beat(ctx, []history.Lease{l}, s.Clock.Now().Add(min(req.For, s.MaxLease)))
	if err != nil {
		return time.Time{}, err
	}
	if b := beats[0]; b.State != history.LeaseHeld {
		return time.Time{}, s.lost(ctx, b)
	}
	return beats[0].Until, nil
}

// beat extends leases and gives each as it is then.
func (s *Service) beat(ctx context.Context, leases []history.Lease, until time.Time) ([]history.Lease, error) {
	var hashes []string
	var claims []history.Claim
	for _, l := range leases {
		if l.State == history.LeaseHeld {
			hashes, claims = append(hashes, l.Hash), append(claims, l.Claim())
		}
	}
	if len(hashes) == 0 {
		return leases, nil
	}
	held, err := s.Store.ExtendLeases(ctx, hashes, until)
	if err != nil {
		return nil, err
	}
	gone, err := s.Tasks.Lost(ctx, claims)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(leases)
	for i, l := range out {
		at := slices.IndexFunc(held, func(h history.Lease) bool { return h.Hash == l.Hash })
		switch {
		case l.State != history.LeaseHeld:
		case at >= 0 && !slices.Contains(gone, l.Claim()):
			out[i] = held[at]
		default:
			if out[i], err = s.ended(ctx, l); err != nil {
				return nil, err
			}
			if out[i].State == history.LeaseHeld { // somebody took the attempt up meanwhile
				out[i].State, out[i].End = history.LeaseEnded, history.LeaseSuperseded
			}
		}
	}
	return out, nil
}

// Release gives an attempt back that has not begun.
func (s *Service) Release(ctx context.Context, who access.Caller, task, token string) error {
	l, err := s.lease(ctx, who, task, token)
	if err != nil {
		return err
	}
	if l.State == history.LeaseEnded && l.End == history.LeaseReleased {
		return nil
	}
	if l.State == history.LeaseHeld {
		if l, err = s.ended(ctx, l); err != nil {
			return err
		}
	}
	if l.State != history.LeaseHeld {
		return s.lost(ctx, l)
	}
	head, _, err := s.Store.Tail(ctx, l.Key)
	if err != nil {
		return err
	}
	if head > 0 {
		return worker.AlreadyStarted()
	}
	return s.giveBack(ctx, l)
}
