package once_test

import (
	"context"
	"strings"
	"testing"

	"aion/adapters/shell/once"
	"aion/domain"
)

func TestAProgramRunsToItsEnd(t *testing.T) {
	t.Parallel()
	sh, ok := once.Find("sh")
	if !ok {
		t.Fatal("no shell")
	}
	if err := once.Run(t.Context(), sh, "-c", "exit 0"); err != nil {
		t.Error(err)
	}
	if _, ok := once.Find("no-such-program-anywhere"); ok {
		t.Error("it was found")
	}
}

func TestAFailureCarriesWhatTheProgramSaid(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"echo why >&2; exit 3": "why", "exit 1": "it said nothing", "yes | head -c 1000000; exit 1": "y\ny"} {
		err := once.Run(t.Context(), "/bin/sh", "-c", script)
		if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), want) || len(err.Error()) > 70<<10 {
			t.Errorf("%s: %.200v", script, err)
		}
	}
	if err := once.Run(t.Context(), "/no/such/program"); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := once.Run(ended, "/bin/sh", "-c", "sleep 60"); err == nil {
		t.Error("a cancelled command succeeds")
	}
}
