package tensor_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Who is done with a large tensor may say so. What uses it after that is an error and no crash.
func ExampleTensor_Release() {
	x := tensor.Vector([]float64{1, 2, 3})
	also := x.Share() // is released by itself
	x.Release()
	_, err := x.Convert(tensor.CSF(1))
	fmt.Println(x.Released(), errors.Is(err, tensor.ErrReleased))
	fmt.Println(also.Released(), also)
	// Output:
	// true true
	// false 3 f64 D, 3 stored, fill 0
}

// mapped stands for memory that is not Go's, as mmap returns it.
var mapped = make([]float64, 4)

// Memory of a mapped file, or of another library, is used as it is, and let go of when no array is in it.
func ExampleNewForeign() {
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&mapped[0])), 32)
	binary.NativeEndian.PutUint64(memory[8:], math.Float64bits(2.5))
	f := tensor.NewForeign(memory, func() { /* munmap */ })
	values, err := f.Array(tensor.Float64, 8, 3)
	fmt.Println(values.Scalar(0), values.Len(), values.Foreign() == f, err)
	_, err = f.Array(tensor.Float64, 16, 3)
	fmt.Println(err)
	// Output:
	// 2.5 3 true <nil>
	// 3 elements of type f64 at offset 16 do not lie within 32 bytes
}

// An engine that reuses memory of results hears when nobody has the block any more.
func ExampleNewPooled() {
	block := make([]byte, 64)
	p := tensor.NewPooled(block, func() { fmt.Println("used again") })
	values := p.Array(tensor.Float64, p.Pointer(), 8)
	y, err := tensor.FromDense([]int64{8}, tensor.Dense(1), values)
	p.GiveBack() // does nothing: a tensor has it
	fmt.Println(y, err)
	y.Release()
	unused := tensor.NewPooled(make([]byte, 8), func() { fmt.Println("given back") })
	unused.GiveBack()
	alone := tensor.HeapArray(tensor.Int64, unsafe.Pointer(&make([]int64, 2)[0]), 2) // memory that is in no block
	fmt.Println(alone.Len())
	// Output:
	// 8 f64 D, 8 stored, fill 0 <nil>
	// used again
	// given back
	// 2
}

// device is another memory.
type device struct{ elements []float32 }

func (d *device) Fetch() (unsafe.Pointer, error) {
	fmt.Println("brought over")
	return unsafe.Pointer(&d.elements[0]), nil
}

func (d *device) Free() { fmt.Println("freed") }

// An engine with memory of its own leaves results there. They come over when something reads them.
func ExampleRemoteArray() {
	there := tensor.RemoteArray(tensor.Float32, 3, &device{[]float32{1, 2, 3}})
	x, _ := tensor.FromDense([]int64{3}, tensor.Dense(1), there)
	fmt.Println(x, there.Here(), there.Fetched())
	fmt.Println(x.At(2), there.Fetched(), there.Remote() != nil)
	x.Release()
	var d tensor.Remote = &device{[]float32{4}}
	both := tensor.ArrayOf([]float32{4}).WithRemote(d) // in both memories
	fmt.Println(both.Here(), both.Scalar(0))
	both.Discard()
	// Output:
	// 3 f32 D, 3 stored, fill 0 false false
	// brought over
	// 3 true true
	// freed
	// true 4
	// freed
}

// Every array of a tensor, replaced by the same elements elsewhere.
func ExampleTensor_MapArrays() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 2}, []int{2, 0}, []float64{1, 2})
	bytes := int64(0)
	B, err := A.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		bytes += a.Bytes()
		return a.Convert(a.DType()) // or a copy on a device
	})
	fmt.Println(B, bytes == A.Bytes(), err)
	// Output: 2x3 f64 CSR, 2 stored, fill 0 true <nil>
}
