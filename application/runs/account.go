package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
)

// account folds what people want to know of a run up to an event; 0: to its end.
func (s *Service) account(ctx context.Context, row history.RunRow, upTo history.Seq) (run.Account, error) {
	var a run.Account
	from := row.FirstSeq
	for {
		page, err := s.Events.History(ctx, row.WorkflowID, from, walkPortion)
		if err != nil {
			return a, err
		}
		for _, rec := range page {
			if rec.RunID != row.RunID || upTo > 0 && rec.Seq > upTo {
				return a, nil
			}
			if err := a.Apply(rec); err != nil {
				return a, err
			}
		}
		if len(page) < walkPortion {
			return a, nil
		}
		from = page[len(page)-1].Seq + 1
	}
}

// Activities are those of one run, by id.
type Activities struct {
	Namespace  domain.Namespace
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	List       []run.ActivityAccount
	Heads      map[domain.AttemptKey]int64 // of the stored transcripts
}

// Activities shows every activity of a run with its attempts, without their values.
func (s *Service) Activities(ctx context.Context, who access.Caller, ref Ref) (Activities, error) {
	l, err := s.locate(ctx, who, ref)
	if err != nil {
		return Activities{}, err
	}
	a, err := s.account(ctx, l.row, 0)
	if err != nil {
		return Activities{}, err
	}
	heads, err := s.Transcripts.Heads(ctx, l.id, l.row.RunID)
	if err != nil {
		return Activities{}, err
	}
	out := Activities{Namespace: l.namespace, WorkflowID: l.id, RunID: l.row.RunID, List: a.Activities, Heads: map[domain.AttemptKey]int64{}}
	for _, h := range heads {
		out.Heads[h.Key] = h.Head
	}
	return out, nil
}

// ActivityValues are the values of one activity; nil: none.
type ActivityValues struct {
	Input   domain.Payload
	Result  domain.Payload
	Details domain.Payload // of the failure that ended it
}

// Values reads the values of one of these activities.
func (s *Service) Values(ctx context.Context, of Activities, t run.ActivityAccount) (v ActivityValues, err error) {
	seqs := []history.Seq{t.InputSeq, t.ResultSeq}
	if n := len(t.Attempts); n > 0 && t.State == run.ActivityFailed {
		seqs = append(seqs, t.Attempts[n-1].EndSeq)
	}
	for _, seq := range seqs {
		if seq == 0 {
			continue
		}
		events, err := s.Events.History(ctx, of.WorkflowID, seq, 1)
		if err != nil {
			return ActivityValues{}, err
		}
		if len(events) == 0 || events[0].Seq != seq {
			return ActivityValues{}, eventNotFound(of.WorkflowID, seq) // it was removed meanwhile
		}
		ev, err := events[0].Event()
		if err != nil {
			return ActivityValues{}, err
		}
		switch ev := ev.(type) {
		case history.ActivityScheduled:
			v.Input = ev.Input
		case history.ActivityCompleted:
			v.Result = ev.Result
		case history.ActivityFailed:
			v.Details = ev.Details
		default: // no other event holds a value of an activity
		}
	}
	return v, nil
}

// ActivityNotFound refuses an activity that a run never scheduled.
func ActivityNotFound(id int64, runID domain.RunID) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "ActivityNotFound",
		Message: fmt.Sprintf("run %s has no activity %d; the list of its activities shows what exists", runID, id),
	}
}

// OpenTranscript is the address of a stored stream. Open says that its attempt runs now.
type OpenTranscript struct {
	TranscriptHandle
	Open bool
}

// TranscriptList gives the stored streams of a run by activity and attempt.
func (s *Service) TranscriptList(ctx context.Context, who access.Caller, ref Ref) (domain.RunID, []OpenTranscript, error) {
	l, err := s.locate(ctx, who, ref)
	if err != nil {
		return "", nil, err
	}
	heads, err := s.Transcripts.Heads(ctx, l.id, l.row.RunID)
	if err != nil {
		return "", nil, err
	}
	list := make([]OpenTranscript, 0, len(heads))
	err = s.Reader.Run(ctx, l.row, func(v engine.View) error {
		for _, h := range heads {
			known := v.Run.Attempt(h.Key.ActivityID, h.Key.Attempt)
			list = append(list, OpenTranscript{TranscriptHandle{Key: h.Key, ActivityType: known.ActivityType, HeadSeq: h.Head}, known.Open})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b OpenTranscript) int {
		return cmp.Or(cmp.Compare(a.Key.ActivityID, b.Key.ActivityID), cmp.Compare(a.Key.Attempt, b.Key.Attempt))
	})
	return l.row.RunID, list, err
}
