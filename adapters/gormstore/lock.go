package gormstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"aion/domain"
)

// Owner is who has a store open, as `<path>.lock` tells it.
type Owner struct {
	PID       int       `json:"pid"`
	Address   string    `json:"address"` // where it serves; empty: nowhere yet
	StartedAt time.Time `json:"started_at"`
}

// lockSuffix is appended to the store's path. The file stays when the store is closed: removing it would let two owners
// lock two files of one name. It holds an Owner while the store is open, and nothing after a clean stop.
const lockSuffix = ".lock"

const (
	lockPatience = 200 * time.Millisecond // a probe of FindOwner holds the lock for a moment
	namePatience = time.Second            // an owner that has just got the lock has not written its name yet
	lockPause    = 5 * time.Millisecond
)

// lock is the held lock of one store.
type lock struct {
	file  *os.File
	owner Owner
}

// FindOwner tells who has the store at path open; held is false when nobody has.
func FindOwner(path string) (owner Owner, held bool, err error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, fault("the lock of the store cannot be read", err)
	}
	defer func() { _ = f.Close() }()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil: // closing the file gives it back
		return Owner{}, false, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return Owner{}, false, fault("the lock of the store cannot be read", err)
	}
	return nameOf(f), true, nil
}

// takeLock makes this process the owner, or refuses and names the one that is. clean is false when the last owner ended
// without closing the store.
func takeLock(path string, now time.Time) (l *lock, clean bool, err error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, false, unwritable(path, err)
	}
	if err := flock(f); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, false, locked(path, nameOf(f))
		}
		return nil, false, fault("the store at "+path+" cannot be locked; put it on a local disk", err)
	}
	l = &lock{file: f, owner: Owner{PID: os.Getpid(), StartedAt: now}}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		err = f.Chmod(fileMode)
	}
	if err == nil {
		err = l.write()
	}
	if err != nil {
		_ = f.Close()
		return nil, false, unwritable(path, err)
	}
	return l, size == 0, nil
}

func flock(f *os.File) error {
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end) {
			continue
		}
		return err
	}
}

// nameOf reads who holds the lock. A name that is being written, or that is left of a dead owner, is read again for a
// moment; what stands there at the end is given.
func nameOf(f *os.File) Owner {
	var owner Owner
	for end := time.Now().Add(namePatience); time.Now().Before(end); time.Sleep(lockPause) {
		text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
		if err != nil || json.Unmarshal(text, &owner) != nil {
			continue
		}
		if !errors.Is(unix.Kill(owner.PID, 0), unix.ESRCH) {
			break
		}
	}
	return owner
}

func locked(path string, o Owner) error {
	who, stop := "another process", "stop it first"
	if o.PID != 0 {
		who, stop = fmt.Sprintf("process %d", o.PID), fmt.Sprintf("stop it first: kill %d", o.PID)
	}
	if o.Address != "" {
		who += " at " + o.Address
	}
	return &domain.Error{
		Code: domain.CodeStoreLocked, Type: "StoreLocked",
		Message: fmt.Sprintf("the store at %s is in use by %s; deploy and start there (aion run, aion deploy and aion mcp bridge find it), "+
			"run without a store (aion run --ephemeral), or %s", path, who, stop),
		Details: map[string]any{"pid": o.PID, "address": o.Address},
	}
}

// write puts the owner into the file and on disk: after a power cut it tells that the stop was unclean.
func (l *lock) write() error {
	text, err := json.Marshal(l.owner)
	if err != nil {
		return err
	}
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return err
	}
	if err := l.file.Truncate(int64(len(text))); err != nil {
		return err
	}
	return l.file.Sync()
}

// release gives the store up. After a clean stop the file is left empty.
func (l *lock) release(clean bool) error {
	var err error
	if clean {
		err = l.file.Truncate(0)
	}
	return errors.Join(err, l.file.Close())
}
