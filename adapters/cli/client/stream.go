package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"aion/domain"
)

// Event is one record of a stream. ID is empty for one that cannot be resumed from.
type Event struct {
	ID, Name string
	Data     []byte
}

// Closed is how a server ended a stream: Reason is ended, draining or max_age.
type Closed struct {
	Reason string `json:"reason"`
	Status string `json:"status"`
}

// Ended is the reason of a stream that has nothing more to come.
const Ended = "ended"

// ErrCut is the end of a stream that the server did not announce.
var ErrCut = errors.New("the stream was cut")

// Stream reads one connection to a stream: each gets every record in turn, and an error of it ends the stream. last is the
// position to go on from; empty: what the query says. A resync and an error record are refusals.
func (c *Client) Stream(ctx context.Context, r Request, last string, each func(Event) error) (Closed, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.Accept = "text/event-stream"
	if last != "" {
		r.Header = map[string]string{"Last-Event-ID": last}
	}
	res, quiet, err := c.send(ctx, r, end)
	if err != nil {
		return Closed{}, err
	}
	defer quiet.Stop()
	defer func() { _ = res.Body.Close() }()
	body := &heard{r: res.Body, quiet: quiet, patience: c.patience(r)}
	if res.StatusCode == http.StatusNoContent {
		return Closed{Reason: Ended}, nil
	}
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); res.StatusCode != http.StatusOK || media != "text/event-stream" {
		text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
		if err != nil {
			return Closed{}, c.noAnswer(ctx, err)
		}
		return Closed{}, c.refusal(Answer{Status: res.StatusCode, Header: res.Header, Body: text})
	}
	return c.read(ctx, body, each)
}

func (c *Client) read(ctx context.Context, body io.Reader, each func(Event) error) (Closed, error) {
	records := records{lines: bufio.NewReaderSize(body, 32<<10)}
	for {
		e, err := records.next()
		switch {
		case errors.Is(err, errTooLong):
			return Closed{}, c.strange(err.Error())
		case err != nil && ctx.Err() != nil:
			return Closed{}, c.noAnswer(ctx, err)
		case err != nil:
			return Closed{}, fmt.Errorf("%w: %w", ErrCut, err)
		}
		switch e.Name {
		case "close":
			var closed Closed
			if json.Unmarshal(e.Data, &closed) != nil {
				return Closed{}, c.strange("ends its stream with something that is not JSON")
			}
			return closed, nil
		case "resync":
			return Closed{}, &domain.Error{Code: "lagged", Type: "ChangesExpired", Message: "the server no longer has what came since the last record; ask again"}
		case "error":
			if refused := parse(e.Data); refused != nil {
				return Closed{}, refused
			}
			return Closed{}, c.strange("ends its stream with an error that it does not name")
		}
		if err := each(e); err != nil {
			return Closed{}, err
		}
	}
}

// records takes a stream apart.
type records struct{ lines *bufio.Reader }

var errTooLong = fmt.Errorf("sends a record of more than %d MiB", maxAnswer>>20)

// next is the next record with data.
func (r *records) next() (e Event, err error) {
	for size := 0; ; {
		line, err := r.line(&size)
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if e.Data != nil {
				return e, nil
			}
			e, size = Event{}, 0
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			e.ID = string(value)
		case "event":
			e.Name = string(value)
		case "data":
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
		}
	}
}

// line reads one line without its end; a record has a bound, whatever its lines.
func (r *records) line(size *int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if *size += len(part); *size > maxAnswer {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}
