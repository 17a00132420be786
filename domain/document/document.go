// Package document holds the rules of workflow documents as files: paths, revisions and the content hash.
package document

import "time"

// Entry is one saved document as lists show it.
type Entry struct {
	Path        Path
	ContentHash string
	Bytes       int64
	ModifiedAt  time.Time
}

// Revision is an earlier text of a document. SavedAt and SHA256 name it within its document.
type Revision struct {
	SHA256  string // of the bytes alone
	SavedAt time.Time
	Bytes   int64
	SavedBy string // a subject; empty: it is not known, as of a file that was written by hand
}

// Path is a valid document path: relative, `/` between segments, ending in `.awl` (awl 9.1).
type Path string

// MaxBytes is the limit of a document.
const MaxBytes = 1 << 20

// MaxImportBytes is the limit of an imported schema file.
const MaxImportBytes = 256 << 10
