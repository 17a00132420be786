// Package transcripts publishes what attempts show while they run and reads it back. A transcript is observability: no
// verdict depends on it and losing a line never fails a command.
package transcripts

import (
	"context"
	"fmt"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
	"aion/domain/transcript"
	"aion/ports"
)

// attempts tells what history knows of the attempts of a run.
type attempts interface {
	// Attempt gives the activity's type and whether this attempt runs now; dispatched is false when the run has never
	// started it.
	Attempt(ctx context.Context, key domain.AttemptKey, row history.RunRow) (a run.Attempt, err error)
}

// register tells which namespaces exist.
type register interface {
	// Enter refuses one that cannot be read (NamespaceNotFound).
	Enter(ctx context.Context, ns domain.Namespace) error
}

// Deps is what the service needs.
type Deps struct {
	Store     ports.TranscriptStore
	Index     ports.RunIndex
	Attempts  attempts // the engine's reader
	Watch     ports.Watch
	Clock     ports.Clock
	Publisher *Publisher // followers also see what its streams show without storing it; nil: stored records only
	Register  register   // asked by reads, like by every other read; nil: every namespace that has a possible name exists
}

// Service reads stored streams. It is safe for concurrent use.
type Service struct{ Deps }

// New gives a service.
func New(d Deps) *Service { return &Service{d} }

// The pages of Read, and the poll of Follow against a lost wake-up.
const (
	defaultPage = 100
	maxPage     = 500
	followPoll  = time.Second
)

// Read returns one page of the stream of one attempt. An attempt that the run never dispatched is refused
// (TranscriptNotFound); one without events is an empty page.
func (s *Service) Read(ctx context.Context, who access.Caller, req ReadRequest) (Page, error) {
	row, key, err := s.locate(ctx, who, req)
	if err != nil {
		return Page{}, err
	}
	return s.page(ctx, row, key, req.FromSeq, req.Limit)
}

func (s *Service) page(ctx context.Context, row history.RunRow, key domain.AttemptKey, from int64, limit int) (Page, error) {
	if limit <= 0 {
		limit = defaultPage
	}
	a, err := s.Attempts.Attempt(ctx, key, row)
	if err != nil {
		return Page{}, err
	}
	if !a.Dispatched {
		return Page{}, neverDispatched(key)
	}
	records, head, err := s.Store.Records(ctx, key, max(from, 0), min(limit, maxPage))
	if err != nil {
		return Page{}, err
	}
	return Page{Key: key, ActivityType: a.ActivityType, AttemptOpen: a.Open, Records: records, HeadSeq: head}, nil
}

// locate authorises the caller and finds the run.
func (s *Service) locate(ctx context.Context, who access.Caller, req ReadRequest) (history.RunRow, domain.AttemptKey, error) {
	var none domain.AttemptKey
	if err := who.Reach(domain.Namespace(req.Namespace)); err != nil {
		return history.RunRow{}, none, err
	}
	ns, err := domain.ParseNamespace(req.Namespace)
	if err == nil && s.Register != nil {
		err = s.Register.Enter(ctx, ns)
	}
	if err != nil {
		return history.RunRow{}, none, err
	}
	id, err := domain.ParseWorkflowID(req.WorkflowID)
	if err != nil {
		return history.RunRow{}, none, err
	}
	runID, err := domain.ParseRunID(req.RunID)
	if err != nil {
		return history.RunRow{}, none, err
	}
	rows, err := s.Index.RunsIn(ctx, ns, id)
	if err != nil {
		return history.RunRow{}, none, err
	}
	row, err := run.Find(rows, ns, id, runID)
	return row, domain.AttemptKey{WorkflowID: id, RunID: runID, ActivityID: req.ActivityID, Attempt: req.Attempt}, err
}

// Follow gives every stored record from FromSeq on to each, in order and once, and waits for those to come until the
// attempt has ended. Ephemeral records come as they are shown; a reader that lags misses some. It returns nil at the end of
// the stream, the error of each, or the cause of ctx.
func (s *Service) Follow(ctx context.Context, who access.Caller, req ReadRequest, each func(transcript.Record) error) error {
	row, key, err := s.locate(ctx, who, req)
	if err != nil {
		return err
	}
	changes, stop := s.Watch.Subscribe(key.WorkflowID)
	defer stop()
	var shown <-chan transcript.Record
	if s.Publisher != nil {
		t, leave := s.Publisher.live.follow(key)
		defer leave()
		shown = t.records
	}
	f := following{s: s, row: row, key: key, each: each, from: max(req.FromSeq, 0)}
	for {
		found, open, err := f.page(ctx)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		if !open {
			return drain(shown, each)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
		case r := <-shown:
			if err := each(r); err != nil {
				return err
			}
			if err := drain(shown, each); err != nil {
				return err
			}
		case <-s.Clock.After(followPoll):
		}
	}
}

// following is one reader of a stream.
type following struct {
	s    *Service
	row  history.RunRow
	key  domain.AttemptKey
	each func(transcript.Record) error
	from int64
}

// page hands on the next stored records, and reports whether there were some and whether the attempt was open before they
// were read: what it wrote before its end is then among them.
func (f *following) page(ctx context.Context) (found, open bool, err error) {
	page, err := f.s.page(ctx, f.row, f.key, f.from, maxPage)
	if err != nil {
		return false, false, err
	}
	for _, r := range page.Records {
		if err := f.each(r); err != nil {
			return true, true, err
		}
		f.from = r.StoreSeq + 1
	}
	return len(page.Records) > 0, page.AttemptOpen, nil
}

// drain hands on what has been shown so far.
func drain(shown <-chan transcript.Record, each func(transcript.Record) error) error {
	for {
		select {
		case r := <-shown:
			if err := each(r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func neverDispatched(key domain.AttemptKey) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "TranscriptNotFound",
		Message: fmt.Sprintf("attempt %d of activity %d was never dispatched by run %s; describe_run lists the transcripts that exist",
			key.Attempt, key.ActivityID, key.RunID),
	}
}
