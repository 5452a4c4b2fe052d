//go:build !linux

package spill

import "errors"

// Map makes no block on this system.
func (f *Files) Map(bytes int64) ([]byte, error) {
	return nil, &Error{f.dir, bytes, errors.New("only Linux maps files so")}
}

// Free gives a block back.
func (f *Files) Free([]byte) {}

// Cut gives the disk's room for what lies beyond the first n bytes of a block back.
func (f *Files) Cut([]byte, int64) {}

// Watch counts a mapped file among what must not take up much memory.
func (f *Files) Watch([]byte) {}

func (f *Files) keep() { close(f.closed) }
