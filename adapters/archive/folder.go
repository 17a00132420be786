package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aion/domain"
	"aion/ports"
)

const (
	suffix   = ".tar"
	sums     = ".sha256" // beside a backup: the line of sha256sum
	dirMode  = 0o700
	fileMode = 0o600
)

// Folder implements ports.BackupFolder in a directory, which need not exist yet. It keeps the newest, Keep of them; 0: all.
type Folder struct {
	Dir  string
	Keep int
}

// Save implements ports.BackupFolder.
func (f Folder) Save(name string, at time.Time, write func(w ports.ArchiveWriter, scratch string) error) (ports.Backup, error) {
	if name == "" {
		name = Name(at)
	}
	s, err := save(filepath.Join(f.Dir, name), at, func(w *Writer, scratch string) error { return write(w, scratch) })
	if err == nil && f.Keep > 0 {
		err = prune(f.Dir, f.Keep)
	}
	return s, err
}

// Backups implements ports.BackupFolder.
func (f Folder) Backups() ([]ports.Backup, error) { return list(f.Dir) }

// Name is that of a backup of a time.
func Name(at time.Time) string { return "aion-" + at.UTC().Format("20060102T150405Z") + suffix }

// save writes a backup to a file that does not exist yet, and its hash beside it; the file is there whole or not at all. With
// scratch, write may put one further file into the folder.
func save(path string, at time.Time, write func(w *Writer, scratch string) error) (s ports.Backup, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return s, unwritable(err)
	}
	if _, err := os.Lstat(path); err == nil {
		return s, &domain.Error{Code: domain.CodeInvalidState, Type: "BackupExists", Message: filepath.Base(path) + " exists already; name another file"}
	}
	work, err := os.MkdirTemp(dir, ".aion-backup-*")
	if err != nil {
		return s, unwritable(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	f, err := os.OpenFile(filepath.Join(work, "new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return s, unwritable(err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if err := Stream(io.MultiWriter(f, sum), work, at, write); err != nil {
		return s, err
	}
	if err := f.Sync(); err != nil {
		return s, unwritable(err)
	}
	info, err := f.Stat()
	if err != nil {
		return s, unwritable(err)
	}
	s = ports.Backup{File: filepath.Base(path), Bytes: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil)), CreatedAt: at.UTC().Truncate(time.Second)}
	if err := os.Link(f.Name(), path); err != nil { // unlike a renaming it replaces nothing
		return s, unwritable(err)
	}
	if err := os.WriteFile(path+sums, fmt.Appendf(nil, "%s  %s\n", s.SHA256, s.File), fileMode); err != nil {
		return s, unwritable(err)
	}
	return s, unwritable(syncFolder(dir))
}

// Stream writes a backup to out; what has to be a file meanwhile lies in work.
func Stream(out io.Writer, work string, at time.Time, write func(w *Writer, scratch string) error) (err error) {
	w, err := NewWriter(out, work, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return write(w, filepath.Join(work, "store"))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// list gives the backups of a folder, the newest in front; none when there is no such folder.
func list(dir string) ([]ports.Backup, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unwritable(err)
	}
	var found []ports.Backup
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), suffix) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s := ports.Backup{File: e.Name(), Bytes: info.Size(), CreatedAt: info.ModTime().UTC().Truncate(time.Second)}
		if text, err := os.ReadFile(filepath.Join(dir, e.Name()+sums)); err == nil {
			if hash, _, ok := bytes.Cut(text, []byte("  ")); ok && len(hash) == 2*sha256.Size {
				s.SHA256 = string(hash)
			}
		}
		found = append(found, s)
	}
	slices.SortFunc(found, func(a, b ports.Backup) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(b.File, a.File)
	})
	return found, nil
}

// prune removes the oldest backups of a folder beyond a number. Files whose hash does not lie beside them are not ours.
func prune(dir string, keep int) error {
	all, err := list(dir)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s ports.Backup) bool { return s.SHA256 == "" })
	for _, s := range all[min(keep, len(all)):] {
		path := filepath.Join(dir, s.File)
		if err := errors.Join(os.Remove(path), os.Remove(path+sums)); err != nil {
			return unwritable(err)
		}
	}
	return nil
}
