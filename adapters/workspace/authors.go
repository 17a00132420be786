package workspace

import (
	"path"

	"aion/domain/document"
)

// maxAuthor bounds the name of who saved a text.
const maxAuthor = 1 << 10

// sign notes who saved the present text of a document, under the name that it has as a revision. A file that is written by
// hand has another time, so that it never gets the author of another text; one whose author was not noted before a crash has
// none. The text is saved already: an author that cannot be noted is not known, and the audit log has the save.
func (f folder) sign(p document.Path, by string) {
	body, st, err := readWhole(f, p)
	if err != nil {
		return
	}
	dir, err := f.make(path.Join(authors, string(p)))
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	_ = dir.replace(revisionName(modified(st), body), []byte(by[:min(len(by), maxAuthor)]))
}

// author is who saved a text; empty when nothing says it.
func (f folder) author(p document.Path, revision string) string {
	by, _, err := f.read(path.Join(authors, string(p), revision), maxAuthor)
	if err != nil {
		return ""
	}
	return string(by)
}
