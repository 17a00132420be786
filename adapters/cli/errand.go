package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
)

// errand is one run that a command begins and follows, wherever the store is open: in this process, which then owns it, or
// at the process that has it. When that one goes, this one looks again, and goes on with what it has not shown yet.
type errand struct {
	f           *followFlags
	ns          string
	cmd         *cobra.Command
	p           *Program
	g           *globals
	view        *view
	interrupted *interruption

	// own begins at the engine of this process, over at a server.
	own  func(ctx context.Context, e *Engine) (begun, error)
	over func(ctx context.Context, s *session) (begun, error)

	begun bool
	run   begun
	until time.Time // the end of the following; zero: it has none, or has not begun
}

const (
	lookPause = 200 * time.Millisecond // between two looks for the owner of the store
	lookBound = 60 * time.Second       // without anybody there
	lookLong  = 10 * time.Second       // of a connection that shows that somebody was
)

// carry is the command: it begins the run and follows it to its end.
func (f *followFlags) carry(e errand) error {
	ctx, interrupted := e.p.untilInterrupted(e.cmd.Context())
	defer interrupted.stop()
	e.f, e.interrupted = f, interrupted
	around, err := e.p.around(e.g.open())
	if err != nil {
		return err
	}
	e.ns = f.inNamespace(around, profile{})
	named, err := f.somewhere(e.cmd, e.p, e.g)
	if err != nil {
		return err
	}
	if named != nil {
		defer named.Close()
	}
	first := named != nil
	err = persist(ctx, e.view.at, func() error {
		err := e.once(ctx, named)
		var gone *lostError
		if first && domain.TypeOf(err) == "NoServer" && errors.As(err, &gone) {
			return gone.cause // nobody was ever there
		}
		first = false
		return err
	})
	if errors.Is(err, errInterrupted) {
		return interrupted.status()
	}
	return err
}

// persist tries again whenever a server is lost, until nobody has been there for too long. at tells how far it has come.
func persist(ctx context.Context, at func() int64, try func() error) error {
	come := at()
	for bound := time.Now().Add(lookBound); ; {
		began := time.Now()
		err := try()
		var gone *lostError
		if !errors.As(err, &gone) {
			return err
		}
		there := time.Since(began) > lookLong && domain.TypeOf(err) != "ServerAway" // that one is silent
		if now := at(); now != come || there {
			come, bound = now, time.Now().Add(lookBound)
		} else if time.Now().After(bound) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookPause):
		}
	}
}

// somewhere is the session of a server that is named; nil: the local store counts.
func (f *followFlags) somewhere(cmd *cobra.Command, p *Program, g *globals) (*session, error) {
	if ephemeral := cmd.Flags().Lookup("ephemeral"); cmd.Flags().Changed("store") || ephemeral != nil && ephemeral.Value.String() == "true" {
		if f.server != "" {
			return nil, &usage{message: "--server names a server, --store and --ephemeral a store of this process; give one of them"}
		}
		return nil, nil //nolint:nilnil // no server
	}
	around, err := p.around(g.open())
	if err != nil {
		return nil, err
	}
	named, err := f.named(around)
	if err != nil || !named {
		return nil, err
	}
	return f.session(cmd, p, g, around)
}

// once goes on with the run where it can be done now.
func (e *errand) once(ctx context.Context, named *session) error {
	if named != nil {
		e.interrupted.hold()
		return e.attached(ctx, named)
	}
	ephemeral := e.cmd.Flags().Lookup("ephemeral")
	engine, err := e.p.Backend.Open(ctx, Open{
		Flags: e.cmd.Flags(), Home: e.g.home, File: e.g.config, Verbose: e.g.verbose,
		Ephemeral: ephemeral != nil && ephemeral.Value.String() == "true", Loaded: e.interrupted.hold,
	})
	if err == nil {
		return e.owner(ctx, engine)
	}
	var refused *domain.Error
	if errors.As(err, &refused) && refused.Code == domain.CodeStoreLocked && e.interrupted.count() == 0 {
		address, _ := refused.Details["address"].(string)
		if address == "" {
			return &lostError{err} // it is about to serve, or to end
		}
		s, err := e.f.at(e.cmd, e.p, e.g, address)
		if err != nil {
			return err
		}
		defer s.Close()
		return e.attached(ctx, s)
	}
	return e.interrupted.orElse(err)
}

// at is a session with the owner of the local store. A caller that names no subject is the operator there, as the owner is.
func (f *followFlags) at(cmd *cobra.Command, p *Program, g *globals, address string) (*session, error) {
	around, err := p.around(g.open())
	if err != nil {
		return nil, err
	}
	there := f.where
	there.server = address
	there.owner = true
	s, err := there.session(cmd, p, g, around)
	f.typed = there.typed
	return s, err
}

// owner carries the run in this process, and closes the engine however that ends.
func (e *errand) owner(ctx context.Context, engine *Engine) (err error) {
	f := e.f
	engine.Namespace = e.ns
	drain := time.Duration(0)
	defer func() {
		if e.interrupted.count() > 0 {
			drain = f.drain
			if n := engine.Running(); n > 0 && drain > 0 {
				e.view.note("waiting", "up to %s for %s; Ctrl-C again stops them", drain, counted(n, "command"))
			}
		}
		err = errors.Join(err, engine.Close(context.WithoutCancel(ctx), drain))
	}()
	if e.begun {
		e.view.note("moved", "the process that had the store has ended; this one goes on with it")
	} else {
		if e.run, err = e.own(ctx, engine); err != nil {
			return e.interrupted.orElse(err)
		}
		e.begun = true
		e.view.others(ctx, engine, e.run)
	}
	parked := func() {
		id := short(e.run.id)
		fmt.Fprintf(e.p.Err, "run %s is durable and parked; go on with: aion resume %s\n", id, id)
	}
	err = e.toTheEnd(ctx, own{engine}, parked)
	if err == nil || errors.Is(err, status(exitNo)) {
		e.view.lastOnes(ctx, engine)
	}
	return err
}

// attached carries the run at a server.
func (e *errand) attached(ctx context.Context, s *session) error {
	if !e.begun {
		began, err := e.over(ctx, s)
		if err != nil {
			return lost(err)
		}
		e.run, e.begun = began, true
	}
	goesOn := func() {
		id := short(e.run.id)
		fmt.Fprintf(e.p.Err, "run %s goes on at %s; follow it with: aion resume %s --follow steps\n", id, s.Server(), id)
	}
	return e.toTheEnd(ctx, s, goesOn)
}

// toTheEnd follows the run and prints its outcome. left tells what becomes of a run that is left.
func (e *errand) toTheEnd(ctx context.Context, h host, left func()) error {
	if e.f.timeout > 0 && e.until.IsZero() {
		e.until = time.Now().Add(e.f.timeout)
	}
	follow, cancel := ctx, func() {}
	if e.f.timeout > 0 {
		follow, cancel = context.WithDeadlineCause(ctx, e.until, errFollowTimeout)
	}
	defer cancel()
	err := e.view.follow(follow, h, e.run)
	switch {
	case errors.Is(context.Cause(follow), errFollowTimeout):
		e.view.note("timeout", "stopped following after %s; go on with: aion resume %s", e.f.timeout, short(e.run.id))
		return status(exitTimeout)
	case context.Cause(ctx) != nil && e.f.cancel:
		if err := h.cancel(context.WithoutCancel(ctx), e.run.id, "interrupted"); err != nil {
			return err
		}
		e.view.note("cancelled", "%s", short(e.run.id))
		return errInterrupted
	case context.Cause(ctx) != nil:
		left()
		return errInterrupted
	}
	return finish(ctx, e.p, h, e.run, err)
}

var errFollowTimeout = errors.New("follow timeout")

// finish prints the outcome of a run that has ended and answers the exit code of its route. What the following of it broke off
// for, if anything, is told besides: the outcome is durable all the same. A reader who has gone away does not change it either.
func finish(ctx context.Context, p *Program, h host, r begun, broken error) error {
	var gone *lostError
	if errors.As(broken, &gone) {
		return broken
	}
	text, ended, err := h.outcome(ctx, r.id)
	if err != nil {
		return errors.Join(broken, err)
	}
	if broken != nil && !ended.Terminal() {
		return broken
	}
	if err := printRaw(p.Out, text); err != nil && !errors.Is(err, syscall.EPIPE) {
		id := short(r.id)
		return &domain.Error{
			Code: domain.CodeUnavailable, Type: "OutputUnwritable", Err: err,
			Message: fmt.Sprintf("run %s has ended (%s), and its outcome could not be written to standard output; see it with: aion resume %s", id, ended, id),
		}
	}
	if broken != nil {
		return broken
	}
	if ended == history.Completed {
		return nil
	}
	return status(exitNo)
}

// others says which runs of the store besides the started one go on in this process.
func (v *view) others(ctx context.Context, e *Engine, started begun) {
	const named, most = 5, 200
	page, err := e.Runs.List(ctx, operator(), runs.ListRequest{Namespace: e.Namespace, Statuses: []history.Status{history.Running}, Limit: most})
	if err != nil || v.quiet {
		return // it is a courtesy
	}
	var ids []string
	for _, r := range page.Runs {
		if string(r.WorkflowID) != started.id {
			ids = append(ids, short(string(r.WorkflowID)))
		}
	}
	if len(ids) == 0 {
		return
	}
	count := counted(len(ids), "open run")
	if page.NextCursor != "" {
		count = "more than " + count
	}
	list := strings.Join(ids[:min(len(ids), named)], ", ")
	if len(ids) > named {
		list += ", …"
	}
	v.line("also going on: %s (%s)", count, list)
}

// lastOnes waits until no other command follows a run of this engine, or a signal hands the store over.
func (v *view) lastOnes(ctx context.Context, e *Engine) {
	if e.Attached == nil {
		return
	}
	for told := false; e.Attached() > 0; {
		if !told {
			told = true
			v.note("waiting", "for %s of this store; Ctrl-C hands it over", counted(e.Attached(), "follower"))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookPause):
		}
	}
}

// short is a prefix of an id that tells runs of different milliseconds apart.
func short(id string) string {
	if len(id) < 13 {
		return id
	}
	return id[:13]
}
