package main

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/mattn/go-sqlite3" // the SQLite that the store uses
)

// machine measures the two limits that everything else is held against.
func (b *bench) machine(ctx context.Context) error {
	plain, err := openPlain(ctx, b.place("plain.db"))
	if err != nil {
		return err
	}
	defer plain.close()
	var rates, latencies []float64
	forks := map[int][]float64{}
	for range b.pick(3, 1) {
		rate, each, err := plain.commits(ctx, time.Duration(b.pick(2000, 300))*time.Millisecond)
		if err != nil {
			return err
		}
		rates, latencies = append(rates, rate), append(latencies, each...)
		for _, parallel := range []int{1, 8} {
			rate, err := spawns(ctx, parallel, b.pick(1000, 100))
			if err != nil {
				return err
			}
			forks[parallel] = append(forks[parallel], rate)
		}
	}
	b.out.figure("single-row commits (WAL, synchronous=FULL)", "%.0f/s %s", median(rates), spread(rates))
	b.out.figure("one such commit", "p50 %.0f us, p99 %.0f us", quantile(latencies, 0.5), quantile(latencies, 0.99))
	b.out.figure("fork and exec of /bin/true, one at a time", "%.0f/s %s", median(forks[1]), spread(forks[1]))
	b.out.figure("fork and exec of /bin/true, 8 in parallel", "%.0f/s %s", median(forks[8]), spread(forks[8]))
	return nil
}

// plainStore is a database without aion: one connection, one table, one row per transaction.
type plainStore struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openPlain(ctx context.Context, path string) (*plainStore, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	return newPlain(ctx, db, `CREATE TABLE facts (id INTEGER PRIMARY KEY, data BLOB NOT NULL)`, `INSERT INTO facts (data) VALUES (?)`)
}

func newPlain(ctx context.Context, db *sql.DB, table, insert string) (*plainStore, error) {
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, err
	}
	prepared, err := db.PrepareContext(ctx, insert)
	return &plainStore{db: db, insert: prepared}, err
}

func (p *plainStore) close() {
	_ = p.insert.Close()
	_ = p.db.Close()
}

// commit stores one row of 100 bytes durably.
func (p *plainStore) commit(ctx context.Context) error {
	_, err := p.insert.ExecContext(ctx, make([]byte, 100))
	return err
}

// commits stores rows one after the other for a time; each is how long every single one took, in microseconds.
func (p *plainStore) commits(ctx context.Context, limit time.Duration) (perSecond float64, each []float64, err error) {
	began := time.Now()
	for at := began; at.Sub(began) < limit; {
		if err := p.commit(ctx); err != nil {
			return 0, nil, err
		}
		now := time.Now()
		each = append(each, micros(now.Sub(at)))
		at = now
	}
	return float64(len(each)) / time.Since(began).Seconds(), each, nil
}

// spawns starts and awaits n processes, so many at a time.
func spawns(ctx context.Context, parallel, n int) (perSecond float64, err error) {
	var wait sync.WaitGroup
	var started atomic.Int64
	var failed atomic.Pointer[error]
	began := time.Now()
	for range parallel {
		wait.Go(func() {
			for started.Add(1) <= int64(n) {
				if err := exec.CommandContext(ctx, "/bin/true").Run(); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// fileSystemOf names the file system that a directory lies on.
func fileSystemOf(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", err
	}
	names := map[int64]string{0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs", 0x794c7630: "overlayfs", 0x2fc12fc1: "zfs", 0xf2f52010: "f2fs"}
	if name, ok := names[st.Type]; ok {
		return name, nil
	}
	return fmt.Sprintf("file system %#x", st.Type), nil
}
