package httpapi

import (
	"context"
	"runtime"

	"aion/domain"
)

// waitingTurns is how many requests wait for a free turn; others are sent away.
const waitingTurns = 64

// turns bounds how many texts are judged at once: each takes a processor for itself. It is safe for concurrent use.
type turns struct {
	free   chan struct{} // one element per text that is judged
	inside chan struct{} // and those that wait
}

func newTurns() *turns {
	most := 2 * runtime.GOMAXPROCS(0)
	return &turns{free: make(chan struct{}, most), inside: make(chan struct{}, most+waitingTurns)}
}

// then asks a handler when there is a free turn.
func (t *turns) then(serve handler) handler {
	return func(ctx context.Context, q *request) (answer, error) {
		select {
		case t.inside <- struct{}{}:
			defer func() { <-t.inside }()
		default:
			return answer{}, &domain.Error{
				Code: domain.CodeResourceExhausted, Type: "RateLimited", Details: map[string]any{"retry_after_ms": int64(1000)},
				Message: "the server judges as many texts as it can, and many wait; repeat the request after 1000 ms",
			}
		}
		select {
		case t.free <- struct{}{}:
			defer func() { <-t.free }()
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
		return serve(ctx, q)
	}
}
