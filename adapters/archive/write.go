package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"aion/domain"
	"aion/ports"
)

// The names of members.
const (
	manifestName = "manifest.json"
	// StoreFile is the SQLite part.
	StoreFile = "store/aion.db"
	// Documents is the folder of the workspace's files.
	Documents = "documents/"
	tables    = "store/"
	rows      = ".jsonl"
)

// Table is the member with the rows of a table.
func Table(name string) string { return tables + name + rows }

// Writer implements ports.ArchiveWriter. It is used by one goroutine.
type Writer struct {
	out     *tar.Writer
	at      time.Time
	spool   *os.File // the member that is being written: a tar names the size first
	name    string   // of that member; empty: none
	members []ports.Member
}

// NewWriter writes to out; members of unknown size wait in a file without a name in dir. Close frees it.
func NewWriter(out io.Writer, dir string, at time.Time) (*Writer, error) {
	spool, err := os.CreateTemp(dir, ".aion-spool-*")
	if err != nil {
		return nil, unwritable(err)
	}
	if err := os.Remove(spool.Name()); err != nil {
		_ = spool.Close()
		return nil, unwritable(err)
	}
	return &Writer{out: tar.NewWriter(out), at: at.UTC().Truncate(time.Second), spool: spool}, nil
}

// Member implements ports.ArchiveWriter.
func (w *Writer) Member(name string) (io.Writer, error) {
	if err := w.end(); err != nil {
		return nil, err
	}
	w.name = name
	return w.spool, nil
}

// end moves the member that was written into the archive.
func (w *Writer) end() error {
	if w.name == "" {
		return nil
	}
	name := w.name
	w.name = ""
	size, err := w.spool.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = w.spool.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = w.add(name, size, w.spool)
	}
	if err == nil {
		err = w.spool.Truncate(0)
	}
	if err == nil {
		_, err = w.spool.Seek(0, io.SeekStart)
	}
	return unwritable(err)
}

// AddFile implements ports.ArchiveWriter.
func (w *Writer) AddFile(name, file string) (err error) {
	if err := w.end(); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return unwritable(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return unwritable(err)
	}
	return unwritable(w.add(name, info.Size(), f))
}

func (w *Writer) add(name string, size int64, from io.Reader) error {
	if err := w.header(name, size); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(w.out, sum), from, size); err != nil {
		return err
	}
	w.members = append(w.members, ports.Member{Name: name, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

func (w *Writer) header(name string, size int64) error {
	return w.out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.at, Format: tar.FormatPAX})
}

// Finish implements ports.ArchiveWriter.
func (w *Writer) Finish(m ports.Manifest) error {
	if err := w.end(); err != nil {
		return err
	}
	m.Members = w.members
	text, err := encode(m)
	if err != nil {
		return err
	}
	if err := w.header(manifestName, int64(len(text))); err != nil {
		return unwritable(err)
	}
	if _, err := w.out.Write(text); err != nil {
		return unwritable(err)
	}
	return unwritable(w.out.Close())
}

// Close frees what the writer holds.
func (w *Writer) Close() error { return w.spool.Close() }

// signed is a manifest with the hash of its other members, so that a changed one is found, too.
type signed struct {
	ports.Manifest
	SHA256 string `json:"sha256"`
}

// encode writes a manifest in its one form.
func encode(m ports.Manifest) ([]byte, error) {
	bare, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	text, err := json.MarshalIndent(signed{m, fmt.Sprintf("%x", sha256.Sum256(bare))}, "", "  ")
	return append(text, '\n'), err
}

func unwritable(err error) error {
	var refusal *domain.Error
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return domain.Unavailable("BackupUnwritable", "the backup cannot be written: "+err.Error()+"; free space, or name another place", err)
}
