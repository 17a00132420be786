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

// readSource reads a document.
func readSource(p *Program, name string) (source, error) {
	if name == "-" {
		text, err := readBounded(p.In, "standard input", "a document", document.MaxBytes)
		return source{name: "<stdin>", text: text}, err
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return source{}, &usage{message: name + " is a directory; name an .awl file"}
	}
	text, err := readFile(name, "a document", document.MaxBytes)
	return source{name: name, text: text, dir: filepath.Dir(name)}, err
}

// readFile reads a whole file of at most limit bytes; what says what it is taken for.
func readFile(name, what string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fileRefusal("read", name, err)
	}
	defer f.Close() //nolint:errcheck // only read
	return readBounded(f, name, what, limit)
}

// readBounded reads at most limit bytes, and refuses what has more: a part of it would be taken for the whole.
func readBounded(r io.Reader, name, what string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fileRefusal("read", name, err)
	}
	if int64(len(text)) <= limit {
		return text, nil
	}
	size := fmt.Sprintf("more than %d bytes", limit)
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
			size = fmt.Sprintf("%d bytes", info.Size())
		}
	}
	return nil, &usage{message: fmt.Sprintf("%s has %s; %s has at most %d", name, size, what, limit)}
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
