package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aion/adapters/cli"
	"aion/adapters/shell/once"
	"aion/application/actions"
	"aion/domain"
)

// doctor looks at what stands on this machine. It changes nothing but what --fix repairs.
type doctor struct {
	*backend
	open  cli.Open
	fix   bool
	c     Config
	wrong error // why there is no configuration
}

// Doctor implements cli.Program.Doctor.
func (b *backend) doctor(o cli.Open, fix bool) *cli.Doctor {
	d := &doctor{backend: b, open: o, fix: fix}
	d.c, d.wrong = b.load(o)
	known := func(look func(context.Context) []cli.Finding) func(context.Context) []cli.Finding {
		return func(ctx context.Context) []cli.Finding {
			if d.wrong != nil {
				return []cli.Finding{cli.Warn("not looked at: the configuration is refused", "aion config validate")}
			}
			return look(ctx)
		}
	}
	return &cli.Doctor{
		Configured: d.wrong == nil, Replay: d.replay,
		Local: map[string]func(context.Context) []cli.Finding{
			"home": d.home, "configuration": d.configuration, "store": known(d.store),
			"listener": known(d.listener), "executor": known(d.executor), "audit": known(d.auditChain),
		},
	}
}

// home looks at AION_HOME also when the configuration is refused.
func (d *doctor) home(context.Context) []cli.Finding {
	home, err := resolveHome(d.open.Home, environment(d.environ))
	if err != nil {
		return []cli.Finding{cli.Fail(err, "")}
	}
	info, err := os.Lstat(home)
	if errors.Is(err, fs.ErrNotExist) {
		return []cli.Finding{cli.Warn(home+" does not exist yet; the first start makes it", "aion server")}
	}
	if err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 && d.fix {
		if err := os.Chmod(home, 0o700); err != nil { //nolint:gosec // a directory has to be entered
			return []cli.Finding{cli.Fail(homeUnwritable(home, err), "")}
		}
	}
	if err := judgeHome(home); err != nil {
		return []cli.Finding{cli.Fail(err, "")}
	}
	if loose := d.loose(home); len(loose) > 0 {
		return []cli.Finding{cli.Warn("other users may read or write "+strings.Join(loose, ", "), "aion doctor --fix")}
	}
	return []cli.Finding{cli.OK(home + " is private")}
}

// loose are the files of home that others could use if they came there, after they were repaired if that is wanted.
func (d *doctor) loose(home string) (names []string) {
	for _, pattern := range []string{"aion.db*", "contexts.yaml", "tokens", "tokens/*", "authoring", "attempts", "run"} {
		found, _ := filepath.Glob(filepath.Join(home, pattern)) // the patterns are well-formed
		for _, name := range found {
			info, err := os.Lstat(name)
			if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
				continue
			}
			if d.fix && os.Chmod(name, info.Mode().Perm()&0o700) == nil {
				continue
			}
			rel, _ := filepath.Rel(home, name) // it lies below
			names = append(names, rel)
		}
	}
	return names
}

func (d *doctor) configuration(context.Context) []cli.Finding {
	if d.wrong != nil {
		var list []cli.Finding
		for line := range strings.Lines(messageOf(d.wrong)) {
			list = append(list, cli.Fail(errors.New(strings.TrimSpace(line)), "aion config show --origin"))
		}
		return list
	}
	var list []cli.Finding
	for _, text := range append(append([]string{}, d.c.Ignored...), d.c.Exposed...) {
		list = append(list, cli.Warn(text, ""))
	}
	if len(list) > 0 {
		return list
	}
	if d.c.File == "" {
		return []cli.Finding{cli.OK("no file; defaults, and what the environment says")}
	}
	return []cli.Finding{cli.OK(d.c.File)}
}

// messageOf is what a refusal says.
func messageOf(err error) string {
	var refused *domain.Error
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

// listener judges what a server with this configuration would listen on; a running one is asked itself.
func (d *doctor) listener(context.Context) []cli.Finding {
	host, _ := listenHost(d.c.ServerListen)
	if !loopback(host) && d.c.AuthMode == modeOff {
		return []cli.Finding{cli.Warn(d.c.ServerListen+" would be reachable from other machines, and every caller the operator", "aion config show --origin auth.mode auth.allow_insecure")}
	}
	detail := "would listen on " + d.c.ServerListen + ", auth.mode " + d.c.AuthMode
	proof, err := certificate(d.c)
	if err != nil {
		return []cli.Finding{cli.Fail(err, "")}
	}
	if proof == nil {
		return []cli.Finding{cli.OK(detail)}
	}
	return []cli.Finding{cli.Expiry(detail, proof.Expires(), time.Now())}
}

// executor judges the settings of commands; how a running server contains them is asked of it.
func (d *doctor) executor(context.Context) []cli.Finding {
	c := d.c
	if c.ActionsDeclaredBodies != string(actions.BodiesOn) {
		return []cli.Finding{cli.OK("actions.declared_bodies is " + c.ActionsDeclaredBodies + ": this server runs no commands")}
	}
	var list []cli.Finding
	for _, program := range c.ActionsAllowedPrograms {
		if !found(program, c.ActionsProgramDirs) {
			list = append(list, cli.Warn("actions.allowed_programs: there is no program "+program, "aion config show --origin actions.allowed_programs actions.program_dirs"))
		}
	}
	if c.AuthMode != modeOff && c.ActionsRunAs == "" {
		list = append(list, cli.Warn("actions.run_as is not set: commands run as the server's own user and can read its store", ""))
	}
	if len(list) > 0 {
		return list
	}
	return []cli.Finding{cli.OK(fmt.Sprintf("commands: containment %s, up to %d at once, limits open files %d, processes %d, memory %d, cpu %ds (0: none)",
		c.ActionsContainment, c.LimitMaxInFlight, c.ActionsOpenFiles, c.ActionsProcesses, c.ActionsMemoryBytes, c.ActionsCPUSeconds))}
}

// found reports whether a program is where commands may take it from.
func found(program string, dirs []string) bool {
	if filepath.IsAbs(program) || len(dirs) == 0 {
		_, ok := once.Find(program)
		return ok
	}
	for _, dir := range dirs {
		if _, ok := once.Find(filepath.Join(dir, program)); ok {
			return true
		}
	}
	return false
}
