package bootstrap

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"aion/adapters/cli"
	"aion/adapters/gormstore"
	"aion/adapters/mcp"
	"aion/adapters/shell/supervise"
)

// Set by the linker for releases.
var (
	version = "0.1.0-dev"
	commit  = ""
	builtAt = ""
)

// Main runs the program and answers the exit code of the process.
func Main() int {
	if supervise.Active(os.Args) {
		return supervise.Run()
	}
	interrupts, kill, stop := signals()
	defer stop()
	return cli.Run(context.Background(), cli.Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		NoColor:    os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		Build:      build(),
		Backend:    &backend{environ: os.Environ(), kill: kill},
		Interrupts: interrupts,
	}, os.Args[1:])
}

// signals delivers SIGINT and SIGTERM; kill is closed at the second one. Hang-ups are taken and dropped, so that a
// command started under nohup gets its default disposition back.
func signals() (interrupts <-chan cli.Interrupt, kill <-chan struct{}, stop func()) {
	raw := make(chan os.Signal, 4)
	signal.Notify(raw, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	out, second, done := make(chan cli.Interrupt, 4), make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		seen := 0
		for {
			select {
			case <-done:
				return
			case sig := <-raw:
				if sig == syscall.SIGHUP {
					continue
				}
				if seen++; seen == 2 {
					close(second)
				}
				tell(out, sig)
			}
		}
	})
	return out, second, func() { signal.Stop(raw); close(done); wait.Wait() }
}

// tell hands one signal on; more than the reader has room for are told already.
func tell(out chan<- cli.Interrupt, sig os.Signal) {
	exit := 130
	if sig == syscall.SIGTERM {
		exit = 143
	}
	select {
	case out <- cli.Interrupt{Exit: exit}:
	default:
	}
}

func build() cli.Build {
	b := cli.Build{
		Version: version, Commit: commit, BuiltAt: builtAt, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		MCP: mcp.Revision, Schema: gormstore.SchemaVersion(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && b.Commit == "" {
			b.Commit = s.Value
		}
		if s.Key == "vcs.time" && b.BuiltAt == "" {
			b.BuiltAt = s.Value
		}
	}
	return b
}

// AddFlags implements cli.Backend.
func (b *backend) AddFlags(flags *pflag.FlagSet) { addFlags(flags) }
