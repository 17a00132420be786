package runs_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/runs"
	"aion/ports"
)

// server 5.3, engine 3: a rehearsal names each open run that a start would pause, counts the others, and leaves ended ones alone.
func TestARehearsalNamesTheRunsThatDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, kept := approval("ask", 0), approval("kept", 0)
		w := newWorld(t, instant, p, kept, threeSteps())
		differs, same, ended := w.start("ask"), w.start("kept"), w.start("three")
		synctest.Wait()
		w.await(ended)
		w.stop()
		changed := approval("ask", 0)
		changed.Flow.Steps[1].Name = "renamed"
		changed.Flow.Steps[0].FallThrough = "renamed"
		store := memory.New(realtime{})
		for _, s := range []runs.Started{differs, same, ended} {
			copyWorkflow(t, w.backend, store, s.Run.WorkflowID)
		}
		if _, _, err := store.AddNamespace(context.Background(), ports.NamespaceRow{Name: "default", CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		catalogue := deployments.New(deployments.Deps{Store: store, Index: store, Clock: realtime{}})
		deployer := &world{t: t, catalogue: catalogue}
		deployer.deploy(changed)
		deployer.deploy(kept)
		var told int
		found, err := engine.Rehearse(context.Background(), engine.Past{
			Events: store, Index: store, Namespaces: store, Plans: catalogue,
		}, func(done int) { told = done })
		if err != nil || found.Runs != 2 || found.Differ != 1 || told != 2 {
			t.Fatalf("%+v %v, told %d", found, err, told)
		}
		if d := found.Differs[0]; d.WorkflowID != differs.Run.WorkflowID || d.RunID != differs.Run.RunID || !strings.HasPrefix(d.Fault, "nondeterminism: event 7") {
			t.Errorf("%+v", d)
		}
	})
}
