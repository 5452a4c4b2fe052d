package runtime

import (
	"errors"
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/overflow"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Memory is a block of elements of one buffer. The element type is the
// buffer's, known to the program.
type Memory struct {
	// Ptr is the first element. It may be nil when Len is 0. Go memory that it
	// points to stays alive as long as the Memory is reachable.
	Ptr unsafe.Pointer
	// Len is the number of elements (not bytes).
	Len int64
	// Keep holds whatever owns the memory when that is not the Go heap, such
	// as a mapped file. The runtime only keeps it reachable.
	Keep any
	// Pooled, of a result, is the block that it lies in; nil for small ones.
	Pooled *tensor.Pooled
	// On, if not nil, has the same elements in the memory of an accelerator; for
	// that Ptr may be nil.
	On *Resident
}

// GiveBack gives the memory of a result back before a tensor was made of it; it must not
// be used any more.
func (m Memory) GiveBack() {
	if m.Pooled != nil {
		m.Pooled.GiveBack()
	}
	if m.On != nil {
		m.On.Free()
	}
}

// MemoryOf is the memory of a slice. E must have the size of the buffer's
// element type: uint16 for f16 and bf16, complex64 for c64, and so on.
func MemoryOf[E any](s []E) Memory {
	return Memory{Ptr: unsafe.Pointer(unsafe.SliceData(s)), Len: int64(len(s))}
}

// SliceOf views memory as a slice. E must have the size of the buffer's
// element type. Memory that lives outside the Go heap must be kept alive by
// the caller for as long as the slice is used.
func SliceOf[E any](m Memory) []E {
	return unsafe.Slice((*E)(m.Ptr), m.Len)
}

// alignOf is the alignment kernels rely on for elements of type t: their size,
// or for complex types that of the parts.
func alignOf(t loop.Type) uintptr { return uintptr(t.Real().Size()) }

// loadInt reads element i of an integer buffer, i being in range. It is not ok
// when the value exceeds the largest int64, which only a u64 can.
func loadInt(m Memory, elem loop.Type, i int64) (v int64, ok bool) {
	p := unsafe.Add(m.Ptr, i*int64(elem.Size()))
	switch elem {
	case loop.I8:
		return int64(*(*int8)(p)), true
	case loop.I16:
		return int64(*(*int16)(p)), true
	case loop.I32:
		return int64(*(*int32)(p)), true
	case loop.I64:
		return *(*int64)(p), true
	case loop.U8:
		return int64(*(*uint8)(p)), true
	case loop.U16:
		return int64(*(*uint16)(p)), true
	case loop.U32:
		return int64(*(*uint32)(p)), true
	case loop.U64:
		v := *(*uint64)(p)
		return int64(v), v <= 1<<63-1
	}
	panic("BUG: integer load from a buffer of " + elem.String())
}

// newResult is memory for n elements of a result.
func newResult(a *alloc.Allocator, n, elemSize int64, fill alloc.Fill) Memory {
	p, pooled := a.Result(n*elemSize, fill)
	return Memory{Ptr: p, Len: n, Pooled: pooled}
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
	b, ok := overflow.Mul(n, elemSize)
	if !ok || b > math.MaxInt64-2*alloc.Align {
		return math.MaxInt64
	}
	return b
}

// saturatingAdd adds two numbers that are not negative.
func saturatingAdd(x, y int64) int64 {
	if z, ok := overflow.Add(x, y); ok {
		return z
	}
	return math.MaxInt64
}
