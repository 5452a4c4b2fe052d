package tensor

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Foreign is memory that the garbage collector does not manage, such as a file
// mapped into memory, for arrays to lie in. Every [Array] in it, however it was made,
// keeps it; a slice that [View] returns does not: the array or its tensor must be
// reachable as long as the slice is used.
type Foreign struct {
	memory []byte
}

// foreignRegions are the regions of foreign memory in use, by address. Arrays are
// made of slices and of addresses that kernels hand back, which do not say what
// they lie in; this table does.
var foreignRegions struct {
	count  atomic.Int32 // of list: almost always 0, and then nobody looks further
	mu     sync.RWMutex
	sorted []foreignRegion
}

type foreignRegion struct {
	begin, end uintptr
	owner      weak.Pointer[Foreign]
}

// NewForeign hands memory, which must not be on the Go heap, to arrays. release is
// called, on a goroutine of its own, once neither the Foreign nor an array in it is
// reachable; it must not refer to either.
func NewForeign(memory []byte, release func()) *Foreign {
	f := &Foreign{memory: memory}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	region := foreignRegion{begin, begin + uintptr(len(memory)), weak.Make(f)}
	r := &foreignRegions
	r.mu.Lock()
	at, _ := slices.BinarySearchFunc(r.sorted, begin, byBegin)
	r.sorted = slices.Insert(r.sorted, at, region)
	r.mu.Unlock()
	r.count.Add(1)
	runtime.AddCleanup(f, func(begin uintptr) {
		r.mu.Lock()
		if at, ok := slices.BinarySearchFunc(r.sorted, begin, byBegin); ok {
			r.sorted = slices.Delete(r.sorted, at, at+1)
		}
		r.mu.Unlock()
		r.count.Add(-1)
		release()
	}, begin)
	return f
}

func byBegin(r foreignRegion, begin uintptr) int {
	switch {
	case r.begin < begin:
		return -1
	case r.begin > begin:
		return 1
	}
	return 0
}

// ownerOf is the foreign memory that p points into, nil for Go's own.
func ownerOf(p unsafe.Pointer) *Foreign {
	r := &foreignRegions
	if r.count.Load() == 0 {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	at, ok := slices.BinarySearchFunc(r.sorted, uintptr(p), byBegin)
	if !ok {
		at--
	}
	if at < 0 || uintptr(p) >= r.sorted[at].end {
		return nil
	}
	return r.sorted[at].owner.Value()
}

// Array is the array of n elements of type dt at a byte offset of the memory. It is an
// error if they do not lie within it or the address is not a multiple of the type's
// alignment: its size, 8 for Complex128, 4 for Complex64.
func (f *Foreign) Array(dt DType, offset, n int) (Array, error) {
	if !dt.Valid() || offset < 0 || n < 0 || offset > len(f.memory) || n > (len(f.memory)-offset)/dt.Size() {
		return Array{}, fmt.Errorf("%d elements of type %s at offset %d do not lie within %d bytes", n, dt, offset, len(f.memory))
	}
	if n == 0 {
		return MakeArray(dt, 0)
	}
	p := unsafe.Pointer(&f.memory[offset])
	align := dt.Size()
	if dt.IsComplex() {
		align /= 2
	}
	if uintptr(p)%uintptr(align) != 0 {
		return Array{}, fmt.Errorf("offset %d is not aligned to %d bytes, as %s must be", offset, align, dt)
	}
	return Array{dt: dt, n: n, data: p, owner: f}, nil
}

// Foreign is the foreign memory that the array lies in, nil if it is Go's own.
func (a Array) Foreign() *Foreign { return a.owner }
