// Package spill keeps blocks that are too large for memory in files that have no names. They are mapped, so that whoever
// computes with them need not know: the system writes what it has no room for, and reads it when it is touched.
package spill

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// Files makes such blocks in one directory, and keeps the memory small that these and other mapped files take up. A nil *Files
// takes no block.
type Files struct {
	dir         string
	limit, from int64

	mu      sync.Mutex
	blocks  map[*byte]*block
	results *os.File // of all results, such that it can become the file that is written; nil: there is none yet
	end     int64    // of it
	none    bool     // such files cannot be made here

	closing chan struct{}
	closed  chan struct{}
}

// block is a mapped file, or a part of one.
type block struct {
	mapped []byte
	pages  []byte   // the whole ones
	file   *os.File // nil: somebody else's
	at     int64    // where in it the block begins
	used   int64    // bytes of it that are wanted
	result bool     // it is in the file of all results
}

// ErrApart is the error of Adopt where there is no file of all results that has just what is asked for.
var ErrApart = errors.New("what is to be written does not lie in one file")

// share is the part of the limit that is too large a block for memory.
const share = 16

// New makes blocks in a directory, such that mapped files take about limit bytes of memory. The directory must be on a disk that can set
// room aside: otherwise a full one would end the process, without a word, where a kernel writes.
func New(dir string, limit int64) (*Files, error) {
	f := &Files{dir: dir, limit: limit, from: max(limit/share, 1), blocks: map[*byte]*block{}, closing: make(chan struct{}), closed: make(chan struct{})}
	m, err := f.Map(1)
	if err != nil {
		return nil, err
	}
	f.Free(m)
	go f.keep()
	return f, nil
}

// From is how many bytes are too many for memory.
func (f *Files) From() int64 { return f.from }

// Takes reports whether a block of so many bytes should be in a file.
func (f *Files) Takes(bytes int64) bool { return f != nil && bytes >= f.from }

// Error says that there is no room for a block.
type Error struct {
	Dir   string
	Bytes int64
	Err   error
}

// Error names the directory and the size.
func (e *Error) Error() string {
	return fmt.Sprintf("no room for %s in a file in %s: %v", units.FormatBytes(e.Bytes), e.Dir, e.Err)
}

// Unwrap returns the system's reason.
func (e *Error) Unwrap() error { return e.Err }

// Close ends the watch over memory. Blocks stay valid.
func (f *Files) Close() {
	close(f.closing)
	<-f.closed
}
