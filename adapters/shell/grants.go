package shell

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"aion/domain"
	"aion/domain/action"
)

// mostInOne is what Linux takes as one argument or variable.
const mostInOne = 131071

// Grant gives one environment variable to the commands of some task queues. Its value is read at each spawn, from a file
// (without its last line break) or from the server's own environment: exactly one of the two.
type Grant struct {
	Name     string
	FromFile string
	FromEnv  string
	Queues   []string
	Secret   bool // the value is masked wherever output is shown or kept
}

// Problem tells what is wrong with a grant that could never work, or that takes a name of the server's; empty: nothing.
func (g Grant) Problem() string {
	name := domain.Quote(g.Name, 64)
	switch {
	case g.Name == "" || strings.ContainsAny(g.Name, "=\x00"):
		return fmt.Sprintf("%q is no name of an environment variable", name)
	case g.Name == "PATH" || strings.HasPrefix(g.Name, "AION_"):
		return fmt.Sprintf("the variable %q belongs to the server and cannot be granted", name)
	case (g.FromFile == "") == (g.FromEnv == ""):
		return fmt.Sprintf("the grant of %q needs either from_file or from_env", name)
	case len(g.Queues) == 0:
		return fmt.Sprintf("the grant of %q names no task queue", name)
	}
	return ""
}

// checkGrants refuses grants that cannot work.
func (o *Options) checkGrants() error {
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	for _, g := range o.Env {
		if problem := g.Problem(); problem != "" {
			return refuse("ActionSettings", nil, "actions.env: %s", problem)
		}
	}
	return nil
}

// checkSources refuses grants whose source is not there.
func (x *Executor) checkSources() error {
	for _, g := range x.o.Env {
		var err error
		if !x.pool.inTime(func() { _, err = x.o.valueOf(g) }) {
			return refuse("ActionSettings", nil, "actions.env: the grant of %q has no value: nothing could be read from %s within %s",
				domain.Quote(g.Name, 64), domain.Quote(g.FromFile, 128), x.o.KillWait)
		}
		if err != nil {
			return refuse("ActionSettings", nil, "actions.env: the grant of %q has no value: %v", domain.Quote(g.Name, 64), err)
		}
	}
	return nil
}

// granted reads the variables of a queue and the secrets among their values. The failure is that of the first one that
// cannot be read.
func (x *Executor) granted(queue string) (env, secrets []string, failure *action.Failed) {
	for _, g := range x.o.Env {
		if !slices.Contains(g.Queues, queue) {
			continue
		}
		value, err := x.o.valueOf(g)
		if err != nil {
			x.o.Logger.Error("granted variable cannot be read", "name", g.Name, "error", err)
			f := action.Fail(action.Retryable, action.CodeSpawnFailed, fmt.Sprintf(
				"the variable `%s` that the operator grants to task queue `%s` cannot be read; see the server's log", g.Name, queue), nil)
			failure = cmp.Or(failure, &f)
			continue
		}
		env = append(env, g.Name+"="+value)
		if g.Secret {
			secrets = append(append(secrets, value), linesOf(value)...)
		}
	}
	return env, secrets, failure
}

// linesOf gives the lines of a secret, which may be printed one by one and by a program that drops their CR.
func linesOf(value string) []string {
	list := strings.Split(value, "\n")
	for i, line := range list {
		list[i] = strings.TrimSuffix(line, "\r")
	}
	return list
}

func (o *Options) valueOf(g Grant) (string, error) {
	var value string
	if g.FromFile != "" {
		raw, err := os.ReadFile(g.FromFile)
		if err != nil {
			return "", err
		}
		value = strings.TrimSuffix(string(raw), "\n")
	} else {
		v, there := o.LookupEnv(g.FromEnv)
		if !there {
			return "", fmt.Errorf("the environment of the server has no %q", g.FromEnv)
		}
		value = v
	}
	if strings.ContainsRune(value, 0) {
		return "", fmt.Errorf("the value holds the character U+0000")
	}
	if size := len(g.Name) + len("=") + len(value); size > mostInOne {
		return "", fmt.Errorf("with its name it has %d bytes, and a command takes at most %d in one variable", size, mostInOne)
	}
	return value, nil
}
