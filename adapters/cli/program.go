package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain/access"
)

// Program is what a command line needs from the process around it.
type Program struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal and ErrTerminal say whether the streams are terminals; NoColor is the NO_COLOR of the environment.
	InTerminal, OutTerminal, ErrTerminal, NoColor bool
	// ForceColor is the CLICOLOR_FORCE of the environment: colours also where no terminal is.
	ForceColor bool
	// Width is the width of the terminal that Out is; nil or 0: unknown.
	Width   func() int
	Build   Build
	Backend Backend
	// Surroundings tells what commands that ask a server need to know; nil: there are no servers.
	Surroundings func(o Open) (*Surroundings, error)
	// Audit opens the audit log of the local store, which no other process may have open.
	Audit func(ctx context.Context, o Open) (*Audit, error)
	// Doctor looks at this machine, and repairs what can be repaired without a loss if it is to fix.
	Doctor func(o Open, fix bool) *Doctor
	// Pager starts the user's pager, which shows on the terminal what is written to w until wait, which waits for its end; nil:
	// the user has none.
	Pager func(ctx context.Context) (w io.Writer, wait func(), err error)
	// Keeper looks after backups of the local store.
	Keeper func(o Open) (Keeper, error)
	// OpenAPI is the document of the HTTP API; nil: there is none.
	OpenAPI func() ([]byte, error)
	// Interrupts delivers SIGINT and SIGTERM.
	Interrupts <-chan Interrupt

	attention *attention // what signals do; made by Run
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
	// Serve runs the server until ctx ends. ready is told once where it listens, and answers whether it has shown that to a
	// person: the log does not repeat the warnings then.
	Serve(ctx context.Context, o Open, ready func(Listening) (shown bool)) error
	// Configuration lists the effective values, and what is legal but looks like a mistake.
	Configuration(o Open) (settings []Setting, warnings []string, err error)
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
	Client    bool // started by another program in a directory of its own: ./aion.yaml there is not for it
	// Loaded, unless nil, is called once the configuration is read: what begins then has to be ended.
	Loaded func()
}

// Engine is an engine that this process owns.
type Engine struct {
	Namespace   string
	Runs        *runs.Service
	Authoring   *authoring.Service
	Transcripts *transcripts.Service
	Running     func() int // the attempts under way
	Attached    func() int // the commands of other processes that follow a run here; nil: none can
	// Close drains for at most the given time, parks what still runs and frees the store.
	Close func(ctx context.Context, drain time.Duration) error
}

// operator is who runs this program: the owner of the store's file.
func operator() access.Caller {
	who := access.Operator("")
	who.Via.Surface = "cli"
	return who
}

// Listening is where a server answers.
type Listening struct {
	Version   string
	URL       string // how clients reach it
	Store     string
	Auth      string // auth.mode
	Reachable bool   // from other machines
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
