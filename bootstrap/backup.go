package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"aion/adapters/archive"
	"aion/adapters/cli"
	"aion/adapters/gormstore"
	"aion/adapters/metrics"
	"aion/adapters/system"
	"aion/adapters/workspace"
	"aion/application/backups"
	"aion/domain"
	"aion/ports"
)

// names are those of the members of a backup.
func names() backups.Names {
	return backups.Names{Store: archive.StoreFile, Documents: archive.Documents, Table: archive.Table}
}

// source is what a backup of an open store is made of.
func (a *App) source() (backups.Source, error) {
	files, err := workspace.New(a.Config.WorkspaceDir)
	if err == nil && a.durable == nil {
		err = configRefusal("store.backend memory forgets everything at exit, so there is nothing to back up")
	}
	return backups.Source{
		Store: a.durable, Files: files, Names: names(), Version: version, Backend: a.Config.StoreBackend, Schema: gormstore.SchemaVersion(),
	}, err
}

// save makes a backup of an open store in a file; without one, in the folder of the configuration.
func (a *App) save(ctx context.Context, file string, portable bool) (saved ports.Backup, m ports.Manifest, err error) {
	from, err := a.source()
	if err != nil {
		return saved, m, err
	}
	now, folder, name := a.clock.Now(), a.folder(), ""
	if file != "" {
		name, folder = filepath.Base(file), archive.Folder{Dir: filepath.Dir(file)}
	}
	saved, err = folder.Save(name, now, func(w ports.ArchiveWriter, scratch string) (err error) {
		m, err = from.Create(ctx, w, scratch, portable, now)
		return err
	})
	return saved, m, err
}

func (a *App) folder() archive.Folder {
	return archive.Folder{Dir: a.Config.BackupDir, Keep: a.Config.BackupKeep}
}

// newBackups builds what makes the backups of a server.
func (a *App) newBackups() *backups.Service {
	from, err := a.source()
	if err != nil {
		from = backups.Source{} // it says so when it is asked for one
	}
	made := &atomic.Pointer[time.Time]{}
	if list, err := a.folder().Backups(); err == nil && len(list) > 0 {
		made.Store(&list[0].CreatedAt)
	}
	a.registry.WatchBackups(func() time.Time {
		if at := made.Load(); at != nil {
			return *at
		}
		return time.Time{}
	})
	return backups.New(backups.Deps{
		Source: from, Folder: a.folder(), Clock: a.clock, Audit: a.trail.Record, Made: func(at time.Time) { made.Store(&at) },
	})
}

// keeper implements cli.Keeper over the store of a configuration, which no other process may have open.
type keeper struct{ c Config }

func (b *backend) keeper(o cli.Open) (cli.Keeper, error) {
	c, err := b.load(o)
	if err != nil {
		return nil, err
	}
	return keeper{c}, nil
}

// opened gives the store of the configuration without a server around it.
func (k keeper) opened(ctx context.Context) (*App, error) {
	if err := makeHome(k.c.Home); err != nil {
		return nil, err
	}
	a := k.app()
	_, err := a.openStore(ctx)
	return a, err
}

// app is what opens the store of the configuration, and nothing else.
func (k keeper) app() *App {
	return &App{Config: k.c, clock: system.Clock{}, registry: metrics.New(), instance: system.IDs{}.UUIDv7()}
}

// Create implements cli.Keeper.
func (k keeper) Create(ctx context.Context, file string, out io.Writer, portable bool) (made cli.Made, err error) {
	a, err := k.opened(ctx)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, a.closeStore()) }()
	if file == "-" {
		return made, k.stream(ctx, a, out, portable)
	}
	saved, m, err := a.save(ctx, file, portable)
	if file == "" {
		file = filepath.Join(k.c.BackupDir, saved.File)
	}
	return cli.Made{File: file, Bytes: saved.Bytes, SHA256: saved.SHA256, Heads: m.Heads}, err
}

func (k keeper) stream(ctx context.Context, a *App, out io.Writer, portable bool) (err error) {
	from, err := a.source()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "aion-backup-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	now := a.clock.Now()
	return archive.Stream(out, work, now, func(w *archive.Writer, scratch string) error {
		_, err := from.Create(ctx, w, scratch, portable, now)
		return err
	})
}

// Verify implements cli.Keeper.
func (k keeper) Verify(ctx context.Context, file string) (report backups.Report, err error) {
	u, err := unpack(ctx, file, "")
	if err != nil {
		return report, err
	}
	return u.report, u.close()
}

// Check implements cli.Keeper.
func (k keeper) Check(ctx context.Context) (report backups.Report, err error) {
	a, err := k.opened(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, a.closeStore()) }()
	from, err := a.source()
	if err != nil {
		return report, err
	}
	return backups.Verify(ctx, from.Store, from.Files, nil)
}

// unpacked is a backup that was read and verified, as a store of its own below a directory.
type unpacked struct {
	dir    string
	path   string // of the store
	store  *gormstore.Store
	files  *workspace.Workspace
	report backups.Report
}

// unpack reads a backup into a directory below another one (empty: that of temporary files) and verifies it.
func unpack(ctx context.Context, file, below string) (_ *unpacked, err error) {
	dir, err := os.MkdirTemp(below, ".aion-unpacked-*")
	if err != nil {
		return nil, err
	}
	u := &unpacked{dir: dir, path: filepath.Join(dir, filepath.FromSlash(archive.StoreFile))}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.close())
		}
	}()
	m, err := archive.Extract(ctx, file, dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(u.path), 0o700); err != nil {
		return nil, err
	}
	if u.files, err = workspace.New(filepath.Join(dir, filepath.FromSlash(archive.Documents))); err != nil {
		return nil, err
	}
	// A power cut ends the reading of a backup, and it begins again.
	if u.store, err = gormstore.Open(ctx, gormstore.Options{Path: u.path, Clock: system.Clock{}, UnsafeNoFsync: true, UnsafeNetworkFS: true}); err != nil {
		return nil, err
	}
	if m.Portable {
		next, stop := archive.Rows(dir, m)
		defer stop()
		if err := u.store.Load(ctx, next); err != nil {
			return nil, err
		}
	}
	if u.report, err = backups.Verify(ctx, u.store, u.files, m.Heads); err != nil {
		return nil, err
	}
	if m.Portable && !maps.Equal(m.Counts, u.report.Rows) {
		return nil, backupBroken("its tables have other numbers of rows than its manifest says")
	}
	if n := documentsOf(m); n != u.report.Documents {
		return nil, backupBroken(fmt.Sprintf("of %d files of the workspace %d are such", n, u.report.Documents))
	}
	return u, nil
}

func documentsOf(m ports.Manifest) (n int64) {
	for _, member := range m.Members {
		if len(member.Name) > len(archive.Documents) && member.Name[:len(archive.Documents)] == archive.Documents {
			n++
		}
	}
	return n
}

func backupBroken(how string) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "BackupBroken", Message: "the backup is broken: " + how + "; take another one"}
}

func (u *unpacked) close() (err error) {
	if u.store != nil {
		err = u.store.Close()
		u.store = nil
	}
	return errors.Join(err, os.RemoveAll(u.dir))
}

// Restore implements cli.Keeper.
func (k keeper) Restore(ctx context.Context, file string, replace bool) (report backups.Report, aside []string, err error) {
	if err := makeHome(k.c.Home); err != nil {
		return report, nil, err
	}
	below := ""
	switch {
	case k.c.StoreBackend == backendMemory:
		return report, nil, configRefusal("store.backend memory forgets everything at exit; restore into sqlite or postgres")
	case k.c.StoreBackend == backendPostgres && replace:
		return report, nil, configRefusal("--replace moves files; give Postgres an empty database, and name it in store.dsn")
	case k.c.StoreBackend == backendSQLite:
		below = filepath.Dir(k.c.StorePath)
	}
	u, err := unpack(ctx, file, below)
	if err != nil {
		return report, nil, err
	}
	defer func() { err = errors.Join(err, u.close()) }()
	suffix := ""
	if replace {
		suffix = ".before-" + time.Now().UTC().Format("20060102T150405Z")
	}
	files, err := workspace.New(k.c.WorkspaceDir)
	if err != nil {
		return report, nil, err
	}
	if !replace {
		if err := filesEmpty(ctx, files, k.c.WorkspaceDir); err != nil {
			return report, nil, err
		}
	}
	if err := k.put(ctx, u, suffix); err != nil {
		return report, nil, err
	}
	if replace {
		aside = append(aside, k.c.StorePath+suffix)
		if err := os.Rename(k.c.WorkspaceDir, k.c.WorkspaceDir+suffix); err == nil {
			aside = append(aside, k.c.WorkspaceDir+suffix)
		} else if !errors.Is(err, os.ErrNotExist) {
			return report, aside, err
		}
	}
	err = u.files.Files(ctx, func(path string, body []byte) error { return files.PutFile(ctx, path, body) })
	if err != nil {
		return report, aside, err
	}
	want := u.report
	if report, err = k.Check(ctx); err == nil && report.SHA256 != want.SHA256 {
		err = backupBroken("what was restored differs from it")
	}
	return report, slices.Compact(aside), err
}

// put makes the store of the configuration what the backup says.
func (k keeper) put(ctx context.Context, u *unpacked, suffix string) error {
	if k.c.StoreBackend == backendSQLite {
		if err := u.store.Close(); err != nil { // all of it is in the one file now
			return err
		}
		u.store = nil
		o := gormstore.Options{Path: k.c.StorePath, Clock: system.Clock{}, UnsafeNetworkFS: k.c.StoreUnsafeNetworkFS}
		return gormstore.Replace(ctx, o, u.path, suffix)
	}
	a, err := k.opened(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = a.closeStore() }()
	if others, err := a.durable.Replicas(ctx); err != nil || len(others) > 0 {
		return errors.Join(err, configRefusal("%d servers work on the database; stop them first", len(others)))
	}
	var failed error
	next, stop := iter.Pull2(func(yield func(string, []byte) bool) {
		failed = u.store.Dump(ctx, func(table string, line []byte) error {
			if !yield(table, slices.Clone(line)) {
				return errStopped
			}
			return nil
		})
	})
	defer stop()
	return a.durable.Load(ctx, func() (string, []byte, error) {
		table, line, more := next()
		switch {
		case more:
			return table, line, nil
		case failed != nil:
			return "", nil, failed
		}
		return "", nil, io.EOF
	})
}

// filesEmpty refuses a workspace that holds documents.
func filesEmpty(ctx context.Context, files ports.FileStore, dir string) error {
	return files.Files(ctx, func(path string, _ []byte) error {
		return &domain.Error{
			Code: domain.CodeInvalidState, Type: "StoreNotEmpty",
			Message: fmt.Sprintf("the workspace %s holds documents already (%s); name another one, or pass --replace to move it aside", dir, domain.Quote(path, 240)),
		}
	})
}
