package authoring

import (
	"time"

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

// Listing is the saved documents by path; Count is the number that exists, Entries holds at most 1,000.
type Listing struct {
	Entries   []document.Entry
	Count     int
	Truncated bool
}

// CheckRequest is a draft. Path may be empty: then imports cannot be resolved.
type CheckRequest struct {
	Source []byte
	Path   string
}

// SaveRequest writes a document. ExpectedHash, when set, must be the present content hash.
type SaveRequest struct {
	Path         string
	Source       []byte
	ExpectedHash string
}

// Saved is the answer to a save.
type Saved struct {
	Path        document.Path
	Name        string
	ContentHash string
	Bytes       int64
	Created     bool
}

// DeployRequest deploys one saved revision. Progress, when not nil, is called after each of the four steps with 1..4.
type DeployRequest struct {
	Path        string
	ContentHash string
	Progress    func(done int)
}

// SourceRequest deploys a text that is not saved: Name stands as the document path, Imports by import path.
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
	FreshlyLoaded bool
	Warnings      []string
	Steps         []StepTime
	Report        awl.Report
}

// StepTime is how long one step of a deploy took.
type StepTime struct {
	Step     string
	Duration time.Duration
}
