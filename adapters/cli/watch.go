package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"aion/adapters/cli/client"
	"aion/domain"
	"aion/domain/history"
)

// endless refuses the outputs that are one document.
func (s *session) endless(flag string) error {
	if s.shape.output == "json" || s.shape.output == "yaml" {
		return &usage{message: flag + " has no end to wait for; use -o jsonl"}
	}
	return nil
}

// watchRuns prints the first page of a list and then each run that changes, until it is broken off.
func (s *session) watchRuns(ctx context.Context, l listing) error {
	if err := s.endless("--watch"); err != nil {
		return err
	}
	l.limit = min(max(l.limit, 1), maxPage)
	w := &runWatch{session: s, l: l, t: newTable(s.p.screen(), l.columns), query: url.Values{}}
	for name, values := range l.query {
		if name != "order" {
			w.query[name] = values
		}
	}
	return s.persist(ctx, &w.seen, w.read)
}

// runWatch is a list that is watched.
type runWatch struct {
	*session
	l     listing
	t     *table
	query url.Values
	last  string // the place that the list or the stream has come to; empty: the list is to be read
	seen  int64
}

func (w *runWatch) put(row json.RawMessage) error {
	w.seen++
	if err := w.row(w.t, w.l, row); err != nil {
		return err
	}
	return w.t.flush()
}

// read goes on where it was; a place that is lost is got anew with the list.
func (w *runWatch) read(ctx context.Context) error {
	if w.last == "" {
		if err := w.list(ctx); err != nil {
			return err
		}
	}
	err := w.streamFrom(ctx, client.Request{Path: w.l.path + "/stream", Query: w.query}, &w.last, func(e client.Event) error { return w.put(e.Data) })
	if domain.CodeOf(err) == "lagged" {
		w.last = ""
		return &lostError{err}
	}
	return err
}

func (w *runWatch) list(ctx context.Context) error {
	page, err := w.page(ctx, w.l, "", w.l.limit)
	if err != nil {
		return lost(err)
	}
	for _, row := range page.rows {
		if err := w.put(row); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(page.values["changes"], &w.last); err != nil {
		return unreadable(err)
	}
	w.seen++
	return nil
}

var errMoved = errors.New("the run has moved on")

// watchRun shows a run anew whenever its history has moved on, until it has ended.
func (s *session) watchRun(ctx context.Context, id, run string, show func(answer []byte) error) error {
	if err := s.endless("--watch"); err != nil {
		return err
	}
	head := int64(0)
	return s.persist(ctx, &head, func(ctx context.Context) error {
		for {
			over, err := s.showMoved(ctx, s.run(id, ""), run, &head, show)
			if over || err != nil {
				return err
			}
			query, last := queryOf("run_id", run, "from_seq", strconv.FormatInt(head+1, 10)), ""
			err = s.streamFrom(ctx, client.Request{Path: s.run(id, "/history/stream"), Query: query}, &last, func(client.Event) error { return errMoved })
			if err != nil && !errors.Is(err, errMoved) {
				return err
			}
		}
	})
}

// showMoved shows a run if its history has moved on from head, and tells whether nothing more can come.
func (s *session) showMoved(ctx context.Context, path, run string, head *int64, show func(answer []byte) error) (over bool, err error) {
	answer, err := s.get(ctx, path, generation(run))
	if err != nil {
		return false, lost(err)
	}
	o, err := parseObject(answer)
	if err != nil {
		return false, err
	}
	if now := o.number("history_head_seq"); now != *head {
		*head = now
		err = show(answer)
	}
	ended := history.Status(o.text("status"))
	return ended.Terminal() && (ended != history.ContinuedAsNew || run != ""), err
}

// streamFrom reads a stream over the connections that the server ends for their age; last is the place it has come to.
func (s *session) streamFrom(ctx context.Context, r client.Request, last *string, each func(client.Event) error) error {
	r.Patience = defaultPatience // its heartbeats come more often
	for {
		closed, err := s.Stream(ctx, r, *last, func(e client.Event) error {
			if e.ID != "" {
				*last = e.ID
			}
			return each(e)
		})
		switch {
		case err != nil:
			return lost(err)
		case closed.Reason == client.Ended:
			return nil
		case closed.Reason != "max_age":
			return &lostError{domain.Unavailable("ShuttingDown", fmt.Sprintf("the server at %s ends", s.Server()), nil)}
		}
	}
}
