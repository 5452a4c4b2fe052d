package tensor

import (
	"errors"
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
	owner
}

// owner is what an array knows of memory that is foreign or goes back to a pool. It
// keeps foreign memory; that of a pool would stay without it.
type owner struct {
	memory   []byte
	foreign  *Foreign // that this is part of, nil if the memory is from a pool
	holders           // of memory from a pool
	giveBack func()
}

// regions are the regions of memory in use that have an owner, by address. Arrays are
// made of slices and of addresses that kernels hand back, which do not say what
// they lie in; this table does.
var regions struct {
	count  atomic.Int32 // of sorted: where it is 0, nobody looks further
	mu     sync.RWMutex
	sorted []region
}

type region struct {
	begin, end uintptr
	owner      weak.Pointer[owner]
}

// enter puts an owner into the table, in place of one that was there before and cannot
// be reached any more.
func (o *owner) enter() region {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(o.memory)))
	e := region{begin, begin + uintptr(len(o.memory)), weak.Make(o)}
	r := &regions
	r.mu.Lock()
	defer r.mu.Unlock()
	at, found := slices.BinarySearchFunc(r.sorted, begin, byBegin)
	if found {
		r.sorted[at] = e
		return e
	}
	r.sorted = slices.Insert(r.sorted, at, e)
	r.count.Add(1)
	return e
}

// leave takes a region out of the table, if it is there.
func (e region) leave() {
	r := &regions
	r.mu.Lock()
	defer r.mu.Unlock()
	at, found := slices.BinarySearchFunc(r.sorted, e.begin, byBegin)
	if !found || r.sorted[at].owner != e.owner {
		return
	}
	r.sorted = slices.Delete(r.sorted, at, at+1)
	r.count.Add(-1)
}

// NewForeign hands memory, which must not be on the Go heap, to arrays. release is
// called, on a goroutine of its own, once neither the Foreign nor an array in it is
// reachable; it must not refer to either.
func NewForeign(memory []byte, release func()) *Foreign {
	f := &Foreign{owner: owner{memory: memory}}
	f.foreign = f
	runtime.AddCleanup(f, func(e region) {
		e.leave()
		release()
	}, f.enter())
	return f
}

func byBegin(r region, begin uintptr) int {
	switch {
	case r.begin < begin:
		return -1
	case r.begin > begin:
		return 1
	}
	return 0
}

// ownerOf is the owner of the memory that p points into, nil if it has none.
func ownerOf(p unsafe.Pointer) *owner {
	r := &regions
	if r.count.Load() == 0 {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	at, ok := slices.BinarySearchFunc(r.sorted, uintptr(p), byBegin)
	if !ok {
		at--
	}
	for ; at >= 0; at-- {
		// Live regions do not overlap; those whose cleanups have yet to run may overlap any.
		if o := r.sorted[at].owner.Value(); o != nil {
			if uintptr(p) < r.sorted[at].end {
				return o
			}
			return nil
		}
	}
	return nil
}

// Array is the array of n elements of type dt at a byte offset of the memory. It is an
// error if they do not lie within it or the address is not a multiple of the type's
// alignment: its size, 8 for Complex128, 4 for Complex64.
func (f *Foreign) Array(dt DType, offset, n int) (Array, error) {
	if f == nil {
		return Array{}, errors.New("there is no memory to make an array of: make a Foreign with NewForeign")
	}
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
	return Array{dt: dt, n: n, data: p, owner: &f.owner}, nil
}

// Foreign is the foreign memory that the array lies in, nil if it is Go's own.
func (a Array) Foreign() *Foreign {
	if a.owner == nil {
		return nil
	}
	return a.owner.foreign
}
