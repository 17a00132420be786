package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"aion/adapters/web"
	"aion/domain"
)

// Why a stream ends although its source does not.
var (
	errDraining = errors.New("draining")
	errMaxAge   = errors.New("max_age")
	errHead     = errors.New("no body is wanted")
	errReader   = errors.New("the reader has left or does not read")
)

// toReader marks what failed on the way to the reader; nil stays nil.
func toReader(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errReader, err)
}

const (
	maxAge     = time.Hour
	checkAgain = time.Minute // how often the grants of a reader are looked at
)

// feed is one stream of events (server 1.7).
type feed struct {
	stream *web.Stream
}

// send writes one event; id 0 and below: none to go on after.
func (f *feed) send(id int64, event string, value any) error {
	data, isText := value.([]byte)
	if !isText {
		var err error
		if data, err = domain.Encode(value); err != nil {
			return err
		}
	}
	key := ""
	if id >= 0 {
		key = strconv.FormatInt(id, 10)
	}
	return toReader(f.stream.SendID(key, event, data))
}

// sendFrom is send for a stream whose places are no numbers.
func (f *feed) sendFrom(place, event string, value any) error {
	data, err := domain.Encode(value)
	if err != nil {
		return err
	}
	return toReader(f.stream.SendID(place, event, data))
}

type closing struct {
	Reason string  `json:"reason"`
	Status *string `json:"status"`
}

// resyncError ends a stream whose reader must fetch everything again.
type resyncError struct{ reason string }

func (e *resyncError) Error() string { return e.reason }

// endedError ends a stream whose source has ended.
type endedError struct{ status string }

func (e *endedError) Error() string { return "ended" }

// feed serves a stream until its source ends, the server stops, the reader leaves or loses their grant, or it is too old.
// Only who may not open one more is refused in the ordinary way; what fails later is told in the stream.
func (a *API) feed(q *request, read func(ctx context.Context, f *feed) error) error {
	leave, err := a.streams.enter(q.who.Owner())
	if err != nil {
		return err
	}
	defer leave()
	if q.Method == http.MethodHead {
		q.out.Header().Set("Content-Type", mediaEvents)
		q.out.WriteHeader(http.StatusOK)
		q.out.WriteHeaderNow()
		return nil
	}
	aged, cancelAged := context.WithTimeoutCause(q.Context(), maxAge, errMaxAge)
	defer cancelAged()
	ctx, cancel := context.WithCancelCause(aged)
	defer cancel(nil)
	f := &feed{stream: web.NewFeed(q.out, a.Limits.Heartbeat)}
	defer f.stream.Close()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() { a.watch(ctx, q, cancel) })
	if err = read(ctx, f); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	a.farewell(q.Context(), q, f, err)
	return nil
}

// farewell says why a stream ends; a reader that has left is not told.
func (a *API) farewell(ctx context.Context, q *request, f *feed, err error) {
	var ended *endedError
	var resync *resyncError
	switch {
	case err == nil:
		_ = f.send(-1, "close", closing{Reason: "ended"})
	case errors.As(err, &ended):
		_ = f.send(-1, "close", closing{Reason: "ended", Status: &ended.status})
	case errors.As(err, &resync):
		_ = f.send(-1, "resync", map[string]string{"reason": resync.reason})
	case errors.Is(err, errDraining), errors.Is(err, errMaxAge):
		_ = f.send(-1, "close", closing{Reason: err.Error()})
	case ctx.Err() != nil, errors.Is(err, errReader):
	default:
		refusal := a.told(ctx, q, err)
		if text, fault := json.Marshal(web.Problem(q.Request, statusOf(refusal, false), refusal)); fault == nil {
			_ = f.send(-1, "error", text)
		}
	}
}

// watch ends a stream when the server stops, and when its reader's credential has expired or their grant was withdrawn.
func (a *API) watch(ctx context.Context, q *request, end context.CancelCauseFunc) {
	for {
		wait, last := checkAgain, false
		if !q.who.Expires.IsZero() {
			left := q.who.Expires.Sub(a.Clock.Now())
			wait, last = min(wait, left), left <= wait
		}
		select {
		case <-ctx.Done():
			return
		case <-a.serving.Done():
			end(errDraining)
			return
		case <-a.Clock.After(wait):
		}
		err := expired()
		if !last {
			err = a.again(q)
		}
		if err != nil && ctx.Err() == nil {
			end(err)
			return
		}
	}
}

// again judges credential and namespace of a reader anew.
func (a *API) again(q *request) error {
	who, err := web.Again(a.Callers, q.Request)
	if err == nil && q.param("ns") != "" {
		err = who.Reach(domain.Namespace(q.param("ns")))
	}
	return err
}

func expired() error {
	return &domain.Error{
		Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: "the token has expired; get another one and open the stream again",
	}
}

// streams bounds how many are open, in all and of one caller. It is safe for concurrent use.
type streams struct {
	most, mostEach int

	mu   sync.Mutex
	open map[string]int
	all  int
}

func newStreams(most, mostEach int) *streams {
	return &streams{most: most, mostEach: mostEach, open: map[string]int{}}
}

// Readers is the number of streams and exports that are open now.
func (a *API) Readers() int {
	a.streams.mu.Lock()
	defer a.streams.mu.Unlock()
	return a.streams.all
}

// enter counts one more stream until leave.
func (s *streams) enter(owner string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || s.open[owner] >= s.mostEach {
		return nil, &domain.Error{
			Code: domain.CodeResourceExhausted, Type: "TooManyStreams", Details: map[string]any{"retry_after_ms": int64(1000)},
			Message: "too many streams are open (" + strconv.Itoa(s.mostEach) + " of one caller, api.max_streams_per_subject; " +
				strconv.Itoa(s.most) + " in all, api.max_streams); close some and repeat the request",
		}
	}
	s.all++
	s.open[owner]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.open[owner]--; s.open[owner] == 0 {
			delete(s.open, owner)
		}
	}, nil
}
