package bootstrap

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"aion/adapters/cli"
	"aion/adapters/gormstore"
	"aion/application/audit"
	"aion/application/retention"
)

// checkKeeping judges how long data are kept.
func checkKeeping(c Config, add report) {
	const least = time.Hour
	kept := func(key string, d time.Duration) {
		if d != 0 && d < least {
			add(key, fmt.Sprintf("must be at least %s, or 0 for ever; got %s", least, d))
		}
	}
	kept("retention.closed", c.RetentionClosed)
	kept("audit.retention", c.AuditRetention)
	inside := func(dir, of string) bool {
		rel, err := filepath.Rel(of, dir)
		return err == nil && filepath.IsLocal(rel)
	}
	switch {
	case c.BackupDir == "":
		add("backup.dir", "must name a directory; got an empty value")
	case c.WorkspaceDir != "" && inside(c.BackupDir, c.WorkspaceDir):
		add("backup.dir", fmt.Sprintf("must not lie inside authoring.workspace_dir (%s); got %s", c.WorkspaceDir, c.BackupDir))
	}
}

// newRetention builds what removes closed workflows. Of several servers it is the one that looks after the first shard.
func (a *App) newRetention(st store) *retention.Service {
	d := retention.Deps{Store: st, Clock: a.clock, Logger: a.log, Keep: a.Config.RetentionClosed, Removed: a.registry.WorkflowsRemoved}
	if a.others.shared {
		d.Mine = func() bool { return slices.Contains(a.shards(), 0) }
	}
	return retention.New(d)
}

// expiry is how audit records go. Of several servers one removes them, and none of a server that may live.
func (a *App) expiry(st store) audit.Expiry {
	e := audit.Expiry{Store: st, Keep: a.Config.AuditRetention}
	if a.others.shared {
		e.Mine = func() bool { return slices.Contains(a.shards(), 0) }
		e.Living = func(ctx context.Context) (chains []string, err error) {
			others, err := st.Replicas(ctx)
			for _, r := range others {
				chains = append(chains, r.ID)
			}
			return chains, err
		}
	}
	return e
}

func (a *App) sqliteOptions() gormstore.Options {
	c := a.Config
	return gormstore.Options{
		Path: c.StorePath, Clock: a.clock, Readers: c.StoreReaders, CheckOnly: c.StoreMigrate == "check",
		UnsafeNoFsync: c.StoreUnsafeNoFsync, UnsafeNetworkFS: c.StoreUnsafeNetworkFS, Audited: a.registry.Audited,
	}
}

func (a *App) postgresOptions() gormstore.PostgresOptions {
	c := a.Config
	return gormstore.PostgresOptions{
		DSN: string(c.StoreDSN), MaxConnections: c.StoreMaxConnections, SimpleProtocol: c.StoreSimpleProtocol, UnsafeNoFsync: c.StoreUnsafeNoFsync,
		CheckOnly: c.StoreMigrate == "check", Clock: a.clock, Instance: a.instance, Changed: a.others.changed, Audited: a.registry.Audited,
	}
}

// Migrate implements cli.Keeper.
func (k keeper) Migrate(ctx context.Context, only bool) (present int64, due []cli.Migration, err error) {
	if err := makeHome(k.c.Home); err != nil {
		return 0, nil, err
	}
	k.c.StoreMigrate = "auto"
	a := k.app()
	var steps []gormstore.Migration
	switch k.c.StoreBackend {
	case backendMemory:
		return 0, nil, configRefusal("store.backend memory forgets everything at exit; it has no schema to bring up to date")
	case backendPostgres:
		present, steps, err = gormstore.PlanPostgres(ctx, a.postgresOptions())
	default:
		present, steps, err = gormstore.Plan(ctx, a.sqliteOptions())
	}
	for _, m := range steps {
		due = append(due, cli.Migration(m))
	}
	if err != nil || only {
		return present, due, err
	}
	if _, err = a.openStore(ctx); err == nil {
		err = a.closeStore()
	}
	return present, due, err
}
