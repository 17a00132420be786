package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aion/domain/awl"
	"aion/domain/awl/syntax"
	"aion/domain/document"
)

// source is one document from the command line.
type source struct {
	name string
	text []byte
	dir  string // where imports are resolved; empty: standard input, no imports
}

// readSource reads a document, at most one byte over the limit of the language, so that its own refusal tells the size.
func readSource(p *Program, name string) (source, error) {
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(p.In, document.MaxBytes+1))
		if err != nil {
			return source{}, fileRefusal("read", "standard input", err)
		}
		return source{name: "<stdin>", text: text}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return source{}, fileRefusal("read", name, err)
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return source{}, &usage{message: name + " is a directory; name an .awl file"}
	}
	text, err := io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
	if err != nil {
		return source{}, fileRefusal("read", name, err)
	}
	return source{name: name, text: text, dir: filepath.Dir(name)}, nil
}

// imports resolves schema files next to the document.
func (s source) imports(path string) ([]byte, error) {
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, document.MaxImportBytes+1))
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return text, nil
}

func (s source) options() awl.Options {
	if s.dir == "" {
		return awl.Options{}
	}
	return awl.Options{Import: s.imports}
}

// imported reads every import that exists.
func (s source) imported() map[string][]byte {
	files := map[string][]byte{}
	if s.dir == "" {
		return files
	}
	for _, path := range syntax.ImportPaths(s.text) {
		if text, err := s.imports(path); err == nil {
			files[path] = text
		}
	}
	return files
}

func asPathError(err error, target **fs.PathError) bool { return errors.As(err, target) }
