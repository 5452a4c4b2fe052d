package llvm

import (
	"runtime"
	"slices"
	"unsafe"
)

// Call runs a compiled kernel, a C function
//
//	int64_t kernel(const int64_t *args, int64_t chunk, int64_t lo, int64_t hi)
//
// and returns its result. The argument block may be Go memory; it is kept alive
// and in place during the call, but what addresses in it point to is the
// caller's to keep alive (an ArgBlock does). The kernel runs on the thread's
// system stack and is not preempted: the caller cuts long work into chunks, and
// stops it through the stop word whose address ends the block.
func Call(fn uintptr, args unsafe.Pointer, chunk, lo, hi int64) int64 {
	return callKernel(fn, args, chunk, lo, hi)
}

// ArgBlock is the packed argument block of a kernel: 8-byte slots, first one
// address for each buffer, then the scalar arguments, then the address of the
// stop word, null here: nothing stops the kernel. It keeps the buffers alive. Go's heap objects do not move, so their addresses stay good.
type ArgBlock struct {
	slots   []int64
	buffers []unsafe.Pointer // what the collector sees of the addresses in slots
}

// NewArgBlock packs the addresses of buffers (nil for an empty one; Go memory or
// not) and scalars.
func NewArgBlock(buffers []unsafe.Pointer, scalars []int64) *ArgBlock {
	b := &ArgBlock{
		slots:   make([]int64, 0, len(buffers)+len(scalars)+1),
		buffers: slices.Clone(buffers),
	}
	for _, p := range b.buffers {
		b.slots = append(b.slots, int64(uintptr(p)))
	}
	b.slots = append(append(b.slots, scalars...), 0)
	return b
}

// Call runs the kernel at fn with the block, as the function Call does. It may
// be called by several goroutines at once.
func (b *ArgBlock) Call(fn uintptr, chunk, lo, hi int64) int64 {
	status := Call(fn, unsafe.Pointer(unsafe.SliceData(b.slots)), chunk, lo, hi)
	runtime.KeepAlive(b)
	return status
}
