package once_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/shell/once"
	"aion/domain"
)

func TestAPipeFeedsAProgramUntilItsEnd(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "shown")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	in, wait, err := once.Pipe(t.Context(), "  cat   - ", nil, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "line\n"); err != nil {
		t.Fatal(err)
	}
	wait()
	if text, err := os.ReadFile(name); err != nil || string(text) != "line\n" {
		t.Errorf("%q %v", text, err)
	}
}

func TestAPipeWhoseReaderHasGoneSaysSo(t *testing.T) {
	t.Parallel()
	in, wait, err := once.Pipe(t.Context(), "true", nil, os.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	for {
		if _, err = io.WriteString(in, strings.Repeat("x", 1<<16)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
	for _, line := range []string{"", "no-such-program-of-ours"} {
		if _, _, err := once.Pipe(t.Context(), line, nil, os.Stdout); domain.CodeOf(err) == "" || err == nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}
