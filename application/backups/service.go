package backups

import (
	"context"
	"regexp"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// Deps is what the service needs. Source's store may be nil: then there is nothing to back up, and every backup is refused.
// Made is told when one was made, and must not wait; nil: nobody is.
type Deps struct {
	Source Source
	Folder ports.BackupFolder
	Clock  ports.Clock
	Audit  func(context.Context, domain.AuditRecord) error
	Made   func(at time.Time)
}

// Service makes backups of the store that a server works on, into its folder. It is safe for concurrent use.
type Service struct {
	Deps
	one sync.Mutex // held while a backup is made
}

// New gives a service.
func New(d Deps) *Service { return &Service{Deps: d} }

// Made is a backup that was made.
type Made struct {
	ports.Backup
	Heads []domain.AuditHead
	Took  time.Duration
}

var nameShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.tar$`)

// Create makes a backup in the folder; it needs the deploy grant. An empty name is one of the time. While one is made another
// is refused with CodeInvalidState (BackupRunning).
func (s *Service) Create(ctx context.Context, who access.Caller, name string) (m Made, err error) {
	if err := who.MayDeploy(); err != nil {
		return m, err
	}
	if name != "" && !nameShape.MatchString(name) {
		return m, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "SchemaViolation",
			Message: "a backup is named like before-upgrade.tar: letters, digits, `.`, `_` and `-`, at most 100, ending in .tar; got " + domain.Quote(name, 100),
		}
	}
	if s.Source.Store == nil {
		return m, &domain.Error{Code: domain.CodeNotConfigured, Type: "StoreForgets", Message: "this server keeps everything in memory, so there is nothing to back up"}
	}
	if !s.one.TryLock() {
		return m, &domain.Error{Code: domain.CodeInvalidState, Type: "BackupRunning", Message: "a backup is being made; repeat the call when it is there (GET /backups)"}
	}
	defer s.one.Unlock()
	began := s.Clock.Now()
	m.Backup, err = s.Folder.Save(name, began, func(w ports.ArchiveWriter, scratch string) error {
		manifest, err := s.Source.Create(ctx, w, scratch, false, began)
		m.Heads = manifest.Heads
		return err
	})
	if err != nil {
		return m, err
	}
	m.Took = s.Clock.Now().Sub(began)
	if s.Made != nil {
		s.Made(m.CreatedAt)
	}
	record := who.Audit("backup.create", "", m.File)
	record.Detail = domain.AuditDetail(map[string]any{"bytes": m.Bytes, "sha256": m.SHA256})
	return m, s.Audit(ctx, *record)
}

// List gives the backups of the folder, newest first; it needs the deploy grant.
func (s *Service) List(_ context.Context, who access.Caller) ([]ports.Backup, error) {
	if err := who.MayDeploy(); err != nil {
		return nil, err
	}
	return s.Folder.Backups()
}
