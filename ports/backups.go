package ports

import (
	"context"
	"io"
	"time"

	"aion/domain"
	"aion/domain/history"
)

// DumpStore gives and takes the whole content of a store in a form that belongs to no database.
type DumpStore interface {
	// Dump gives every row of one moment, table by table, each time in the same order: a JSON object of its columns in one
	// line. A row is only valid during the call. Equal stores give equal rows. The claim of a running attempt is given as one
	// that has ended.
	Dump(ctx context.Context, row func(table string, line []byte) error) error
	// Load fills an empty store with rows as Dump gave them; io.EOF ends them. It refuses a store that is not empty with
	// CodeInvalidState (StoreNotEmpty), and a row that is none of Dump with CodeInvalidInput (BackupBroken).
	Load(ctx context.Context, next func() (table string, line []byte, err error)) error
	// Copy writes one file with everything of one moment, which a store of the same kind can be opened on. own is false when
	// this kind of store has no such file; then nothing is written.
	Copy(ctx context.Context, file string) (own bool, err error)
	// Workflows returns at most limit workflows whose id comes after one, by id.
	Workflows(ctx context.Context, after domain.WorkflowID, limit int) ([]StoredWorkflow, error)
}

// StoredWorkflow is what a store says of a workflow beside its history and its runs.
type StoredWorkflow struct {
	ID     domain.WorkflowID
	RunID  domain.RunID // the latest run
	Status history.Status
	Head   history.Seq
}

// FileStore gives and takes the files of the document workspace: documents, what they import, earlier texts, and who saved
// them.
type FileStore interface {
	// Files gives every file by its path below the workspace, in byte order.
	Files(ctx context.Context, file func(path string, body []byte) error) error
	// PutFile writes a file that Files gave; any other path is refused with CodeInvalidInput (BackupBroken).
	PutFile(ctx context.Context, path string, body []byte) error
}

// BackupFolder keeps backups as files.
type BackupFolder interface {
	// Save makes one: write gets the archive and the name of a file that it may make, which is gone afterwards. An empty name is
	// one of the time. A name that is taken is refused with CodeInvalidState (BackupExists). The oldest beyond the number that the
	// folder keeps are removed.
	Save(name string, at time.Time, write func(w ArchiveWriter, scratch string) error) (Backup, error)
	// Backups lists them, newest first.
	Backups() ([]Backup, error)
}

// Backup is one file with a backup.
type Backup struct {
	File      string // its name in the folder
	Bytes     int64
	SHA256    string // of the whole file; empty: nobody knows
	CreatedAt time.Time
}

// Manifest says what is in a backup.
type Manifest struct {
	Format    int                `json:"format"`
	CreatedAt time.Time          `json:"created_at"`
	Version   string             `json:"version"` // of the aion that made it
	Backend   string             `json:"backend"`
	Schema    int                `json:"schema"`   // of the SQLite part; 0: there is none
	Portable  bool               `json:"portable"` // rows instead of a SQLite file
	Counts    map[string]int64   `json:"counts"`   // rows by table; empty beside a SQLite file
	Heads     []domain.AuditHead `json:"audit_heads"`
	Members   []Member           `json:"members"` // in the order of the file
}

// Member is one file in a backup.
type Member struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ArchiveWriter writes a backup.
type ArchiveWriter interface {
	// Member begins a member and ends the one before; what it holds is written to it.
	Member(name string) (io.Writer, error)
	// AddFile writes a member from a file.
	AddFile(name, file string) error
	// Finish writes the manifest, with the members that were added. Without it a backup counts as broken.
	Finish(m Manifest) error
}
