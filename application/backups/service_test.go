package backups_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/adapters/system"
	"aion/adapters/workspace"
	"aion/application/backups"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// slow is a folder in which a backup waits.
type slow struct {
	begun chan struct{}
	goOn  chan struct{}
}

func (f slow) Save(_ string, at time.Time, _ func(ports.ArchiveWriter, string) error) (ports.Backup, error) {
	f.begun <- struct{}{}
	<-f.goOn
	return ports.Backup{File: "x.tar", CreatedAt: at}, nil
}

func (slow) Backups() ([]ports.Backup, error) { return nil, nil }

// server 1.2: one backup at a time.
func TestASecondBackupIsRefusedWhileOneIsMade(t *testing.T) {
	t.Parallel()
	s, err := gormstore.Open(t.Context(), gormstore.Options{Path: copied(t, ran(t)), Clock: system.Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	folder := slow{make(chan struct{}), make(chan struct{})}
	service := backups.New(backups.Deps{
		Source: backups.Source{Store: s}, Folder: folder, Clock: system.Clock{},
		Audit: func(context.Context, domain.AuditRecord) error { return nil },
	})
	done := make(chan error, 1)
	go func() {
		_, err := service.Create(t.Context(), access.Operator(""), "")
		done <- err
	}()
	<-folder.begun
	var e *domain.Error
	if _, err := service.Create(t.Context(), access.Operator(""), ""); !errors.As(err, &e) || e.Type != "BackupRunning" || e.Code != domain.CodeInvalidState {
		t.Error(err)
	}
	close(folder.goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// full is an archive on a disk that is full after some writes.
type full struct{ left int }

func (f *full) Member(string) (io.Writer, error) { return f, nil }
func (f *full) AddFile(string, string) error     { return nil }
func (f *full) Finish(ports.Manifest) error      { return nil }
func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// A backup that cannot be written is refused and leaves the store usable.
func TestABackupThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	s, err := gormstore.Open(t.Context(), gormstore.Options{Path: copied(t, ran(t)), Clock: system.Clock{}, Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	files, err := workspace.New("")
	if err != nil {
		t.Fatal(err)
	}
	from := backups.Source{Store: s, Files: files, Names: backups.Names{Table: func(name string) string { return name }}}
	for left := range 20 {
		_, err := from.Create(t.Context(), &full{left}, filepath.Join(t.TempDir(), "x"), true, time.Now())
		if domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("after %d writes: %v", left, err)
		}
	}
	if m, err := from.Create(t.Context(), &full{1000}, "", true, time.Now()); err != nil || m.Counts["workflows"] != 2 || !m.Portable {
		t.Error(m, err)
	}
}
