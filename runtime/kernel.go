package runtime

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// kernel is a compiled loop function. This is all that engines differ in.
type kernel interface {
	// call runs one chunk and returns the function's status: loop.StatusStopped
	// soon after the frame's stop word is set. An engine that checks accesses
	// returns an error where the function breaks a rule. It is called by several
	// goroutines at once with the same frame, which it only reads.
	call(f *frame, chunk, lo, hi int64) (status int64, err error)
}

// frame is what a stage gives to its function, in the two forms that engines
// want it in. Filling in both costs a few stores and spares a call a branch.
type frame struct {
	bufs []interp.Memory
	args []int64
	// block is the argument block of native code: the address of each buffer,
	// then the scalars, then the address of the stop word. The garbage collector
	// sees no pointers in it; the memory is kept alive by the state's list of
	// buffers.
	block []uint64
	// stop is set by package watch to make kernels that are running return.
	stop *atomic.Uint32
	// scratch lists the buffers of which every thread has its own.
	scratch []scratch
}

// scratch is a buffer of a stage of which every thread has a copy.
type scratch struct {
	buf    int     // its place among the stage's buffers
	stride uintptr // from one thread's copy to the next
}

func newFrame(bufs, args int) frame {
	return frame{
		bufs:  make([]interp.Memory, bufs),
		args:  make([]int64, args),
		block: make([]uint64, bufs+args+1),
		stop:  new(atomic.Uint32),
	}
}

// fill puts a stage's buffers and scalars in.
func (f *frame) fill(st *stagePlan, mem []Memory, scalars []int64) {
	f.bufs = f.bufs[:len(st.bufs)]
	for i, id := range st.bufs {
		m := &mem[id]
		f.bufs[i] = interp.Memory{Ptr: m.Ptr, Len: m.Len}
		f.block[i] = uint64(uintptr(m.Ptr))
	}
	f.scratch = f.scratch[:0]
	for _, i := range st.scratch {
		f.scratch = append(f.scratch, scratch{i, uintptr(alloc.Padded(bytesOf(f.bufs[i].Len, st.elemSize[i])))})
	}
	f.args = f.args[:len(st.args)]
	for i, id := range st.args {
		f.args[i] = scalars[id]
		f.block[len(st.bufs)+i] = uint64(scalars[id])
	}
	f.block[len(st.bufs)+len(st.args)] = uint64(uintptr(unsafe.Pointer(f.stop)))
}

// forThread is the frame that a thread uses: the first one's is f itself, the
// others have copies of their own of what every thread has.
func (f *frame) forThread(thread int64) *frame {
	if thread == 0 || len(f.scratch) == 0 {
		return f
	}
	own := f.clone()
	for _, s := range f.scratch {
		b := &own.bufs[s.buf]
		b.Ptr = unsafe.Add(b.Ptr, s.stride*uintptr(thread))
		own.block[s.buf] = uint64(uintptr(b.Ptr))
	}
	return own
}

// clone is a frame with the same buffers, of which others can be set.
func (f *frame) clone() *frame {
	own := *f
	own.bufs = slices.Clone(f.bufs)
	own.block = slices.Clone(f.block)
	return &own
}

// set gives the function another memory as its i-th buffer.
func (f *frame) set(i int, m Memory) {
	f.bufs[i] = interp.Memory{Ptr: m.Ptr, Len: m.Len}
	f.block[i] = uint64(uintptr(m.Ptr))
}

// reset lets go of the memory of a run.
func (f *frame) reset() { clear(f.bufs[:cap(f.bufs)]) }

// blockPtr is the address of the argument block.
func (f *frame) blockPtr() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(f.block)) }
