// Package alloc has the memory of runs: results, and temporaries that a run gives back.
package alloc

import (
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
// Every block starts at a multiple of Align bytes and is padded to one,
// so that vector code may load whole vectors up to the end.

// Align is what addresses and sizes of blocks are multiples of.
const Align = 64

// maxPooled is the size of the largest temporaries from pools.
const maxPooled = 32 << 20

// Allocator hands out and takes back memory. It is shared by all runs of an
// engine and safe for concurrent use.
type Allocator struct {
	pools [classCount]sync.Pool // of *pooled
	// Machine says how much memory there is.
	Machine func() admission.Machine
	idle    *recycler
}

// New has nothing yet, but what all share of results that nobody uses any more.
func New() *Allocator { return &Allocator{Machine: admission.Read, idle: idleResults} }

// pooled is a temporary on the Go heap. Its size is that of its class.
type pooled struct {
	ptr   unsafe.Pointer // keeps the block alive
	class int
}

// Temporary is a block that a run must give back. The zero value is none.
type Temporary struct {
	Ptr    unsafe.Pointer
	Bytes  int64
	heap   *pooled
	mapped []byte

	spilled *spill.Files // that mapped is a block of; nil: of none
}

// Result returns Go memory of so many bytes, at least one, which are zero
// if that is asked for and anything otherwise; and the block that it lies in, nil for small ones.
func (a *Allocator) Result(bytes int64, fill Fill) (unsafe.Pointer, *tensor.Pooled) {
	size := Padded(bytes)
	if size < minRecycled {
		return goMemory(size, fill), nil
	}
	b, used := a.idle.block(size, func(size int64) unsafe.Pointer { return goMemory(size, fill) })
	p := b.Pointer()
	if used && fill == Zeroed {
		clear(unsafe.Slice((*byte)(p), size))
	} else if used {
		poison(p, size)
	}
	return p, b
}

// goMemory is a new block of the Go heap. From minRecycled bytes on it begins where
// the heap's object does: such objects have pages of their own.
func goMemory(size int64, fill Fill) unsafe.Pointer {
	const word = 8
	room := size + Align - word
	if size <= smallBlock {
		// The heap has objects of just that size, side by side from where a page begins.
		if p := unsafe.Pointer(unsafe.SliceData(make([]uint64, size/word))); uintptr(p)%Align == 0 {
			if fill == Anything {
				poison(p, size)
			}
			return p
		}
	}
	var p unsafe.Pointer
	if fill == Zeroed || size < minUnzeroed {
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
	p = unsafe.Add(p, -uintptr(p)&(Align-1))
	admission.AdviseHuge(p, size)
	if fill == Anything {
		poison(p, size)
	}
	return p
}

// smallBlock is up to which size, of whole lines of a cache, memory is asked for without room to begin at one.
const smallBlock = 512

// minUnzeroed is the size from which it pays not to clear memory.
const minUnzeroed = 16 << 10

// Temporary returns a block of at least one byte, whose bytes are zero if
// fill is Zeroed, and anything otherwise.
func (a *Allocator) Temporary(bytes int64, fill Fill) (Temporary, error) {
	size := Padded(bytes)
	if size > maxPooled {
		m, err := mapMemory(size) // fresh mappings are zero
		if err != nil {
			return Temporary{}, err
		}
		t := Temporary{Ptr: unsafe.Pointer(unsafe.SliceData(m)), Bytes: size, mapped: m}
		admission.AdviseHuge(t.Ptr, size)
		if fill == Anything {
			poison(t.Ptr, size)
		}
		return t, nil
	}
	class := classOf(size)
	h, ok := a.pools[class].Get().(*pooled)
	if !ok {
		h = &pooled{ptr: goMemory(classSize(class), fill), class: class}
		if fill == Zeroed {
			return Temporary{Ptr: h.ptr, Bytes: size, heap: h}, nil
		}
	}
	if fill == Zeroed {
		clear(unsafe.Slice((*byte)(h.ptr), size))
	} else {
		poison(h.ptr, size)
	}
	return Temporary{Ptr: h.ptr, Bytes: size, heap: h}, nil
}

// OfFiles is a temporary in a block of files that something spills to.
func OfFiles(block []byte, bytes int64, files *spill.Files) Temporary {
	return Temporary{Ptr: unsafe.Pointer(unsafe.SliceData(block)), Bytes: bytes, mapped: block, spilled: files}
}

// Release takes a block back.
func (a *Allocator) Release(t Temporary) {
	switch {
	case t.heap != nil:
		a.pools[t.heap.class].Put(t.heap)
	case t.spilled != nil:
		t.spilled.Free(t.mapped)
	case t.mapped != nil:
		unmapMemory(t.mapped)
	}
}

// Fill says what a new block holds.
type Fill uint8

// What a new block holds.
const (
	Anything Fill = iota
	Zeroed
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

// Padded is the size of the block for a buffer: a multiple of Align, and
// not zero, so that every buffer has an address.
func Padded(bytes int64) int64 {
	return max(bytes+Align-1, Align) &^ (Align - 1)
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
