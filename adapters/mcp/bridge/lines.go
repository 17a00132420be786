package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// line is one line of input, without its end, or why there are no more. Of a line over maxLine only the id is kept.
type line struct {
	text    []byte
	tooLong bool
	id      []byte
	err     error
}

// readLines sends every line that is not blank, then what ended the input, and closes the channel.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r)
		if l.err == nil && !l.tooLong && len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads one line. The last one may lack its end.
func readLine(r *bufio.Reader) line {
	var l line
	var f finder
	for {
		part, err := r.ReadSlice('\n')
		if !l.tooLong && len(l.text)+len(part) > maxLine+1 {
			l.tooLong = true
			f.feed(l.text)
			l.text = nil
		}
		if l.tooLong {
			f.feed(part)
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(l.text) == 0 && !l.tooLong || !errors.Is(err, io.EOF)):
			return line{err: err}
		}
		l.text = bytes.TrimRight(l.text, "\r\n")
		l.id = f.id
		return l
	}
}

// maxToken bounds what the finder keeps of one token: an id is short.
const maxToken = 1 << 10

// finder finds the id of a JSON-RPC message that is too long to be kept. What it reads may be no JSON at all; then it
// finds nothing, or something that is checked before its use.
type finder struct {
	depth   int
	quoted  bool
	escaped bool
	value   bool   // at depth 1: after the colon
	token   []byte // the scalar that is being read at depth 1
	name    []byte // the token of the member name before it
	id      []byte
}

func (f *finder) feed(part []byte) {
	for _, b := range part {
		if f.quoted {
			f.inside(b)
			continue
		}
		switch b {
		case '"':
			f.quoted = true
			f.keep(b)
		case '{', '[':
			f.depth++
		case ':':
			if f.depth == 1 {
				f.name, f.token, f.value = f.token, nil, true
			}
		case ',', '}', ']':
			f.member()
			if b != ',' {
				f.depth--
			}
		case ' ', '\t', '\r', '\n':
		default:
			f.keep(b)
		}
	}
}

func (f *finder) inside(b byte) {
	f.keep(b)
	switch {
	case f.escaped:
		f.escaped = false
	case b == '\\':
		f.escaped = true
	case b == '"':
		f.quoted = false
	}
}

func (f *finder) keep(b byte) {
	if f.depth == 1 && len(f.token) < maxToken {
		f.token = append(f.token, b)
	}
}

// member ends a member of the message.
func (f *finder) member() {
	if f.depth != 1 {
		return
	}
	if f.value && string(f.name) == `"id"` {
		f.id = f.token
	}
	f.name, f.token, f.value = nil, nil, false
}
