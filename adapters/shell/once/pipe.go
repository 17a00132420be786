package once

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"aion/domain"
)

// Pipe starts a program that reads what is written to in and shows it on out itself, such as a pager. line is its name and its
// arguments, parted by spaces; no shell reads it. wait closes in and waits until the program has ended; a reader that ended before
// makes writes fail with EPIPE.
func Pipe(ctx context.Context, line string, environ []string, out *os.File) (in io.Writer, wait func(), err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, nil, &domain.Error{Code: domain.CodeInvalidInput, Type: "ProgramMissing", Message: "no program is named"}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user's own environment names it
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, out, os.Stderr
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, &domain.Error{Code: domain.CodeUnavailable, Type: "ProgramFailed", Message: fmt.Sprintf("%s cannot be started: %v", words[0], err), Err: err}
	}
	return pipe, func() {
		_ = pipe.Close()
		_ = cmd.Wait() // how a pager ended is its user's business
	}, nil
}
