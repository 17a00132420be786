package shell_test

import (
	"os/exec"
	"testing"

	"aion/adapters/shell"
)

// The two belong together: the price of containment is the ratio of one to the other on the same machine.
func BenchmarkTrueThroughTheExecutor(b *testing.B) {
	x, err := shell.New(options(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	for b.Loop() {
		x.Execute(b.Context(), run("true"), nil)
	}
}

func BenchmarkTrueThroughPlainExec(b *testing.B) {
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
