package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"
	"gorm.io/gorm"

	"aion/ports"
)

// Options say which file to open, and how. Path and Clock are required.
type Options struct {
	Path            string // in a private directory that exists
	Clock           ports.Clock
	Readers         int  // reading connections; 0: 4
	UnsafeNoFsync   bool // acknowledged means: handed to the operating system
	UnsafeNetworkFS bool // do not refuse a network file system
	CheckOnly       bool // refuse a schema that is not up to date (MigrationsPending) instead of bringing it there
	// Audited is told of each audit record; it must not wait. nil: nobody counts.
	Audited func(action, outcome string)
}

// Store implements every store port but the one for documents. It is safe for concurrent use.
type Store struct {
	clock    ports.Clock
	write    writes
	read     *gorm.DB
	pool     *sql.DB
	postgres *database                     // nil on SQLite
	alone    atomic.Pointer[ports.Replica] // who has joined on SQLite; nil: nobody

	mu     sync.Mutex
	lock   *lock
	closed atomic.Bool
}

// Open makes this process the owner of the store and brings its schema up to date. It refuses with CodeStoreLocked when
// another process owns it, and in one sentence with the fix when the place is not private, cannot be written, or holds
// something else, a newer schema or a damaged file. After an unclean stop the file is checked first.
func Open(ctx context.Context, o Options) (*Store, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, misplaced("%q is no path for a store", o.Path)
	}
	o.Path = path
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if err := checkPlace(o); err != nil {
		return nil, err
	}
	l, clean, err := takeLock(o.Path, o.Clock.Now())
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, o, clean)
	if err != nil {
		_ = l.release(clean) // what was unclean stays marked: the next start checks again
		return nil, err
	}
	s.lock = l
	return s, nil
}

func open(ctx context.Context, o Options, clean bool) (*Store, error) {
	if err := prepareFile(o.Path); err != nil {
		return nil, err
	}
	w, err := openWriter(o)
	if err != nil {
		return nil, atStart(ctx, o.Path, err)
	}
	if !clean {
		err = quickCheck(ctx, w, o.Path)
	}
	if err == nil {
		err = migrate(ctx, w, o)
	}
	if err != nil {
		_ = w.close()
		return nil, atStart(ctx, o.Path, err)
	}
	db, pool, err := openReaders(ctx, o)
	if err != nil {
		_ = w.close()
		return nil, atStart(ctx, o.Path, err)
	}
	return &Store{clock: o.Clock, write: w, read: db, pool: pool}, nil
}

// quickCheck reads the whole file, so it is left out after a clean stop.
func quickCheck(ctx context.Context, w *writer, path string) error {
	finding := make([]driver.Value, 1)
	err := w.transaction(ctx, func(t *tx) error {
		_, err := t.row(finding, `PRAGMA quick_check(1)`)
		return err
	})
	if err != nil {
		return err
	}
	if text, _ := finding[0].(string); text != "ok" {
		return corrupt(path, text)
	}
	return nil
}

// TryWrite writes something that changes nothing, and tells whether that is durable.
func (s *Store) TryWrite(ctx context.Context) error {
	return s.write.transaction(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE schema_migrations SET name = name WHERE version = 1`)
		return err
	})
}

// SetAddress tells other processes where this owner serves; empty: nowhere.
func (s *Store) SetAddress(address string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return closed()
	}
	if s.lock == nil { // on Postgres the lease says it
		return nil
	}
	s.lock.owner.Address = address
	if err := s.lock.write(); err != nil {
		return fault("the lock of the store cannot be written", err)
	}
	return nil
}

// Close waits for the change that is being written, then gives the store up. Calls after it are refused; a second Close
// does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return nil
	}
	s.closed.Store(true)
	// The writer goes last: closing the last connection moves the log into the file.
	err := errors.Join(s.pool.Close(), s.write.close())
	if s.lock != nil {
		err = errors.Join(err, s.lock.release(err == nil))
	}
	if err != nil {
		return fault("the store was not closed cleanly; its next start checks the file", err)
	}
	return nil
}

// atStart refuses a start; a file that SQLite cannot read as one is damaged.
func atStart(ctx context.Context, path string, err error) error {
	switch sqliteCode(err) {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return corrupt(path, err.Error())
	case sqlite3.ErrCantOpen, sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return unwritable(path, err)
	default:
		return refuse(ctx, err)
	}
}

// readError turns the error of a read into a refusal.
func (s *Store) readError(ctx context.Context, err error) error {
	if err != nil && s.closed.Load() {
		return closed()
	}
	if s.postgres != nil {
		return s.postgres.refuse(ctx, err)
	}
	return refuse(ctx, err)
}
