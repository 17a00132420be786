package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// The official files and what they must hash to.
const (
	coreFile = "schema-2026-07-28.json"
	coreHash = "ef70b61f99b6d2e5e3b46863822eab08dff6a45bedc7a08914e0e5b133f40203"

	tasksFile = "schema-tasks.json"
	tasksHash = "10933a5003097bbccb03d964e6a5f7a2819cc4d7a1d07e27c6765cbf5da35c5c"
)

// Folder is where AION_MCP_SCHEMAS points, relative to the root of the repository; empty when it is not set. Where CI is
// set it must be: there the tests against the schemas are not left out.
func Folder(tb testing.TB) string {
	tb.Helper()
	folder := os.Getenv("AION_MCP_SCHEMAS")
	if folder == "" {
		if os.Getenv("CI") != "" {
			tb.Fatal("AION_MCP_SCHEMAS is not set, and CI is")
		}
		return ""
	}
	if filepath.IsAbs(folder) {
		return folder
	}
	root, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, folder)
		}
		if root == filepath.Dir(root) {
			tb.Fatal("no go.mod above the test")
		}
		root = filepath.Dir(root)
	}
}

type official struct {
	sync.Once
	schema *Schema
	err    error
}

var core, tasks official

func (o *official) load(tb testing.TB, file, hash string) *Schema {
	tb.Helper()
	folder := Folder(tb)
	if folder == "" {
		return nil
	}
	o.Do(func() {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			o.err = err
			return
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
			o.err = os.ErrInvalid
			return
		}
		o.schema, o.err = NewSchema(text)
	})
	if o.err != nil {
		tb.Fatalf("official schema %s: %v", file, o.err)
	}
	return o.schema
}

// Core is the official schema of the core protocol; nil when there is none to hold answers against.
func Core(tb testing.TB) *Schema {
	tb.Helper()
	return core.load(tb, coreFile, coreHash)
}

// Tasks is the official schema of the tasks extension; nil when there is none to hold answers against.
func Tasks(tb testing.TB) *Schema {
	tb.Helper()
	return tasks.load(tb, tasksFile, tasksHash)
}

// Conforms fails the test when a value does not fit a definition of the core schema.
func Conforms(tb testing.TB, definition string, value []byte) {
	tb.Helper()
	conforms(tb, Core(tb), definition, value)
}

// ConformsTask fails the test when a value does not fit a definition of the tasks extension.
func ConformsTask(tb testing.TB, definition string, value []byte) {
	tb.Helper()
	conforms(tb, Tasks(tb), definition, value)
}

func conforms(tb testing.TB, document *Schema, definition string, value []byte) {
	tb.Helper()
	if document == nil {
		return
	}
	schema, err := document.Definition(definition)
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		tb.Errorf("not a %s: %v\n%.2000s", definition, err, value)
	}
}
