package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// slot is what a supervisor keeps from one command to the next, because making it anew costs as much as the command: its
// file of the ledger, its scratch directory and its cgroup. Only the owner of the supervisor uses it.
type slot struct {
	name  string
	file  *os.File
	text  []byte // of the file: as long as the longest so far, so that an entry is never followed by the rest of a longer one
	dir   string // of the scratch directory
	owner *credential
	made  *mark // of the directory as it was made; nil: there is none
	leaf  *leaf // nil without cgroups
	idle  []byte

	remake   func(dir string) error // makes the directory above again
	removing sync.Mutex             // its directory; what takes long is not waited for
}

// mark is a directory as it was made: whoever changes anything in it, or of it, changes the mark.
type mark struct {
	inode   uint64
	mode    fs.FileMode
	changed syscall.Timespec
	at      time.Time
	young   bool // when the command began: its changes may show the same time
}

// newSlot makes the file and the cgroup of a supervisor. Their name is that of this server's process and a number.
func (p *pool) newSlot() (*slot, error) {
	p.mu.Lock()
	p.slots++
	name := fmt.Sprintf("%s-%d", p.prefix, p.slots)
	p.mu.Unlock()
	path := filepath.Join(p.o.attempts(), name+".json")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) && p.o.remake(p.o.attempts()) == nil {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("write ledger entry: %w", err)
	}
	s := &slot{name: name, file: file, dir: filepath.Join(p.o.scratches(), name), owner: p.o.user, remake: p.o.remake}
	if p.cgroups != nil {
		if s.leaf, err = p.cgroups.leaf(name); err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	return s, nil
}

// write replaces the entry.
func (s *slot) write(e entry) error { return s.put(e.encode()) }

// clear replaces the entry by that of an idle supervisor.
func (s *slot) clear(idle entry) error {
	if s.idle == nil {
		s.idle = idle.encode()
	}
	return s.put(s.idle)
}

// put replaces the text of the file in one call. It needs no sync, and no rename: it has to survive the process and not the
// machine.
func (s *slot) put(raw []byte) error {
	if len(raw) >= len(s.text) {
		s.text = make([]byte, (len(raw)/512+1)*512)
	}
	for i := copy(s.text, raw); i < len(s.text); i++ {
		s.text[i] = '\n'
	}
	if _, err := s.file.WriteAt(s.text, 0); err != nil {
		return fmt.Errorf("write ledger entry: %w", err)
	}
	return nil
}

// scratch gives an empty directory of mode 0700.
func (s *slot) scratch() (string, error) {
	if s.made != nil {
		s.made.young = time.Since(s.made.at) < time.Second
		return s.dir, nil
	}
	err := makeScratch(s.dir, s.owner)
	if errors.Is(err, fs.ErrNotExist) && s.remake(filepath.Dir(s.dir)) == nil {
		err = makeScratch(s.dir, s.owner)
	}
	if err != nil {
		return "", err
	}
	s.made, _ = markOf(s.dir) // without one it is removed after the command
	return s.dir, nil
}

// untouched reports whether a command left the directory as it was. It waits for no file system that was mounted there.
func (s *slot) untouched() bool {
	now, err := markOf(s.dir)
	return s.made != nil && err == nil && now.same(s.made) && s.empty()
}

// drop removes the directory.
func (s *slot) drop() error {
	s.removing.Lock()
	defer s.removing.Unlock()
	s.made = nil
	return removeScratch(s.dir)
}

// empty looks into the directory, unless its mark says all.
func (s *slot) empty() bool {
	if !s.made.young && s.made.changed != (syscall.Timespec{}) {
		return true
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return false
	}
	names, _ := dir.Readdirnames(1)
	_ = dir.Close() // only read from
	return len(names) == 0
}

// remove gives everything back. The tree is gone.
func (s *slot) remove() error {
	s.removing.Lock()
	defer s.removing.Unlock()
	errs := []error{removeScratch(s.dir), s.file.Close()}
	if err := os.Remove(s.file.Name()); !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	if s.leaf != nil {
		errs = append(errs, s.leaf.remove())
	}
	return errors.Join(errs...)
}

func (m *mark) same(o *mark) bool {
	return m.inode == o.inode && m.mode == o.mode && m.changed == o.changed
}
