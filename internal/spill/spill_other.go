//go:build !linux

package spill

import (
	"errors"
	"os"
)

// Map makes no block on this system.
func (f *Files) Map(bytes int64) ([]byte, error) {
	return nil, &Error{f.dir, bytes, errors.New("only Linux maps files so")}
}

// MapResult makes none, either.
func (f *Files) MapResult(bytes int64) ([]byte, error) { return f.Map(bytes) }

// Growing is a block that is written from its beginning on.
type Growing struct{}

// Grow begins none.
func (f *Files) Grow() (*Growing, error) {
	_, err := f.Map(0)
	return nil, err
}

// Append has nothing to write to.
func (*Growing) Append([]byte) error { return errors.ErrUnsupported }

// Map maps nothing.
func (*Growing) Map() ([]byte, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Growing) Close() {}

// Adopt has no file to make another of.
func (f *Files) Adopt(string, [][]byte) (at []int64, end int64, err error) { return nil, 0, ErrApart }

// Temp makes no file.
func (f *Files) Temp() (*os.File, error) {
	_, err := f.Map(0)
	return nil, err
}

// WriteAt has no block to write to.
func (f *Files) WriteAt([]byte, int, []byte) error { return errors.ErrUnsupported }

// Ahead does nothing.
func (f *Files) Ahead([]byte) {}

// Behind does nothing.
func (f *Files) Behind([]byte) {}

// Free gives a block back.
func (f *Files) Free([]byte) {}

// Cut gives the disk's room for what lies beyond the first n bytes of a block back.
func (f *Files) Cut([]byte, int64) {}

// Watch counts a mapped file among what must not take up much memory.
func (f *Files) Watch([]byte) {}

func (f *Files) keep() { close(f.closed) }
