package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"aion/domain"
)

// Options are what an Executor is built from. Sizes and times must be above zero.
type Options struct {
	Home     string // holds attempts/ and scratch/, made with mode 0700
	Instance string // this server's own name in the ledger

	WorkspaceRoot       string // empty when nothing names it
	WorkspaceRootReason string // why it is empty: the text that a body which needs it fails with; empty: the setting is

	Path            string   // the server's PATH; empty: /usr/local/bin:/usr/bin:/bin
	AllowedPrograms []string // empty: any (actions 10)
	ProgramDirs     []string // empty: those of Path
	Env             []Grant
	LookupEnv       func(name string) (value string, there bool) // the server's environment, for grants

	KillGrace       time.Duration // between TERM and KILL
	KillWait        time.Duration // from KILL until a tree that lives on is given up
	MaxStdout       int
	MaxStderr       int
	IdleSupervisors int // kept for good; the others end after a minute without work
	OpenFiles       int // limit of a command
	Limits          Limits
	Containment     string // auto (also when empty), supervisor or group
	RunAs           string // user[:group] of commands; empty: those of the server

	Logger  *slog.Logger
	Spawned func(took time.Duration) // told how long it took from the order to a running program; may be nil, must not wait

	user    *credential
	scratch string
}

// Limits of one command, beside the open files; 0: none. A cgroup that is delegated to the server counts processes and
// memory of the whole tree; without one each process is limited by itself, and Processes counts those of its user.
type Limits struct {
	Processes   int64
	MemoryBytes int64
	CPUSeconds  int64 // of processor time
}

// The kinds of containment (actions 4).
const (
	ContainAuto       = "auto"       // supervisors, and cgroups when they are delegated
	ContainSupervisor = "supervisor" // no cgroups
	ContainGroup      = "group"      // process groups: partial, for systems without subreapers
)

// The time limits that are not settings.
const (
	partialAfter  = time.Second // text without a line break is shown after this (actions 7.2)
	pipesAfter    = time.Second // pipes reach their end this long after the tree (actions 4.2)
	idleAfter     = time.Minute
	startedWithin = time.Second           // without news of a start for so long the bound runs all the same
	beatEvery     = 2 * time.Second       // a look at a supervisor that runs
	ladderBeat    = 50 * time.Millisecond // and at one that stops
	helpAfter     = time.Second           // it has this long before the server kills in its place
	sendWithin    = 10 * time.Second      // a supervisor that does not listen for so long is lost
	escapedRescan = 20 * time.Millisecond
)

const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// check refuses settings that cannot work and makes the two directories.
func (o *Options) check() error {
	if min(o.KillGrace, o.KillWait) <= 0 || min(o.MaxStdout, o.MaxStderr, o.OpenFiles) <= 0 {
		return refuse("ActionSettings", nil, "kill grace %s, kill wait %s, max stdout %d, max stderr %d and open files %d of actions "+
			"must all be above 0", o.KillGrace, o.KillWait, o.MaxStdout, o.MaxStderr, o.OpenFiles)
	}
	if !filepath.IsAbs(o.Home) {
		return refuse("HomeNotAbsolute", nil, "the home directory %q is not absolute; set AION_HOME to an absolute path",
			domain.Quote(o.Home, 128))
	}
	if o.WorkspaceRootReason == "" {
		o.WorkspaceRootReason = "`actions.workspace_root` is empty; set it to an absolute path, or leave it out for `<home>/clones`"
	}
	if err := o.checkGrants(); err != nil {
		return err
	}
	if o.Path == "" {
		o.Path = defaultPath
	}
	if len(o.ProgramDirs) == 0 {
		o.ProgramDirs = filepath.SplitList(o.Path)
	}
	if min(o.Limits.Processes, o.Limits.MemoryBytes, o.Limits.CPUSeconds) < 0 {
		return refuse("ActionSettings", nil, "limits of actions must not be below 0")
	}
	if err := o.checkUser(); err != nil {
		return err
	}
	for _, dir := range []string{o.attempts(), o.scratches()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return refuse("HomeUnusable", err, "the home directory %q cannot hold running attempts; make it writable for the server",
				domain.Quote(o.Home, 128))
		}
	}
	return nil
}

func (o *Options) attempts() string  { return filepath.Join(o.Home, "attempts") }
func (o *Options) scratches() string { return o.scratch }

// remake makes one of the two directories again, when it was taken away from a running server.
func (o *Options) remake(dir string) error {
	if o.user != nil && dir == o.scratch {
		_, err := shared(o.Home)
		return err
	}
	if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// checkUser finds the user of commands. The home is private, so those of another user get their directories elsewhere.
func (o *Options) checkUser() error {
	var err error
	o.scratch = filepath.Join(o.Home, "scratch")
	if o.user, err = parseRunAs(o.RunAs); err != nil || o.user == nil {
		return err
	}
	if o.scratch, err = shared(o.Home); err != nil {
		return refuse("HomeUnusable", err, "commands of user %q have no place for their directories; make %s writable for the server",
			domain.Quote(o.RunAs, 128), os.TempDir())
	}
	return nil
}

func refuse(typ string, cause error, format string, args ...any) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: typ, Message: fmt.Sprintf(format, args...), Err: cause}
}
