package ports

import (
	"fmt"

	"aion/domain"
	"aion/domain/history"
)

// The refusals of this file are promised by a port and given by every adapter of it in the same words.

// CheckCommit refuses a commit that no store can keep: events of another workflow, or numbers that do not follow
// ExpectedSeq without a gap. It is a fault of whoever built the commit.
func CheckCommit(c *history.Commit) error {
	if c.ExpectedSeq < 0 || c.ExpectedSeq == 0 && len(c.Events) == 0 {
		return malformed(c, "it starts a workflow without an event")
	}
	for i := range c.Events {
		e := &c.Events[i]
		if e.WorkflowID != c.WorkflowID {
			return malformed(c, fmt.Sprintf("event %d belongs to workflow %s", e.Seq, e.WorkflowID))
		}
		if want := c.ExpectedSeq + 1 + int64(i); e.Seq != want {
			return malformed(c, fmt.Sprintf("it holds event %d where %d is due", e.Seq, want))
		}
	}
	for i := range c.Rows {
		if c.Rows[i].WorkflowID != c.WorkflowID {
			return malformed(c, fmt.Sprintf("a run row belongs to workflow %s", c.Rows[i].WorkflowID))
		}
	}
	return nil
}

func malformed(c *history.Commit, why string) error {
	return &domain.Error{
		Code: domain.CodeBackend, Type: "StoreFault",
		Message: fmt.Sprintf("commit of workflow %s after event %d cannot be stored: %s", c.WorkflowID, c.ExpectedSeq, why),
	}
}

// ClaimLost fails a commit that says how an attempt ended which its maker does not hold any more.
func ClaimLost(c history.Claim) error {
	return &domain.Error{
		Code: domain.CodeSequenceConflict, Type: "ClaimLost",
		Message: fmt.Sprintf("attempt %s is not held with token %d any more; somebody else runs it, or it is over, so its verdict is not taken",
			c.Key, c.Token),
	}
}

// IdempotencyTaken fails a commit whose key is known and live.
func IdempotencyTaken(key string) error {
	return &domain.Error{
		Code: domain.CodeIdempotencyConflict, Type: "IdempotencyTaken",
		Message: fmt.Sprintf("key %q has started a workflow before; read its record", domain.Quote(key, 128)),
	}
}

// IdempotencyUnknown says that no live record has this key.
func IdempotencyUnknown(key string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "IdempotencyUnknown",
		Message: fmt.Sprintf("key %q has started nothing, or long ago", domain.Quote(key, 128)),
	}
}

// WorkflowTypeNotFound says that no version is routed for a type.
func WorkflowTypeNotFound(workflowType string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "WorkflowTypeNotFound",
		Message: fmt.Sprintf("workflow type %q is not deployed; deploy it with deploy_document", domain.Quote(workflowType, 128)),
	}
}

// VersionNotFound says that no version of this hash (and type) is stored.
func VersionNotFound(contentHash string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "VersionNotFound",
		Message: fmt.Sprintf("no version %q is loaded; list the versions of the workflow type", domain.Quote(contentHash, 64)),
	}
}

// RouteActive refuses to remove the version that new runs get.
func RouteActive(workflowType, contentHash string) error {
	return &domain.Error{
		Code: domain.CodeVersionPinned, Type: "RouteActive",
		Message: fmt.Sprintf("version %s is the one that new runs of %q get; route the type to another version first", contentHash, domain.Quote(workflowType, 128)),
	}
}

// ImportNotFound says that a document's import is no plain file of the workspace.
func ImportNotFound(relative string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "DocumentNotFound",
		Message: fmt.Sprintf("no file %q beside the document; save it in the workspace first", domain.Quote(relative, 240)),
	}
}

// WorkspaceUnconfigured says that this server has no place for documents.
func WorkspaceUnconfigured() error {
	return &domain.Error{
		Code: domain.CodeNotConfigured, Type: "WorkspaceUnconfigured",
		Message: "this server has no document workspace; ask its operator to set authoring.workspace_dir",
	}
}
