package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"aion/domain"
)

// output is standard output. It keeps the first error, so that a command which prints without looking does not end as if
// its result had been read. It is safe for concurrent use.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(b)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, syscall.EPIPE) {
		err = unwritten(err)
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// through sends what is written from now on another way.
func (o *output) through(w io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = w
}

// failed is the first error; nil: everything was written.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// unwritten is the refusal of standard output. Nothing is wrong with the command line, so it is no usage.
func unwritten(cause error) error {
	reason := cause
	var path *fs.PathError
	if errors.As(cause, &path) {
		reason = path.Err
	}
	return &domain.Error{Code: domain.CodeUnavailable, Type: "OutputUnwritable", Message: fmt.Sprintf("standard output cannot be written: %v", reason), Err: cause}
}
