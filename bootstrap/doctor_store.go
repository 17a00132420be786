package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aion/adapters/cli"
	"aion/adapters/gormstore"
	"aion/adapters/system"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/domain"
)

const (
	leastFree   = 1 << 30 // bytes of a healthy disk
	slowSync    = 100 * time.Millisecond
	syncSamples = 5
)

func (d *doctor) store(ctx context.Context) []cli.Finding {
	switch d.c.StoreBackend {
	case backendMemory:
		return []cli.Finding{cli.Warn("store.backend is memory: everything is forgotten at exit", "")}
	case backendPostgres:
		x, err := gormstore.ExaminePostgres(ctx, d.postgres())
		if err != nil {
			return []cli.Finding{cli.Fail(err, "")}
		}
		return []cli.Finding{schemaFinding("the database answers", x)}
	}
	path := d.c.StorePath
	if _, err := os.Lstat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) && filepath.Dir(path) == d.c.Home {
		return []cli.Finding{cli.Warn("there is no store yet; the first start makes it", "aion server")}
	}
	x, err := gormstore.Examine(ctx, path, true)
	if err != nil {
		return []cli.Finding{cli.Fail(err, "")}
	}
	return append([]cli.Finding{d.state(x)}, d.disk(x)...)
}

func (d *doctor) postgres() gormstore.PostgresOptions {
	return gormstore.PostgresOptions{DSN: string(d.c.StoreDSN), SimpleProtocol: d.c.StoreSimpleProtocol, MaxConnections: 2}
}

// state tells whose the store is, and how its file stands.
func (d *doctor) state(x gormstore.Examination) cli.Finding {
	path := d.c.StorePath
	switch {
	case x.Unclean:
		return cli.Warn(path+" was left by an owner that ended without closing it; the next start checks it whole", "aion server")
	case !x.Exists:
		return cli.Warn("there is no store at "+path+" yet; the first start makes it", "aion server")
	}
	who := "nobody has it open"
	if x.Owner.PID != 0 {
		who = fmt.Sprintf("open in process %d", x.Owner.PID)
		if x.Owner.Address != "" {
			who += " at " + x.Owner.Address
		}
	}
	return schemaFinding(fmt.Sprintf("%s: %d KiB, whole, %s", path, (x.Bytes+1023)/1024, who), x)
}

func schemaFinding(detail string, x gormstore.Examination) cli.Finding {
	if x.Schema < x.Known {
		return cli.Warn(fmt.Sprintf("%s; schema %d, which the next start of this program brings to %d: back up first", detail, x.Schema, x.Known), "")
	}
	return cli.OK(fmt.Sprintf("%s, schema %d", detail, x.Schema))
}

// disk measures what the store writes to.
func (d *doctor) disk(x gormstore.Examination) []cli.Finding {
	var list []cli.Finding
	dir := filepath.Dir(d.c.StorePath)
	if x.NetworkFS != "" {
		finding := cli.Warn("the store is on a network file system ("+x.NetworkFS+"), where locks and fsync cannot be relied on", "")
		if !d.c.StoreUnsafeNetworkFS {
			finding.Status = cli.StatusFail
		}
		list = append(list, finding)
	}
	if least := max(leastFree, 2*x.Bytes); x.Free > 0 && x.Free < least {
		list = append(list, cli.Warn(fmt.Sprintf("the disk of %s has %d MiB left; %d MiB are wanted: at least 1 GiB, and twice the store", dir, x.Free>>20, least>>20), "df -h "+dir))
	}
	took, err := syncTime(dir)
	if err != nil {
		return append(list, cli.Fail(homeUnwritable(dir, err), ""))
	}
	detail := fmt.Sprintf("a durable write takes %s, %d MiB are free", took.Round(10*time.Microsecond), x.Free>>20)
	if took > slowSync {
		return append(list, cli.Warn(detail+"; each step of a run waits for several", ""))
	}
	return append(list, cli.OK(detail))
}

// syncTime is the median time of a small write that is on the disk afterwards.
func syncTime(dir string) (took time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".sync-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	times := make([]time.Duration, syncSamples)
	for i := range times {
		began := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[syncSamples/2], nil
}

// auditChain verifies the log of a store that nobody has open; a running server is asked for its own.
func (d *doctor) auditChain(ctx context.Context) []cli.Finding {
	if d.c.StoreBackend != backendSQLite {
		return []cli.Finding{cli.Warn("not looked at: a running server verifies the log of this store", "aion audit verify")}
	}
	x, err := gormstore.Examine(ctx, d.c.StorePath, false)
	switch {
	case err != nil, x.Unclean, x.Owner.PID != 0, x.Exists && x.Schema != x.Known:
		return []cli.Finding{cli.Warn("not looked at: see the store", "aion audit verify")}
	case !x.Exists:
		return []cli.Finding{cli.OK("there is no store yet")}
	}
	log, err := d.audit(ctx, d.open)
	if err != nil {
		return []cli.Finding{cli.Fail(err, "")}
	}
	trail, err := log.Verify(ctx)
	if err = errors.Join(err, log.Close()); err != nil {
		return []cli.Finding{cli.Fail(err, "aion audit verify")}
	}
	return []cli.Finding{cli.OK(fmt.Sprintf("%d records in %d chains hold", trail.Count(), len(trail.Heads())))}
}

// replay folds every open history with this program, as its next start would. A SQLite store is copied for it, whoever has
// it open: the copy is brought to this program's schema.
func (d *doctor) replay(ctx context.Context, each func(done int)) (list []cli.Finding, err error) {
	if d.wrong != nil {
		return nil, d.wrong
	}
	st, done, err := d.rehearsed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	found, err := engine.Rehearse(ctx, engine.Past{
		Events: st, Index: st, Namespaces: st, HistoryLimit: d.c.EngineHistoryLimit,
		Plans: deployments.New(deployments.Deps{Store: st, Index: st, Clock: st.Clock()}),
	}, each)
	if err != nil {
		return nil, err
	}
	for _, r := range found.Differs {
		list = append(list, cli.Fail(fmt.Errorf("run %s of workflow %s in %s: %s", r.RunID, r.WorkflowID, r.Namespace, r.Fault),
			"aion history "+string(r.WorkflowID)+" -n "+string(r.Namespace)))
	}
	if more := found.Differ - len(found.Differs); more > 0 {
		list = append(list, cli.Fail(fmt.Errorf("%d more runs differ", more), ""))
	}
	if found.Differ == 0 {
		list = append(list, cli.OK(fmt.Sprintf("%d open runs fold as they were recorded", found.Runs)))
	}
	return list, nil
}

// rehearsed is the store to rehearse on, and what ends that.
func (d *doctor) rehearsed(ctx context.Context) (*gormstore.Store, func() error, error) {
	clock := system.Clock{}
	switch d.c.StoreBackend {
	case backendMemory:
		return nil, nil, configRefusal("store.backend is memory: a server that has ended left no history")
	case backendPostgres:
		x, err := gormstore.ExaminePostgres(ctx, d.postgres())
		if err != nil {
			return nil, nil, err
		}
		if x.Schema != x.Known {
			return nil, nil, configRefusal("the database has schema %d and this program would bring it to %d; restore a backup into another database and rehearse there", x.Schema, x.Known)
		}
		o := d.postgres()
		o.Clock, o.Instance = clock, "doctor"
		st, err := gormstore.OpenPostgres(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return st, st.Close, nil
	}
	if x, err := gormstore.Examine(ctx, d.c.StorePath, false); err != nil {
		return nil, nil, err
	} else if !x.Exists && !x.Unclean {
		return nil, nil, &domain.Error{Code: domain.CodeNotFound, Type: "StoreMissing", Message: "there is no store at " + d.c.StorePath}
	}
	dir, err := os.MkdirTemp(filepath.Dir(d.c.StorePath), ".replay-*")
	if err != nil {
		return nil, nil, homeUnwritable(filepath.Dir(d.c.StorePath), err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	copied := filepath.Join(dir, "aion.db")
	if err := gormstore.CopyStore(ctx, d.c.StorePath, copied); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	st, err := gormstore.Open(ctx, gormstore.Options{Path: copied, Clock: clock, UnsafeNoFsync: true, UnsafeNetworkFS: true})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return st, func() error { return errors.Join(st.Close(), remove()) }, nil
}
