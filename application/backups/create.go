// Package backups makes backups and says whether a store holds what it should (server 5.8). It knows neither the file format
// nor where the files lie.
package backups

import (
	"context"
	"io"
	"time"

	"aion/domain"
	"aion/ports"
)

// Store is what a backup is made of.
type Store interface {
	ports.DumpStore
	ports.EventStore
	ports.RunIndex
	ports.DeploymentStore
	ports.AuditLog
}

// Names are those of the members that a backup has besides its tables.
type Names struct {
	Store     string                    // the file that the store copies itself to
	Documents string                    // in front of the paths of the workspace
	Table     func(table string) string // the rows of a table
}

// Source is where a backup comes from, with what its manifest says of it.
type Source struct {
	Store   Store
	Files   ports.FileStore
	Names   Names
	Version string
	Backend string
	Schema  int
}

// Create writes a backup of a running store: one moment of it, and then the files of the workspace. Scratch is a file that does
// not exist, for the store's own copy; a portable backup has rows instead, which any kind of store can load.
func (s Source) Create(ctx context.Context, w ports.ArchiveWriter, scratch string, portable bool, now time.Time) (ports.Manifest, error) {
	m := ports.Manifest{Format: 1, CreatedAt: now.UTC().Truncate(time.Second), Version: s.Version, Backend: s.Backend, Portable: portable}
	heads, err := s.Store.AuditHeads(ctx) // before the moment, so that all of them are in it
	if err != nil {
		return m, err
	}
	m.Heads = heads
	if !portable {
		own, err := s.Store.Copy(ctx, scratch)
		if err == nil && own {
			m.Schema, err = s.Schema, w.AddFile(s.Names.Store, scratch)
		}
		if err != nil {
			return m, err
		}
		m.Portable = !own
	}
	if m.Portable {
		if m.Counts, err = s.dump(ctx, w); err != nil {
			return m, err
		}
	}
	err = s.Files.Files(ctx, func(path string, body []byte) error {
		out, err := w.Member(s.Names.Documents + path)
		if err == nil {
			_, err = out.Write(body)
		}
		return err
	})
	if err != nil {
		return m, err
	}
	return m, w.Finish(m)
}

// dump writes every table into a member of its own, a row a line.
func (s Source) dump(ctx context.Context, w ports.ArchiveWriter) (map[string]int64, error) {
	counts := map[string]int64{}
	var out io.Writer
	var open string
	err := s.Store.Dump(ctx, func(table string, line []byte) (err error) {
		if table != open {
			if out, err = w.Member(s.Names.Table(table)); err != nil {
				return err
			}
			open = table
		}
		counts[table]++
		if _, err = out.Write(line); err == nil {
			_, err = io.WriteString(out, "\n")
		}
		if err != nil {
			return domain.Unavailable("BackupUnwritable", "the backup cannot be written: "+err.Error()+"; free space, or name another place", err)
		}
		return nil
	})
	return counts, err
}
