package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"aion/domain"
	"aion/ports"
)

// The bounds of what is read.
const (
	maxManifest = 64 << 20
	maxMembers  = 1 << 20
	maxDocument = 2 << 20
	format      = 1
)

// Extract reads a backup, holds every member against the manifest and writes it below dir, which is empty. A backup that is
// not whole, or that holds what no backup holds, is refused with CodeInvalidInput (BackupBroken), which names the member;
// what was written then is of no use.
func Extract(ctx context.Context, file, dir string) (m ports.Manifest, err error) {
	f, err := os.Open(file)
	if err != nil {
		return m, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "BackupUnreadable", Err: err,
			Message: fmt.Sprintf("the backup %s cannot be read: %v", file, errors.Unwrap(err)),
		}
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return m, broken("it is no plain file")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, unwritable(err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	x := &extractor{in: tar.NewReader(bufio.NewReaderSize(f, 1<<20)), root: root, size: info.Size(), seen: map[string]bool{}}
	return x.all(ctx)
}

type extractor struct {
	in      *tar.Reader
	root    *os.Root
	size    int64 // of the archive: no member is larger
	seen    map[string]bool
	members []ports.Member
}

func (x *extractor) all(ctx context.Context) (m ports.Manifest, err error) {
	for {
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		h, err := x.in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return m, broken("it ends without a manifest, so it was not finished or was cut")
		case err != nil:
			return m, broken(fmt.Sprintf("behind member %q it is no tar (%v)", x.last(), err))
		}
		if err := x.judge(h); err != nil {
			return m, err
		}
		if h.Name == manifestName {
			return x.manifest(h)
		}
		if err := x.take(h); err != nil {
			return m, err
		}
	}
}

func (x *extractor) last() string {
	if len(x.members) == 0 {
		return ""
	}
	return x.members[len(x.members)-1].Name
}

// judge refuses a member that is none of a backup.
func (x *extractor) judge(h *tar.Header) error {
	name := domain.Quote(h.Name, 240)
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse") {
			return broken(fmt.Sprintf("member %q is sparse", name))
		}
	}
	switch {
	case h.Typeflag != tar.TypeReg:
		return broken(fmt.Sprintf("member %q is no plain file", name))
	case !named(h.Name):
		return broken(fmt.Sprintf("member %q has a name that no backup has", name))
	case x.seen[h.Name]:
		return broken(fmt.Sprintf("member %q is there twice", name))
	case h.Size > x.size || strings.HasPrefix(h.Name, Documents) && h.Size > maxDocument || h.Name == manifestName && h.Size > maxManifest:
		return broken(fmt.Sprintf("member %q is said to have %d bytes, which is too much", name, h.Size))
	case len(x.seen) >= maxMembers:
		return broken(fmt.Sprintf("it has more than %d members", maxMembers))
	}
	x.seen[h.Name] = true
	return nil
}

// named reports whether a backup may have a member of that name.
func named(name string) bool {
	if name == manifestName || name == StoreFile {
		return true
	}
	if path.Clean(name) != name || strings.ContainsAny(name, "\\\x00") || len(name) > 512 {
		return false
	}
	if rest, ok := strings.CutPrefix(name, Documents); ok {
		return rest != ""
	}
	table, ok := strings.CutPrefix(name, tables)
	table, jsonl := strings.CutSuffix(table, rows)
	return ok && jsonl && table != "" && strings.Trim(table, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// take writes a member below the directory.
func (x *extractor) take(h *tar.Header) (err error) {
	if err := x.root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
		return unwritable(err)
	}
	f, err := x.root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return unwritable(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), x.in)
	var local *os.PathError
	switch {
	case errors.As(err, &local):
		return unwritable(err)
	case err != nil || n != h.Size:
		return broken(fmt.Sprintf("member %q is cut", h.Name))
	}
	x.members = append(x.members, ports.Member{Name: h.Name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// manifest reads the last member and holds the others against it.
func (x *extractor) manifest(h *tar.Header) (m ports.Manifest, err error) {
	text, err := io.ReadAll(x.in)
	if err != nil || int64(len(text)) != h.Size {
		return m, broken("the manifest is cut")
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, broken("the manifest is no JSON")
	}
	if m.Format != format {
		return m, broken(fmt.Sprintf("it has format %d, and this aion knows format %d", m.Format, format))
	}
	if same, err := encode(m); err != nil || !bytes.Equal(text, same) {
		return m, broken(fmt.Sprintf("member %q was changed after it was written", manifestName))
	}
	for i := range max(len(m.Members), len(x.members)) {
		switch {
		case i >= len(m.Members):
			return m, broken(fmt.Sprintf("member %q is not in the manifest", x.members[i].Name))
		case i >= len(x.members) || x.members[i].Name != m.Members[i].Name:
			return m, broken(fmt.Sprintf("member %q of the manifest is missing", domain.Quote(m.Members[i].Name, 240)))
		case x.members[i] != m.Members[i]:
			return m, broken(fmt.Sprintf("member %q was changed after it was written", x.members[i].Name))
		}
	}
	if _, err := x.in.Next(); !errors.Is(err, io.EOF) {
		return m, broken("something follows the manifest")
	}
	return m, nil
}

// Rows gives the rows of an extracted portable backup one by one, in the order of the file; io.EOF ends them. stop frees what
// is open.
func Rows(dir string, m ports.Manifest) (next func() (table string, line []byte, err error), stop func()) {
	r := &rowReader{dir: dir}
	for _, member := range m.Members {
		if strings.HasPrefix(member.Name, tables) && strings.HasSuffix(member.Name, rows) {
			r.names = append(r.names, member.Name)
		}
	}
	return r.next, r.stop
}

type rowReader struct {
	dir   string
	names []string // still to be read, the open one in front
	file  *os.File
	in    *bufio.Reader
}

// maxRow bounds a row; a payload of a few megabytes is the largest there is.
const maxRow = 256 << 20

func (r *rowReader) next() (table string, line []byte, err error) {
	for len(r.names) > 0 {
		if r.file == nil {
			if r.file, err = os.Open(path.Join(r.dir, r.names[0])); err != nil {
				return "", nil, unwritable(err)
			}
			r.in = bufio.NewReaderSize(r.file, 1<<20)
		}
		line, err := readLine(r.in)
		table = strings.TrimSuffix(strings.TrimPrefix(r.names[0], tables), rows)
		if !errors.Is(err, io.EOF) {
			return table, line, err
		}
		r.stop()
		r.names = r.names[1:]
	}
	return "", nil, io.EOF
}

func (r *rowReader) stop() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}

// readLine reads one line without its end; io.EOF when there is none.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxRow:
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, io.EOF
		}
		return nil, broken("a row does not end")
	}
}

func broken(how string) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "BackupBroken", Message: "the backup is broken: " + how + "; take another one"}
}
