package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"aion/adapters/web/jsontext"
)

// readEvents reads a stream of server-sent events up to the answer. Each event's data is one message; those with a method
// are notifications.
func readEvents(body io.Reader, notify func([]byte)) (answer, error) {
	lines := bufio.NewReaderSize(body, 16<<10)
	var data []byte
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return answer{}, err
		}
		text = bytes.TrimRight(text, "\r\n")
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			continue
		}
		if len(text) > 0 || data == nil {
			continue // a comment, another field, or an event without data
		}
		if a := answerOf(data); !a.empty() {
			return a, nil
		}
		if notification(data) {
			notify(oneLine(data))
		}
		data = nil
	}
}

// notification reports whether a message may pass to the client: it has a method and no id. Servers ask nothing.
func notification(text []byte) bool {
	if jsontext.Check(text, maxNesting) != nil || member(text, "id") != nil {
		return false
	}
	method, _ := jsontext.Text(member(text, "method"))
	return method != ""
}
