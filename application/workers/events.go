package workers

import (
	"context"

	"aion/application/transcripts"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/transcript"
)

// Published is the answer to transcript events. Cancel says that the worker is to stop the attempt.
type Published struct {
	transcripts.Taken
	Cancel bool
}

// Publish adds events to the transcript of an attempt: while its lease is held, and for a while after it was cancelled.
func (s *Service) Publish(ctx context.Context, who access.Caller, task, token string, events []transcript.Record) (Published, error) {
	l, err := s.lease(ctx, who, task, token)
	if err != nil {
		return Published{}, err
	}
	if l.State == history.LeaseHeld {
		if l, err = s.ended(ctx, l); err != nil {
			return Published{}, err
		}
	}
	cancel := l.State != history.LeaseHeld && cancels(l.End) && l.Until.After(s.Clock.Now())
	if l.State != history.LeaseHeld && !cancel {
		return Published{}, s.lost(ctx, l)
	}
	taken, err := s.Transcript.Take(ctx, l.Key, events)
	return Published{Taken: taken, Cancel: cancel}, err
}
