package httpapi

import (
	"compress/gzip"
	"net/http"
	"time"

	"aion/domain"
)

// lineTimeout bounds one write to a client that does not read.
const lineTimeout = 30 * time.Second

// lines writes one JSON text a line; the headers go out with the first one, or at the end.
type lines struct {
	q       *request
	control *http.ResponseController
	begun   bool
	zip     *gzip.Writer // nil: as it is
}

func (l *lines) begin() {
	l.begun = true
	h := l.q.out.Header()
	h.Set("Content-Type", contentType(l.q.media))
	h.Add("Vary", varies)
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(l.q.Request) {
		h.Set("Content-Encoding", "gzip")
		l.zip = gzip.NewWriter(l.q.out)
	}
	l.q.out.WriteHeader(http.StatusOK)
}

// line writes one value. A value that is text is written as it is.
func (l *lines) line(value any) error {
	text, isText := value.([]byte)
	if !isText {
		var err error
		if text, err = domain.Encode(value); err != nil {
			return err
		}
	}
	if !l.begun {
		l.begin()
	}
	if l.q.Method == http.MethodHead {
		return errHead
	}
	_ = l.control.SetWriteDeadline(time.Now().Add(lineTimeout)) // in-process writers have none
	var err error
	if l.zip != nil {
		_, err = l.zip.Write(append(text, '\n'))
	} else {
		_, err = l.q.out.Write(append(text, '\n'))
	}
	return toReader(err)
}

func (l *lines) end() error {
	if !l.begun {
		l.begin()
	}
	if l.zip != nil && l.q.Method != http.MethodHead {
		return toReader(l.zip.Close())
	}
	l.q.out.WriteHeaderNow()
	return nil
}
