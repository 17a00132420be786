package bootstrap

import (
	"context"
	"os"

	"aion/adapters/metrics"
	"aion/adapters/shell"
	"aion/adapters/web"
	"aion/application/actions"
	"aion/application/transcripts"
	"aion/ports"
)

// policy is what this server refuses to run, for those who deploy.
func (a *App) policy(bodies actions.Bodies) actions.Policy {
	p := actions.Policy{Bodies: bodies, Root: a.Config.ActionsWorkspaceRoot, Path: os.Getenv("PATH"), Admits: func(string, string) bool { return true }}
	if a.executor != nil {
		p.Admits = a.executor.Admits
	}
	return p
}

// actionWarnings are what an operator should know about how commands run.
func (a *App) actionWarnings() []string {
	if a.executor == nil || a.Config.ActionsDeclaredBodies != string(actions.BodiesOn) {
		return nil
	}
	list := a.executor.Warnings()
	if a.Config.AuthMode != modeOff && a.executor.Isolation() == shell.NoIsolation {
		list = append(list, "actions.run_as is not set: commands run as the server's own user and can read its store, its keys and its "+
			"memory, whoever may deploy")
	}
	return list
}

// actionChecks tell how commands are kept apart from the server, and whether one could not be ended. Neither makes a
// server unready: another one would be no better.
func (a *App) actionChecks() []web.Check {
	if a.executor == nil {
		return nil
	}
	holds := func(context.Context) error { return nil }
	return []web.Check{
		{Name: "actions.isolation", Probe: holds, Note: a.executor.Isolation},
		{Name: "actions.containment", Probe: holds, Note: func() string {
			if left := a.executor.Stuck(); left != "" {
				return "containment_failed: processes of commands could not be ended: " + left
			}
			return a.executor.Containment()
		}},
	}
}

// sources are where the metrics of actions look.
func (a *App) sources(publisher *transcripts.Publisher, queues ports.QueueStore) metrics.Sources {
	return metrics.Sources{
		Running: a.dispatcher.Running, Queues: queues.Depths, Now: a.clock.Now,
		Leases:      a.leases,
		Transcripts: func() metrics.Transcripts { return metrics.Transcripts(publisher.Counts()) },
		Processes: func() metrics.Processes {
			if a.executor == nil {
				return metrics.Processes{}
			}
			return metrics.Processes(a.executor.Counts())
		},
	}
}
