package tensor

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Array is typed contiguous memory: a tensor's values or one of its index
// arrays. Copies of an Array share the memory. The zero Array has no type and
// no elements.
type Array struct {
	dt DType
	n  int
	// data keeps memory of the Go heap alive; nil in the zero Array, and where only
	// remote has the elements.
	data  unsafe.Pointer
	owner *owner // of memory that is foreign or from a pool; keeps the former alive
	// remote, if not nil, has the elements too, or has them alone until data is read.
	remote *remote
}

// Element is a Go type that array elements can be viewed as: int and uint are Int64 and
// Uint64, [F16] and [BF16] are Float16 and BFloat16.
type Element interface {
	bool | Index | F16 | BF16 | float32 | float64 | complex64 | complex128
}

// Index is a Go type of coordinates and pointers.
type Index interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64
}

// F16 is the bits of an element of type Float16.
type F16 uint16

// BF16 is the bits of an element of type BFloat16.
type BF16 uint16

// MakeArray allocates an array of n zeroed elements of type dt, aligned to 64
// bytes. A negative n, an invalid type, or more memory than the machine has
// left is an error.
func MakeArray(dt DType, n int) (Array, error) {
	if !dt.Valid() {
		return Array{}, fmt.Errorf("cannot make an array of type %s", dt)
	}
	if n < 0 || n > (math.MaxInt-column.Alignment)/dt.Size() {
		return Array{}, fmt.Errorf("cannot make an array of %d elements of type %s: the size overflows", n, dt)
	}
	p, err := column.Allocate(n * dt.Size())
	if err != nil {
		return Array{}, fmt.Errorf("cannot make an array of %d elements of type %s: %w", n, dt, err)
	}
	return Array{dt: dt, n: n, data: p}, nil
}

// ArrayOf returns the slice as an array, without copying. The caller must not
// write to the slice while the array is in use.
func ArrayOf[T Element](s []T) Array {
	if len(s) == 0 {
		return Array{dt: dtypeOf[T](), data: unsafe.Pointer(&emptyMemory)}
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	return Array{dt: dtypeOf[T](), n: len(s), data: p, owner: ownerOf(p)}
}

// ArrayOfHalf returns the bits of half-precision numbers as an array of type
// dt, Float16 or BFloat16, without copying.
func ArrayOfHalf(dt DType, bits []uint16) (Array, error) {
	if dt != Float16 && dt != BFloat16 {
		return Array{}, fmt.Errorf("type %s is not a half-precision type: use f16 or bf16", dt)
	}
	a := ArrayOf(bits)
	a.dt = dt
	return a, nil
}

// emptyMemory is what arrays without elements point to. It is never written.
var emptyMemory [column.Alignment]byte

// dtypeOf is the element type that a Go type holds; int and uint are of 64 bits where we run.
func dtypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case bool:
		return Bool
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int, int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint, uint64:
		return Uint64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}

// View returns the elements as a slice that shares the array's memory. T must
// be as wide as the element type; a type of the same width reads the bits (so
// uint16 views a Float16 array). Any other T gives nil. If the memory is that of a
// mapped file, the array or its tensor must stay reachable while the slice is used.
// Finalizers and cleanups belong on the tensor, not on the memory of its elements: that of
// a result has a finalizer already.
func View[T Element](a Array) []T {
	if int(unsafe.Sizeof(*new(T))) != a.dt.Size() {
		return nil
	}
	data := a.local()
	if data == nil {
		return nil
	}
	return unsafe.Slice((*T)(data), a.n)
}

// DType is the type of the elements; Invalid for the zero Array.
func (a Array) DType() DType { return a.dt }

// Len is the number of elements.
func (a Array) Len() int { return a.n }

// Bytes is the memory the elements take, in bytes.
func (a Array) Bytes() int64 { return int64(a.n) * int64(a.dt.Size()) }

// Pointer is the address of the first element; never nil, even when there is
// no element. The memory lives as long as the Array or the pointer.
func (a Array) Pointer() unsafe.Pointer {
	if data := a.local(); data != nil {
		return data
	}
	return unsafe.Pointer(&emptyMemory)
}

// Raw is the memory of the elements as bytes, shared.
func (a Array) Raw() []byte {
	return unsafe.Slice((*byte)(a.Pointer()), a.n*a.dt.Size())
}

// Slice is elements lo to hi-1 as an array that shares the memory. Bounds are
// those of a Go slice expression.
func (a Array) Slice(lo, hi int) Array {
	if lo < 0 || hi < lo || hi > a.n {
		panic(fmt.Sprintf("BUG: slice [%d:%d] of an array of %d elements", lo, hi, a.n))
	}
	if lo == hi {
		return Array{dt: a.dt, data: a.Pointer(), owner: a.owner}
	}
	return Array{dt: a.dt, n: hi - lo, data: unsafe.Add(a.local(), lo*a.dt.Size()), owner: a.owner}
}

// At64 is element i of an array of integers or Bools, zero- or sign-extended
// to 64 bits; a Uint64 above 2^63-1 wraps. Floats are truncated. Like a slice
// it must be indexed within its length.
func (a Array) At64(i int) int64 {
	switch a.dt {
	case Bool, Uint8:
		return int64(View[uint8](a)[i])
	case Uint16:
		return int64(View[uint16](a)[i])
	case Uint32:
		return int64(View[uint32](a)[i])
	case Int32:
		return int64(View[int32](a)[i])
	case Int64, Uint64:
		return View[int64](a)[i]
	}
	return a.Scalar(i).Int64()
}

// Scalar is element i. Like a slice the array must be indexed within its
// length.
func (a Array) Scalar(i int) Scalar {
	switch a.dt {
	case Bool:
		return Scalar{Bool, uint64(min(View[uint8](a)[i], 1)), 0}
	case Int8:
		return Scalar{Int8, uint64(View[int8](a)[i]), 0}
	case Int16:
		return Scalar{Int16, uint64(View[int16](a)[i]), 0}
	case Int32:
		return Scalar{Int32, uint64(View[int32](a)[i]), 0}
	case Uint8:
		return Scalar{Uint8, uint64(View[uint8](a)[i]), 0}
	case Uint16:
		return Scalar{Uint16, uint64(View[uint16](a)[i]), 0}
	case Float16:
		return Scalar{Float16, uint64(math.Float32bits(Float16FromBits(View[uint16](a)[i]))), 0}
	case BFloat16:
		return Scalar{BFloat16, uint64(math.Float32bits(BFloat16FromBits(View[uint16](a)[i]))), 0}
	case Uint32, Float32:
		return Scalar{a.dt, uint64(View[uint32](a)[i]), 0}
	case Int64, Uint64, Float64:
		return Scalar{a.dt, View[uint64](a)[i], 0}
	case Complex64:
		bits := View[uint64](a)[i]
		parts := (*[2]uint32)(unsafe.Pointer(&bits))
		return Scalar{a.dt, uint64(parts[0]), uint64(parts[1])}
	case Complex128:
		v := View[complex128](a)[i]
		return Scalar{a.dt, math.Float64bits(real(v)), math.Float64bits(imag(v))}
	}
	panic(fmt.Sprintf("BUG: element %d of an array without a type", i))
}

// SetScalar writes x, converted to the array's type, to element i. It is for
// arrays under construction; the arrays of a tensor are read-only.
func (a Array) SetScalar(i int, x Scalar) {
	x = x.Convert(a.dt)
	switch a.dt.Size() {
	case 1:
		View[uint8](a)[i] = uint8(x.lo)
	case 2:
		View[uint16](a)[i] = uint16(x.storage())
	case 4:
		View[uint32](a)[i] = uint32(x.lo)
	case 8:
		View[uint64](a)[i] = x.storage()
	case 16:
		View[complex128](a)[i] = complex(math.Float64frombits(x.lo), math.Float64frombits(x.hi))
	default:
		panic(fmt.Sprintf("BUG: element %d of an array without a type", i))
	}
}

// storage is the scalar's bits as an array element holds them, for types of at
// most 8 bytes.
func (x Scalar) storage() uint64 {
	switch x.dt {
	case Float16:
		return uint64(Float16Bits(math.Float32frombits(uint32(x.lo))))
	case BFloat16:
		return uint64(BFloat16Bits(math.Float32frombits(uint32(x.lo))))
	case Complex64:
		parts := [2]uint32{uint32(x.lo), uint32(x.hi)}
		return *(*uint64)(unsafe.Pointer(&parts))
	}
	return x.lo
}

// Convert returns the elements converted to type dt by the rules of
// [Scalar.Convert]; the array itself if it has that type already.
func (a Array) Convert(dt DType) (Array, error) {
	defer runtime.KeepAlive(a.owner)
	if a.dt == dt {
		return a, nil
	}
	out, err := MakeArray(dt, a.n)
	if err != nil {
		return Array{}, err
	}
	for i := range a.n {
		out.SetScalar(i, a.Scalar(i))
	}
	return out, nil
}
