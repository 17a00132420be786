package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aion/domain"
)

// maxFile bounds a configuration file that is read.
const maxFile = 16 << 20

// Read is the text of a configuration file, and its path with links followed. A file that is not there is empty.
func Read(path string) (text []byte, place string, err error) {
	place, err = follow(path)
	if err != nil {
		return nil, "", unusable(path, err)
	}
	info, err := os.Stat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, place, nil
	case err != nil:
		return nil, "", unusable(path, err)
	case !info.Mode().IsRegular(): // opening a pipe would wait
		return nil, "", unusable(path, errors.New("it is no regular file"))
	}
	f, err := os.Open(place)
	if err != nil {
		return nil, "", unusable(path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, "", unusable(path, err)
	case len(text) > maxFile:
		return nil, "", unusable(path, fmt.Errorf("it has more than %d bytes", maxFile))
	}
	return text, place, nil
}

// follow resolves links, also when the last one points to a file that is not there yet.
func follow(path string) (string, error) {
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is no link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", errors.New("its links go in a circle")
}

// Change reads a configuration file, edits its text, and replaces the file at once and whole; the text before stays
// beside it as FILE.bak. A link stays a link: what it points to is replaced. When edit gives the same text nothing is
// written. A file that another program has changed meanwhile is left alone. A new file gets the mode fresh.
func Change(path string, fresh fs.FileMode, edit func(text []byte) ([]byte, error)) (changed bool, err error) {
	before, place, err := Read(path)
	if err != nil {
		return false, err
	}
	after, err := edit(before)
	if err != nil {
		return false, uneditable(path, err)
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	mode := fresh
	if info, err := os.Stat(place); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(place), fresh|fresh&0o444>>2); err != nil {
		return false, unusable(path, err)
	}
	if len(before) > 0 {
		if err := write(place+".bak", before, mode); err != nil {
			return false, unusable(path, err)
		}
	}
	now, _, err := Read(place)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now, before) {
		return false, &domain.Error{Code: domain.CodeUnavailable, Type: "FileChanged", Message: path + " was changed by another program meanwhile; run the command again"}
	}
	if err := write(place, after, mode); err != nil {
		return false, unusable(path, err)
	}
	return true, nil
}

// write replaces a file: a reader sees the old text or the new one.
func write(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func unusable(path string, err error) error {
	reason := err
	var wrapped *fs.PathError
	var link *os.LinkError
	if errors.As(err, &wrapped) {
		reason = wrapped.Err
	} else if errors.As(err, &link) {
		reason = link.Err
	}
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "FileUnusable", Message: fmt.Sprintf("%s cannot be used (%v); nothing was changed", path, reason), Err: err}
}

func uneditable(path string, err error) error {
	var refusal *domain.Error
	var wrong *SyntaxError
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.As(err, &wrong):
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "FileBroken", Message: fmt.Sprintf(
			"%s:%d:%d: %s; mend the file first, nothing was changed", path, wrong.Line, wrong.Column, wrong.What)}
	}
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "FileUnfit", Message: fmt.Sprintf(
		"%s: %v; nothing was changed, and --print shows what to write by hand", path, err)}
}
