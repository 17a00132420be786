package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"

	"aion/adapters/shell/supervise"
)

// measure is one part of the bench; name selects it with -only.
type measure struct {
	name  string
	title string
	run   func(*bench, context.Context) error
}

// measures are in the order in which they run: what is measured in memory comes before what leaves garbage behind.
func measures() []measure {
	return []measure{
		{"machine", "limits of this machine", (*bench).machine},
		{"parked", "runs that wait for a signal", (*bench).parked},
		{"throughput", "activities per second, 3-step runs, in-process executor that does nothing", (*bench).throughput},
		{"latency", "one 1-activity run, alone", (*bench).latency},
		{"postgres", "throughput and latency on a Postgres of its own", (*bench).postgres},
		{"scale", "one fork, one loop: what an item costs", (*bench).scale},
		{"language", "check of documents", (*bench).language},
		{"spawn", "one declared command against os/exec", (*bench).spawn},
		{"commands", "commands per second through the whole path against os/exec", (*bench).commands},
		{"attempts", "memory of commands that run", (*bench).attempts},
		{"mcp", "requests to /mcp beside servers of one trivial tool, loopback", (*bench).protocol},
		{"recovery", "kill -9 of the server, then ready", (*bench).recovery},
	}
}

// bench is what the measures share.
type bench struct {
	dir     string // on a real disk; removed at the end
	short   bool
	out     *report
	places  int    // directories handed out
	program string // the built server; empty until a measure asks for it
}

// pick gives the size of a measure: the full one, or the one of -short.
func (b *bench) pick(full, short int) int {
	if b.short {
		return short
	}
	return full
}

// place gives a path below the bench's directory that nobody has used.
func (b *bench) place(name string) string {
	b.places++
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, b.places))
}

func main() {
	if supervise.Active(os.Args) { // the executor of commands starts this binary again
		os.Exit(supervise.Run())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var names []string
	for _, m := range measures() {
		names = append(names, m.name)
	}
	only := flag.String("only", "", "the measures to run, separated by commas: "+strings.Join(names, ", "))
	short := flag.Bool("short", false, "small sizes: shows that it works, the figures mean little")
	dir := flag.String("dir", "", "where the stores lie (default: the system's temporary directory)")
	profiles := flag.String("profiles", "", "directory for profiles of processor and allocations, two files per measure")
	flag.Parse()
	wanted := slices.DeleteFunc(strings.Split(*only, ","), func(s string) bool { return s == "" })
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no measure %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	place, err := os.MkdirTemp(*dir, "aion-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(place) }()
	fileSystem, err := fileSystemOf(place)
	if err != nil {
		return err
	}
	if fileSystem == "tmpfs" {
		return fmt.Errorf("%s lies in memory (tmpfs): fsync costs nothing there; name a directory on a disk with -dir", place)
	}
	b := &bench{dir: place, short: *short, out: &report{w: os.Stdout, short: *short}}
	fmt.Printf("%d cores, %s/%s, %s, stores on %s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), fileSystem)
	for _, m := range measures() {
		if len(wanted) > 0 && !slices.Contains(wanted, m.name) {
			continue
		}
		b.out.section(m.name, m.title)
		if err := b.profiled(ctx, *profiles, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	b.out.summary()
	return nil
}

// profiled runs a measure; when a directory for profiles is named it writes one of the processor and one of allocations,
// the latter since the start of the process.
func (b *bench) profiled(ctx context.Context, dir string, m measure) error {
	if dir == "" {
		return m.run(b, ctx)
	}
	f, err := os.Create(filepath.Join(dir, m.name+".cpu.prof"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	err = m.run(b, ctx)
	pprof.StopCPUProfile()
	allocated, createErr := os.Create(filepath.Join(dir, m.name+".allocs.prof"))
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(allocated, 0), allocated.Close())
}
