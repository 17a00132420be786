package shell

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeScratch makes the fresh, empty directory of an attempt, for the user that its command runs as.
func makeScratch(path string, owner *credential) error {
	if err := removeScratch(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("make the directory of the attempt: %w", err)
	}
	if err := owner.own(path); err != nil {
		return fmt.Errorf("make the directory of the attempt: %w", err)
	}
	return nil
}

// removeScratch removes a directory that a command wrote, also when it took its own rights away. Links are not followed.
func removeScratch(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error { // what stays shut is named by the removal
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // a directory that is being removed
		}
		if err != nil && d != nil && d.IsDir() {
			return nil
		}
		return err
	})
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove the directory of the attempt: %w", err)
	}
	return nil
}
