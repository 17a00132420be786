package document

import (
	"fmt"
	"strings"

	"aion/domain"
)

// Finding is one error finding as refusals show it. Lines and columns count from 1.
type Finding struct {
	Class     string `json:"class"` // error or warning
	Code      string `json:"code"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Hint      string `json:"hint"`
}

// NotFound says that no document is saved under a path.
func NotFound(path Path) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "DocumentNotFound",
		Message: fmt.Sprintf("no document is saved at %q; list_documents shows what exists", path),
	}
}

// RevisionNotFound says that no text of this hash is kept.
func RevisionNotFound(hash string) error {
	return &domain.Error{
		Code: domain.CodeNotFound, Type: "RevisionNotFound",
		Message: fmt.Sprintf("no revision %q is kept; the list of a document's revisions shows what is", domain.Quote(hash, 64)),
	}
}

// PreconditionRequired refuses to replace a document about which the caller says nothing.
func PreconditionRequired(path Path) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "PreconditionRequired",
		Message: fmt.Sprintf("%s exists; send If-Match with the hash that you read, so that nobody's work is overwritten unseen", path),
	}
}

// RevisionMismatch says that a document has changed since the caller read it; current is its present content hash, empty
// when it does not exist.
func RevisionMismatch(path Path, current string) error {
	message := "%s: the given hash does not match the saved document. " +
		"Re-read it (read_document), check what you read, then try again with the hash you read."
	if current == "" {
		message = "%s: the given hash does not match the saved document, for there is none. " +
			"Re-read list_documents; without a hash the save creates the document."
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "RevisionMismatch", Message: fmt.Sprintf(message, path),
		Details: map[string]any{"current_content_hash": current},
	}
}

// TooLarge says that a document of size bytes is over the limit.
func TooLarge(size int) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "DocumentTooLarge",
		Message: fmt.Sprintf("the document has %d bytes; the limit is %d. Move prompts and data into schema files or actions.",
			size, MaxBytes),
		Details: map[string]any{"limit": MaxBytes, "size": size},
	}
}

// CheckRefused says that a document cannot be deployed for the findings, of which the first five stand in the message.
// name is the document's path, or however the caller knows it.
func CheckRefused(name string, findings []Finding) error {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "%s does not check", domain.Quote(name, maxPathBytes))
	for i, f := range findings {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(findings)-shown)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%d:%d %s", sep, f.Line, f.Column, domain.Quote(f.Message, 300))
	}
	b.WriteString(". Repair the source and repeat check_document (or `aion awl check`) until deploys_green is true.")
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CheckRefused", Message: b.String(),
		Details: map[string]any{"diagnostics": findings},
	}
}

// CompileRefused says that a document checks but cannot become a version for the given reason.
func CompileRefused(name, reason string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "CompileRefused",
		Message: fmt.Sprintf("%s cannot be deployed: %s. check_document (or `aion awl check`) shows the findings of the source.",
			domain.Quote(name, maxPathBytes), strings.TrimSuffix(reason, ".")),
		Details: map[string]any{"diagnostics": []Finding{}},
	}
}

func pathInvalid(s, rule string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "DocumentPathInvalid",
		Message: fmt.Sprintf("%q is no document path: %s. A path looks like `team/brief.awl`.", domain.Quote(s, maxPathBytes), rule),
	}
}
