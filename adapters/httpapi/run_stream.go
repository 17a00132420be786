package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// followRuns goes on behind Last-Event-ID, else from now on.
func (a *API) followRuns(ctx context.Context, q *request) (answer, error) {
	req := q.filtered()
	for _, status := range q.query.texts("status") { // judged, so that a misspelt one does not look like a quiet namespace
		q.query.word("status", status, statuses())
	}
	from, err := q.lastChange()
	if err == nil {
		err = q.whole()
	}
	if err == nil && from == nil {
		// Before the stream opens: what happens from then on is told.
		var now ports.ChangePosition
		now, err = a.Runs.RunsNow(ctx, q.who, req.Namespace)
		from = &now
	}
	if err != nil {
		return answer{}, err
	}
	return answer{stream: func(ctx context.Context, f *feed) error {
		watched, err := a.Runs.WatchRuns(ctx, q.who, req, *from, func(at ports.ChangePosition, r history.ListedRun) error {
			return f.sendFrom(placeOf(at), "run", toSummary(r))
		})
		if err == nil && watched.Lost {
			err = &resyncError{reason: "the changes behind the cursor are no longer kept"}
		}
		return err
	}}, nil
}

// placeOf is a place in the log of changes as readers send it back.
func placeOf(p ports.ChangePosition) string { return fmt.Sprintf("%d-%d", p.Epoch, p.N) }

// lastChange reads the Last-Event-ID of a stream of runs; nil when there is none.
func (q *request) lastChange() (*ports.ChangePosition, error) {
	text, once := q.header("Last-Event-ID")
	if once && text == "" {
		return nil, nil //nolint:nilnil // from now on
	}
	epoch, n, found := strings.Cut(text, "-")
	e, wrong := strconv.ParseInt(epoch, 10, 64)
	at, also := strconv.ParseInt(n, 10, 64)
	if !once || !found || wrong != nil || also != nil || e < 0 || at < 0 {
		return nil, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "SchemaViolation",
			Message: "Last-Event-ID is sent once and repeats the id of an event of this stream; leave it out to begin anew",
		}
	}
	return &ports.ChangePosition{Epoch: e, N: at}, nil
}
