package interp

import (
	"fmt"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A trap is what a closure panics with; Run recovers it.
type trap uint8

const (
	outOfBounds trap = iota
	misused          // a grid function broke a rule: thread.fault says which
)

// BoundsError says that a loop function read or wrote outside a buffer. The
// call stopped there; what it had stored before stays stored.
type BoundsError struct {
	Func   string // name of the function
	Buffer string // name of the buffer parameter
	Index  int64  // the element asked for
	Len    int64  // the number of elements there are
}

// Error implements error.
func (e *BoundsError) Error() string {
	return fmt.Sprintf("interp: func %s: index %d of buffer %s is out of range: it has %d elements", e.Func, e.Index, e.Buffer, e.Len)
}

// CallError says that the arguments of a call do not fit the function.
type CallError struct {
	Func   string // name of the function
	Reason string // what does not fit
}

// Error implements error.
func (e *CallError) Error() string { return fmt.Sprintf("interp: func %s: %s", e.Func, e.Reason) }

func boundsError(name string, bufs []loop.Buf, fr *frame) *BoundsError {
	i := int(fr.badBuf / bufRef(unsafe.Sizeof(Memory{})))
	return &BoundsError{Func: name, Buffer: bufs[i].Name, Index: fr.badIndex, Len: fr.mem[i].Len}
}
