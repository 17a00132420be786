package shell_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"aion/adapters/shell"
)

// The price of containment is the ratio of a command through the executor to plain os/exec on the same machine, so both
// are measured in turns.
func BenchmarkTrue(b *testing.B) {
	for _, containment := range []string{shell.ContainAuto, shell.ContainSupervisor} {
		b.Run(containment, func(b *testing.B) {
			o := options(b.TempDir())
			o.Containment = containment
			x, err := shell.New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = x.Close() }()
			var through, plain []time.Duration
			for b.Loop() {
				began := time.Now()
				x.Execute(b.Context(), run("/bin/true"), nil)
				through = append(through, time.Since(began))
				began = time.Now()
				if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
					b.Fatal(err)
				}
				plain = append(plain, time.Since(began))
			}
			slices.Sort(through)
			slices.Sort(plain)
			a, p := through[len(through)/2], plain[len(plain)/2]
			b.ReportMetric(float64(a.Microseconds()), "us-executor")
			b.ReportMetric(float64(p.Microseconds()), "us-plain")
			b.ReportMetric(float64(a)/float64(p), "ratio")
		})
	}
}
