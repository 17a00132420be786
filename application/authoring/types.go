package authoring

import (
	"time"

	"aion/application/deployments"
	"aion/domain/awl"
	"aion/domain/document"
)

// Document is one saved document with its text.
type Document struct {
	Path        document.Path
	Name        string
	Source      []byte
	ContentHash string
}

// State is what is known of a saved document, or of an earlier text of one, besides its text.
type State struct {
	Path        document.Path
	ContentHash string
	Bytes       int64
	SavedAt     time.Time
	SavedBy     string // empty: it is not known
	Deployed    []deployments.Use
}

// PageRequest asks for documents: those whose path begins with Prefix, and of whose name, workflow or text Query is a part,
// whatever the case. After is the last path of the page before.
type PageRequest struct {
	Prefix string
	Query  string
	After  string
	Limit  int
}

// Page is one page of documents by path. Count is the number of all that were asked for.
type Page struct {
	Documents []State
	Count     int
	More      bool
}

// Listing is the saved documents by path; Count is the number that exists, Entries holds at most 1,000.
type Listing struct {
	Entries   []document.Entry
	Count     int
	Truncated bool
}

// CheckRequest is a draft. Imports come from Imports by import path; when it is nil, from where the draft would stand; with
// neither they cannot be resolved.
type CheckRequest struct {
	Source  []byte
	Path    string
	Imports map[string][]byte
}

// Expectation is what a save expects to find besides a hash.
type Expectation int

// The expectations.
const (
	Anything  Expectation = iota
	Unnamed               // nothing; what is there must be named to be replaced (PreconditionRequired)
	Nothing               // nothing (RevisionMismatch)
	Something             // a document, whatever it is (RevisionMismatch)
)

// SaveRequest writes a document. ExpectedHash, when set, must be the present content hash; Expect is then not asked.
type SaveRequest struct {
	Path         string
	Source       []byte
	ExpectedHash string
	Expect       Expectation
}

// DeleteRequest removes a document. ExpectedHash, when set, must be the present content hash; Expect is then not asked.
type DeleteRequest struct {
	Path         string
	ExpectedHash string
	Expect       Expectation
}

// Saved is the answer to a save.
type Saved struct {
	Path        document.Path
	Name        string
	ContentHash string
	Bytes       int64
	Created     bool
	Changed     bool   // it has other bytes than before; true for a new one
	Previous    string // content hash of what it was before; empty: it is new
}

// DeployRequest deploys one saved revision. Progress, when not nil, is called after each of the four steps with 1..4.
type DeployRequest struct {
	Path        string
	ContentHash string
	Progress    func(done int)
}

// SourceRequest deploys a text that is not saved: Name is for texts and may be empty, Imports by import
// path.
type SourceRequest struct {
	Name    string
	Source  []byte
	Imports map[string][]byte
}

// Deployed is the answer to a deploy. Steps are check, compile, package, deploy, in this order.
type Deployed struct {
	DeploymentID  string
	DocumentPath  string
	ContentHash   string
	WorkflowType  string
	PackageID     string
	DeployedAt    time.Time
	DeployedBy    string // of the stored version; empty: it is not known
	FreshlyLoaded bool
	RouteChanged  bool // new runs of the type got another version before, or none
	Warnings      []string
	Steps         []StepTime
	Report        awl.Report
}

// StepTime is how long one step of a deploy took.
type StepTime struct {
	Step     string
	Duration time.Duration
}
