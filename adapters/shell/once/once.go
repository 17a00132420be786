// Package once runs one foreign program to its end for a command of the command line: no run is involved, nothing is kept
// of it, and whoever called waits.
package once

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"aion/domain"
)

const (
	patience  = 60 * time.Second // a program that adds one entry to its settings takes about one
	maxOutput = 64 << 10
)

// Find is the path of a program on the PATH of this process; false when there is none.
func Find(program string) (string, bool) {
	path, err := exec.LookPath(program)
	return path, err == nil
}

// Run runs a program with the environment of this process and no input. It is a refusal when the program cannot start,
// ends with another status than 0, or does not end in time; the message carries what it said.
func Run(ctx context.Context, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the caller names a program of the user
	cmd.WaitDelay = time.Second
	var out bounded
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(out.buf.String())
		if said == "" {
			said = "it said nothing"
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			said = fmt.Sprintf("it did not end within %s", patience)
		}
		return &domain.Error{Code: domain.CodeUnavailable, Type: "ProgramFailed", Message: fmt.Sprintf("%s failed (%v): %s", program, err, said), Err: err}
	}
	return nil
}

// bounded keeps the beginning of what is written.
type bounded struct{ buf bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxOutput - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
