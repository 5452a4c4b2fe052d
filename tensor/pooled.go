package tensor

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Pooled is a block of Go memory that goes back to a pool when the tensors with arrays
// in it have been released: see [Tensor.Release]. Every [Array] in the block, however it
// was made, knows it; a tensor that is made of such an array holds the block. A tensor
// that is forgotten and not released holds it for good: then the block is never given
// back, and the garbage collector frees it as any other.
type Pooled struct {
	owner
}

// holders counts arrays of tensors that have not been released.
type holders struct {
	n atomic.Int64 // or goneBack; 0 before the first
}

const goneBack = math.MinInt64

// hold counts one more. It is false if what is held has gone back.
func (h *holders) hold() bool {
	for {
		n := h.n.Load()
		if n == goneBack {
			return false
		}
		if h.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop ends a hold, and reports whether what was held must go back.
func (h *holders) drop() bool { return h.n.Add(-1) == 0 && h.close() }

// close reports whether there are no holders, and then there will be none.
func (h *holders) close() bool { return h.n.CompareAndSwap(0, goneBack) }

// NewPooled hands a block of Go memory, which lies in no other, to arrays; or one of other memory, which then stays until the last of them is released. giveBack is
// called once, by the Release that ends its last use. It may hand the block out again at
// once, as another Pooled.
func NewPooled(memory []byte, giveBack func()) *Pooled {
	p := &Pooled{owner{memory: memory}}
	e := p.enter()
	p.giveBack = func() {
		e.leave()
		giveBack()
	}
	runtime.AddCleanup(p, region.leave, e)
	return p
}

// Pointer is where the block begins.
func (p *Pooled) Pointer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p.memory)) }

// Array is the array of n elements of type dt at an address in the block, with all of them
// in it.
func (p *Pooled) Array(dt DType, at unsafe.Pointer, n int) Array {
	if n == 0 {
		return HeapArray(dt, at, 0)
	}
	return Array{dt: dt, n: n, data: at, owner: &p.owner}
}

// GiveBack gives the block back if no tensor was made with an array in it: it is for who
// knows that nobody else has one. Else it does nothing.
func (p *Pooled) GiveBack() {
	if p.close() && p.giveBack != nil {
		p.giveBack()
	}
}

// Discard gives back what the array lies in, on a device too, if no tensor was made with
// it: it is for who knows that nobody else has it.
func (a Array) Discard() {
	if a.owner != nil && a.owner.foreign == nil && a.owner.close() {
		a.owner.giveBack()
	}
	if a.remote != nil && a.remote.close() {
		a.remote.free()
	}
}

// hold counts one array of a tensor. It is false if the memory is a block that was given
// back.
func (o *owner) hold() bool {
	return o == nil || o.foreign != nil || o.holders.hold()
}

// drop ends a hold. The last one gives the block back.
func (o *owner) drop() {
	if o != nil && o.foreign == nil && o.holders.drop() {
		o.giveBack()
	}
}
