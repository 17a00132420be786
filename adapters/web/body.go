package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"aion/domain"
)

// bodyTimeout bounds the reading of one body (server 1.13).
const bodyTimeout = 30 * time.Second

// ReadBody reads a whole request body. One that is larger than limit is refused as BodyTooLarge, unread when its length
// was announced; key names the setting. Any other error says that the body did not arrive.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, key string) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit, key, fmt.Sprintf("the body has %d bytes", r.ContentLength))
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // in-process readers have none
	var buffer bytes.Buffer
	// The announced length is the client's word: it reserves no more than a page.
	buffer.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	if _, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return nil, tooLarge(limit, key, "the body is larger")
		}
		return nil, fmt.Errorf("read body: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	// The handler may now take its time. After a failure the deadline stays: what is left of the body is not waited for.
	_ = control.SetReadDeadline(time.Time{})
	r.Body = http.NoBody // nothing is left of it
	return buffer.Bytes(), nil
}

func tooLarge(limit int64, key, what string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "BodyTooLarge",
		Message: fmt.Sprintf("%s; at most %d bytes are read (%s)", what, limit, key),
	}
}
