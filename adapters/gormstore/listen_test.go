package gormstore_test

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
	"aion/test/postgres"
)

// ear is a store that hears the others.
type ear struct {
	*gormstore.Store
	heard chan ports.Changes
}

func openEar(t *testing.T, dsn, name string) ear {
	t.Helper()
	e := ear{heard: make(chan ports.Changes, 1000)}
	o := postgresOptions(t, dsn)
	o.Instance, o.Changed = name, func(c ports.Changes) { e.heard <- c }
	e.Store = mustOpenPostgres(t, o)
	e.wants(t, "at the beginning", func(c ports.Changes) bool { return c.All })
	return e
}

// wants waits until something is heard that fits.
func (e ear) wants(t *testing.T, what string, fits func(ports.Changes) bool) {
	t.Helper()
	var all []ports.Changes
	for end := time.After(time.Minute); ; {
		select {
		case c := <-e.heard:
			if all = append(all, c); fits(c) {
				return
			}
		case <-end:
			t.Fatalf("%s: heard %+v", what, all)
		}
	}
}

// has tells whether exactly these workflows, and what flags names, have changed.
func has(flags string, ids ...domain.WorkflowID) func(ports.Changes) bool {
	return func(c ports.Changes) bool {
		return slices.Equal(c.Workflows, ids) && !c.All && c.Timers == strings.Contains(flags, "t") && c.Messages == strings.Contains(flags, "m") &&
			c.Tasks == strings.Contains(flags, "k") && c.Replicas == strings.Contains(flags, "r")
	}
}

func TestServersHearWhatOthersChange(t *testing.T) { // engine 8
	t.Parallel()
	dsn := postgres.Database(t)
	one, two := openEar(t, dsn, "one of | them\x00"), openEar(t, dsn, "two")
	cs := chains(3)
	plain, odd := cs[0].next(), cs[1].next()
	noErrors(t, one.Append(t.Context(), []history.Commit{plain, odd}))
	two.wants(t, "two commits", has("", plain.WorkflowID, odd.WorkflowID))
	for flags, act := range map[string]history.Act{
		"t": history.TimerSet{Timer: history.Timer{WorkflowID: cs[0].id, RunID: cs[0].run}},
		"m": history.Posted{Message: history.Message{ID: "m", WorkflowID: cs[0].id}},
		"k": history.TaskAdded{Task: history.Task{Key: domain.AttemptKey{WorkflowID: cs[0].id, RunID: cs[0].run, ActivityID: 99}, State: history.TaskQueued}},
	} {
		c := cs[0].next()
		c.Acts = append(c.Acts, act)
		noErrors(t, one.Append(t.Context(), oneOf(c)))
		two.wants(t, flags, has(flags, c.WorkflowID))
	}
	if err := one.Park(t.Context(), []history.Claim{{Key: domain.AttemptKey{WorkflowID: cs[1].id, RunID: cs[1].run, Attempt: 1}}}); err != nil {
		t.Fatal(err)
	}
	two.wants(t, "a drain", has("k"))
	if _, err := one.RenewReplica(t.Context(), ports.Replica{ID: "one"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	two.wants(t, "a joining", has("r"))
	for range 2 { // says nothing
		if _, err := one.RenewReplica(t.Context(), ports.Replica{ID: "one"}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	refused := plain
	wantRefusal(t, one.Append(t.Context(), oneOf(refused))[0], domain.CodeSequenceConflict, "SequenceConflict")
	if err := one.LeaveReplica(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	two.wants(t, "a leaving, and before it nothing", func(c ports.Changes) bool {
		if !has("r")(c) {
			t.Errorf("heard %+v", c)
		}
		return true
	})
	third := cs[2].next()
	noErrors(t, two.Append(t.Context(), oneOf(third)))
	one.wants(t, "what another did, and not what it did itself", func(c ports.Changes) bool {
		if !has("", third.WorkflowID)(c) {
			t.Errorf("heard %+v", c)
		}
		return true
	})
}

// A notification holds less than 8,000 bytes; a large group is told in several, and a huge one as "anything".
func TestServersHearOfLargeGroups(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	one, two := openEar(t, dsn, "one"), openEar(t, dsn, "two")
	for _, size := range []int{256, 600} {
		var group []history.Commit
		missing := map[domain.WorkflowID]bool{}
		for n := range size {
			c := start(1000*size+n, fmt.Sprint(size, n), "")
			group = append(group, c)
			missing[c.WorkflowID] = true
		}
		noErrors(t, one.Append(t.Context(), group))
		two.wants(t, "all of them", func(c ports.Changes) bool {
			for _, id := range c.Workflows {
				delete(missing, id)
			}
			return c.All || len(missing) == 0
		})
	}
}

func TestAServerThatWasCutOffHearsAgain(t *testing.T) { // engine 8
	t.Parallel()
	dsn := postgres.Database(t)
	one := openEar(t, dsn, "one")
	host := connect(t, dsn).Config()
	link := postgres.Proxy(t, net.JoinHostPort(host.Host, fmt.Sprint(host.Port)))
	heard := make(chan ports.Changes, 1000)
	o := postgresOptions(t, changedDSN(t, dsn, func(u *url.URL) { u.Host = link.Addr() })).WithPatience(300 * time.Millisecond)
	o.Instance, o.Changed = "two", func(c ports.Changes) { heard <- c }
	two := ear{Store: mustOpenPostgres(t, o), heard: heard}
	all := func(c ports.Changes) bool { return c.All }
	two.wants(t, "at the beginning", all)
	link.Cut()
	if _, err := two.Head(t.Context(), "x"); domain.TypeOf(err) != "StoreUnavailable" {
		t.Error(err)
	}
	noErrors(t, one.Append(t.Context(), oneOf(start(1, "k", "")))) // nobody hears that
	link.Mend()
	two.wants(t, "that something was missed, or what", func(c ports.Changes) bool { return c.All || len(c.Workflows) > 0 })
	noErrors(t, one.Append(t.Context(), oneOf(start(2, "l", ""))))
	two.wants(t, "after that", func(c ports.Changes) bool { return slices.Contains(c.Workflows, workflowID(2)) })
}

func TestAServerThatLostItsHearingKnows(t *testing.T) { // engine 8
	t.Parallel()
	dsn := postgres.Database(t)
	one, two := openEar(t, dsn, "one"), openEar(t, dsn, "two")
	execute(t, dsn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN aion'`)
	all := func(c ports.Changes) bool { return c.All }
	one.wants(t, "one", all)
	two.wants(t, "two", all)
	c := chains(1)[0].next()
	noErrors(t, one.Append(t.Context(), oneOf(c)))
	two.wants(t, "after that", has("", c.WorkflowID))
}
