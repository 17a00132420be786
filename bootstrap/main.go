package bootstrap

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"aion/adapters/cli"
	"aion/adapters/gormstore"
	"aion/adapters/httpapi"
	"aion/adapters/mcp"
	"aion/adapters/shell/once"
	"aion/adapters/shell/supervise"
	"aion/adapters/system"
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
	interrupts, heard, stop := signals()
	defer stop()
	b := &backend{environ: os.Environ(), signalled: heard, manager: system.NewNotifier(os.Getenv)}
	return cli.Run(context.Background(), cli.Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())), OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Width:        width,
		NoColor:      os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		ForceColor:   os.Getenv("CLICOLOR_FORCE") == "1",
		Build:        build(),
		Backend:      b,
		Surroundings: b.surroundings,
		Audit:        b.audit,
		Doctor:       b.doctor,
		Keeper:       b.keeper,
		OpenAPI:      httpapi.Document,
		Interrupts:   interrupts,
		Pager:        pager(),
	}, os.Args[1:])
}

// width is that of the terminal on standard output; 0: unknown.
func width() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// killPatience is what is left for a clean end after the second signal: the commands are dead by then, and an end without
// it loses nothing that was acknowledged.
const killPatience = 1500 * time.Millisecond

// signalled is what signals tell besides interrupts.
type signalled struct {
	kill   chan struct{} // closed at the second SIGINT or SIGTERM
	hangup chan struct{} // SIGHUP; one that nobody has taken stands for all that follow
}

// signals delivers SIGINT and SIGTERM, and what they and SIGHUP mean besides. They are caught and never ignored, so that a
// command started under nohup gets its default disposition back.
func signals() (interrupts <-chan cli.Interrupt, heard signalled, stop func()) {
	raw := make(chan os.Signal, 4)
	signal.Notify(raw, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a broken pipe is an error of the write that meets it
	out, done := make(chan cli.Interrupt, 4), make(chan struct{})
	heard = signalled{kill: make(chan struct{}), hangup: make(chan struct{}, 1)}
	var wait sync.WaitGroup
	wait.Go(func() {
		seen := 0
		for {
			select {
			case <-done:
				return
			case sig := <-raw:
				if sig == syscall.SIGHUP {
					select {
					case heard.hangup <- struct{}{}:
					default:
					}
					continue
				}
				if seen++; seen == 2 {
					close(heard.kill)
					time.AfterFunc(killPatience, func() { os.Exit(130) })
				}
				tell(out, sig)
			}
		}
	})
	return out, heard, func() { signal.Stop(raw); close(done); wait.Wait() }
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

// pager starts the program that AION_PAGER names, else PAGER; nil: neither does.
func pager() func(context.Context) (io.Writer, func(), error) {
	line := cmp.Or(os.Getenv("AION_PAGER"), os.Getenv("PAGER"))
	if strings.TrimSpace(line) == "" {
		return nil
	}
	environ := os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		environ = append(environ, "LESS=FRX") // what fits on the screen is shown and not paged
	}
	return func(ctx context.Context) (io.Writer, func(), error) { return once.Pipe(ctx, line, environ, os.Stdout) }
}
