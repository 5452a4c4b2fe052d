package aot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file as a whole or not at all: to another name in its directory,
// which then becomes its own.
func WriteFile(path string, data []byte) error { return WriteFiles([]Member{{path, data}}) }

// WriteFiles writes files, whose names are paths, as WriteFile does: none of them takes its
// name before all have been written.
func WriteFiles(files []Member) error {
	temporary := make([]string, len(files))
	defer func() {
		for _, name := range temporary {
			if name != "" {
				os.Remove(name) // not there any more if all went well
			}
		}
	}()
	for i, f := range files {
		if info, err := os.Stat(f.Name); err == nil && info.IsDir() {
			return fmt.Errorf("writing %s: it is a directory", f.Name)
		}
		var err error
		if temporary[i], err = writeTemporary(f.Name, f.Data); err != nil {
			return writeError(f.Name, err)
		}
	}
	for i, f := range files {
		if err := os.Rename(temporary[i], f.Name); err != nil {
			return writeError(f.Name, err)
		}
	}
	return nil
}

// writeTemporary writes what is to be the file path to a file beside it, whose name it
// returns, also with an error if the file is there.
func writeTemporary(path string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return f.Name(), err
}

// writeError names the file that was to be written, not the one in its place.
func writeError(path string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("writing %s: %w", path, err)
}
