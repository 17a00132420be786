package bootstrap

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"aion/application/retention"
)

// checkKeeping judges how long data are kept.
func checkKeeping(c Config, add report) {
	const least = time.Hour
	if c.RetentionClosed != 0 && c.RetentionClosed < least {
		add("retention.closed", fmt.Sprintf("must be at least %s, or 0 for ever; got %s", least, c.RetentionClosed))
	}
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
