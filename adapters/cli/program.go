package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/application/transcripts"
)

// Program is what a command line needs from the process around it.
type Program struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal and ErrTerminal say whether the streams are terminals; NoColor is the NO_COLOR of the environment.
	InTerminal, ErrTerminal, NoColor bool
	Build                            Build
	Backend                          Backend
	// Interrupts delivers SIGINT and SIGTERM.
	Interrupts <-chan Interrupt
}

// Interrupt is one SIGINT or SIGTERM; Exit is 130 or 143.
type Interrupt struct{ Exit int }

// Build names the program that runs.
type Build struct {
	Version, Commit, BuiltAt, Go, OS, Arch string
	MCP                                    string // protocol revision
	Schema                                 int    // of the store
}

// Backend is the process side of the commands: bootstrap implements it.
type Backend interface {
	// AddFlags adds one flag per configuration key.
	AddFlags(flags *pflag.FlagSet)
	// Open owns the store of AION_HOME and starts an engine in this process.
	Open(ctx context.Context, o Open) (*Engine, error)
	// Serve runs the server until ctx ends; ready is told once where it listens.
	Serve(ctx context.Context, o Open, ready func(Listening)) error
	// Configuration lists the effective values.
	Configuration(o Open) ([]Setting, error)
	// ConfigFile is a commented configuration file with every key at its default.
	ConfigFile() string
	// MCP is what the commands for MCP clients need.
	MCP(o Open) (*MCP, error)
}

// Open says which configuration a process takes. Flags may be nil.
type Open struct {
	Flags     *pflag.FlagSet
	Home      string
	File      string
	Ephemeral bool // keep everything in memory
	Verbose   bool
}

// Engine is an engine that this process owns.
type Engine struct {
	Namespace   string
	Runs        *runs.Service
	Authoring   *authoring.Service
	Transcripts *transcripts.Service
	// Close drains for at most the given time, parks what still runs and frees the store.
	Close func(ctx context.Context, drain time.Duration) error
}

// Listening is where a server answers.
type Listening struct {
	Version   string
	URL       string
	Store     string
	Insecure  bool
	MCP       bool
	Recovered int
	Took      time.Duration
	Warnings  []string
}

// Setting is one effective configuration value.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}
