package document_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"aion/domain/document"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func TestContentHashOfADocumentWithoutImportsIsThatOfItsFile(t *testing.T) {
	t.Parallel()
	if got := document.ContentHash([]byte("text"), nil); got != sum("text") {
		t.Error(got)
	}
}

func TestContentHashCoversImportsInPathOrderOnce(t *testing.T) {
	t.Parallel()
	imports := []document.Import{
		{Path: "b.json", Bytes: []byte("{}")}, {Path: "a.json", Missing: true}, {Path: "b.json", Bytes: []byte("{}")},
	}
	want := sum("text\x00a.json\x00missing\x00b.json\x00" + sum("{}"))
	if got := document.ContentHash([]byte("text"), imports); got != want {
		t.Error(got)
	}
	if imports[0].Path != "b.json" {
		t.Error("the caller's list was changed")
	}
}
