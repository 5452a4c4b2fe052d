package runtime

import (
	"errors"
	"math"
	"math/bits"
	"strings"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// All memory of a run is allocated here, between stages. Where it comes from
// depends on who has it afterwards and on its size:
//
//   - Results are Go memory, because the caller keeps them for as long as he
//     likes. Blocks that he has released, or that the garbage collector has
//     found, are used again (recycle.go).
//   - Temporaries up to maxPooled are Go memory from pools by size class, so
//     that repeated calls find warm pages. A pool that is not used is emptied
//     by the garbage collector.
//   - Larger temporaries are anonymous mappings, given back as soon as the
//     last stage that uses them is done: the Go heap would keep them until the
//     next collection, would let them double its target size, and would end
//     the process rather than return an error when the system has no more.
//   - Where a run spills, what is too large for memory is in files instead (internal/spill).
//
// Every block starts at a multiple of blockAlign bytes and is padded to one,
// so that vector code may load whole vectors up to the end.
const (
	blockAlign = 64
	maxPooled  = 32 << 20
)

// allocator hands out and takes back memory. It is shared by all runs of an
// engine and safe for concurrent use.
type allocator struct {
	pools   [classCount]sync.Pool // of *pooled
	machine func() admission.Machine
	idle    *recycler
}

func newAllocator() *allocator { return &allocator{machine: admission.Read, idle: idleResults} }

// pooled is a temporary on the Go heap. Its size is that of its class.
type pooled struct {
	ptr   unsafe.Pointer // keeps the block alive
	class int
}

// temporary is a block that a run must give back. The zero value is none.
type temporary struct {
	ptr    unsafe.Pointer
	bytes  int64
	heap   *pooled
	mapped []byte

	spilled *spill.Files // that mapped is a block of; nil: of none
}

// result returns Go memory for n elements, and of at least one byte, whose bytes are zero
// if that is asked for and anything otherwise.
func (a *allocator) result(n, elemSize int64, fill fillMode) Memory {
	size := padded(n * elemSize)
	if size < minRecycled {
		return Memory{Ptr: goMemory(size, fill), Len: n}
	}
	b, used := a.idle.block(size, func(size int64) unsafe.Pointer { return goMemory(size, fill) })
	p := b.Pointer()
	if used && fill == zeroed {
		clear(unsafe.Slice((*byte)(p), size))
	} else if used {
		poison(p, size)
	}
	return Memory{Ptr: p, Len: n, Pooled: b}
}

// goMemory is a new block of the Go heap. From minRecycled bytes on it begins where
// the heap's object does: such objects have pages of their own.
func goMemory(size int64, fill fillMode) unsafe.Pointer {
	const word = 8
	room := size + blockAlign - word
	if size <= smallBlock {
		// The heap has objects of just that size, side by side from where a page begins.
		if p := unsafe.Pointer(unsafe.SliceData(make([]uint64, size/word))); uintptr(p)%blockAlign == 0 {
			if fill == anything {
				poison(p, size)
			}
			return p
		}
	}
	var p unsafe.Pointer
	if fill == zeroed || size < minUnzeroed {
		p = unsafe.Pointer(unsafe.SliceData(make([]uint64, room/word)))
	} else {
		// A kernel that writes every element need not find zeros: clearing a
		// result costs as much as an eighth of a product that fills it. A
		// string builder is the public way to Go memory that is not cleared;
		// nobody sees the string.
		var b strings.Builder
		b.Grow(int(room))
		b.WriteByte(0)
		p = unsafe.Pointer(unsafe.StringData(b.String()))
	}
	p = unsafe.Add(p, -uintptr(p)&(blockAlign-1))
	admission.AdviseHuge(p, size)
	if fill == anything {
		poison(p, size)
	}
	return p
}

// smallBlock is up to which size, of whole lines of a cache, memory is asked for without room to begin at one.
const smallBlock = 512

// minUnzeroed is the size from which it pays not to clear memory.
const minUnzeroed = 16 << 10

// temporary returns a block of at least one byte, whose bytes are zero if
// clear is asked for and anything otherwise.
func (a *allocator) temporary(bytes int64, fill fillMode) (temporary, error) {
	size := padded(bytes)
	if size > maxPooled {
		m, err := mapMemory(size) // fresh mappings are zero
		if err != nil {
			return temporary{}, err
		}
		t := temporary{ptr: unsafe.Pointer(unsafe.SliceData(m)), bytes: size, mapped: m}
		admission.AdviseHuge(t.ptr, size)
		if fill == anything {
			poison(t.ptr, size)
		}
		return t, nil
	}
	class := classOf(size)
	h, ok := a.pools[class].Get().(*pooled)
	if !ok {
		h = &pooled{ptr: goMemory(classSize(class), fill), class: class}
		if fill == zeroed {
			return temporary{ptr: h.ptr, bytes: size, heap: h}, nil
		}
	}
	if fill == zeroed {
		clear(unsafe.Slice((*byte)(h.ptr), size))
	} else {
		poison(h.ptr, size)
	}
	return temporary{ptr: h.ptr, bytes: size, heap: h}, nil
}

// release takes a block back.
func (a *allocator) release(t temporary) {
	switch {
	case t.heap != nil:
		a.pools[t.heap.class].Put(t.heap)
	case t.spilled != nil:
		t.spilled.Free(t.mapped)
	case t.mapped != nil:
		unmapMemory(t.mapped)
	}
}

// fillMode says what a new block holds.
type fillMode uint8

const (
	anything fillMode = iota
	zeroed
)

// poison makes reads of memory that was never written visible.
func poison(p unsafe.Pointer, bytes int64) {
	if debug.PoisonMemory {
		b := unsafe.Slice((*byte)(p), bytes)
		for i := range b {
			b[i] = 0xA5
		}
	}
}

// padded is the size of the block for a buffer: a multiple of blockAlign, and
// not zero, so that every buffer has an address.
func padded(bytes int64) int64 {
	return max(bytes+blockAlign-1, blockAlign) &^ (blockAlign - 1)
}

// Size classes are 1, 1¼, 1½ and 1¾ times a power of two from minClass up to
// maxPooled, so that at most a fifth of a block is unused.
const (
	minClassBits = 8
	maxClassBits = 25
	classCount   = (maxClassBits-minClassBits)*4 + 1
)

// classSize is the size in bytes of the blocks of a class.
func classSize(class int) int64 {
	return int64(4+class%4) << (minClassBits - 2 + class/4)
}

// classOf is the smallest class whose blocks hold size bytes.
func classOf(size int64) int {
	if size <= 1<<minClassBits {
		return 0
	}
	power := bits.Len64(uint64(size-1)) - 1 // 2^power < size <= 2^(power+1)
	quarter := int64(1) << (power - 2)
	return (power-minClassBits)*4 + int((size-int64(1)<<power+quarter-1)/quarter)
}

// limitOption is the source of a limit that options of a run give.
const limitOption = admission.Option

// Admits says whether a run with the given options may allocate the n elements of a dense result, before any
// stage has begun: nil, or a [*MemoryLimitError].
func Admits(result string, n int64, elem tensor.DType, o Options) error {
	if o.Spill != nil {
		return nil
	}
	var c admission.Account
	c.Open(o.MemoryLimit)
	need := bytesOf(n, int64(elem.Size()))
	if c.Reserve(need, o.MemoryLimit, admission.Read) {
		return nil
	}
	return &MemoryLimitError{Program: result, Buffer: result, Len: n, Elem: elem.String(), Need: need, Limit: c.Limit, Source: c.Source}
}

// Refused is the [*MemoryLimitError] of what is done outside of a run, such as "to convert CSR to D", if err is because memory was
// refused; else it is err.
func Refused(what string, err error) error {
	var r *admission.Error
	if !errors.As(err, &r) {
		return err
	}
	return &MemoryLimitError{Program: what, Buffer: what, Len: r.Need, Elem: "byte", Need: r.Need, InUse: r.InUse, Limit: r.Limit, Source: r.Source}
}

// bytesOf is the size of n elements, or math.MaxInt64 when that is too large.
func bytesOf(n, elemSize int64) int64 {
	b, ok := mulChecked(n, elemSize)
	if !ok || b > math.MaxInt64-2*blockAlign {
		return math.MaxInt64
	}
	return b
}

// saturatingAdd adds two numbers that are not negative.
func saturatingAdd(x, y int64) int64 {
	if z, ok := addChecked(x, y); ok {
		return z
	}
	return math.MaxInt64
}
