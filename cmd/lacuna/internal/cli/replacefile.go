package cli

import (
	"os"
	"path/filepath"
)

// ReplaceFile writes a file that is complete or untouched: beside it first, then
// renamed over it.
func ReplaceFile(path string, mode os.FileMode, emit func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // after the first error no other is worth reporting
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := emit(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
