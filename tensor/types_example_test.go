package tensor_test

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// A table of element types.
func ExampleDType() {
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint32, tensor.BFloat16, tensor.Float64, tensor.Complex64} {
		kind := "truth values"
		switch {
		case dt.IsSigned():
			kind = "signed integers"
		case dt.IsUnsigned():
			kind = "unsigned integers"
		case dt.IsFloat():
			kind = "floats"
		case dt.IsComplex():
			kind = "complex numbers of " + dt.Real().String()
		}
		fmt.Printf("%v: %d bytes, %s, computed as %v; index arrays may have it: %v\n", dt, dt.Size(), kind, dt.Compute(), dt.IsInteger())
	}
	// Output:
	// bool: 1 bytes, truth values, computed as bool; index arrays may have it: false
	// i8: 1 bytes, signed integers, computed as i8; index arrays may have it: true
	// u32: 4 bytes, unsigned integers, computed as u32; index arrays may have it: true
	// bf16: 2 bytes, floats, computed as f32; index arrays may have it: false
	// f64: 8 bytes, floats, computed as f64; index arrays may have it: false
	// c64: 8 bytes, complex numbers of f32, computed as c64; index arrays may have it: false
}

// Scalars are numbers of a type that is known at run time only, such as a fill.
func ExampleScalar() {
	for _, x := range []tensor.Scalar{tensor.Int(tensor.Int8, 300), tensor.Uint(tensor.Uint16, 7), tensor.Float(tensor.Float16, 0.1), tensor.Complex(tensor.Complex64, 1+2i), tensor.Truth(true), tensor.One(tensor.Float32), tensor.Zero(tensor.Int64)} {
		fmt.Printf("%v %v = %v as c128, zero: %v\n", x.DType(), x, x.Complex128(), x.IsZero())
	}
	nan, err := tensor.ParseScalar("nan", tensor.Float64)
	fmt.Println(nan.IsNaN(), nan.Same(tensor.Float(tensor.Float64, nan.Float64())), nan.Convert(tensor.Int32), err)
	// Output:
	// i8 44 = (44+0i) as c128, zero: false
	// u16 7 = (7+0i) as c128, zero: false
	// f16 0.1 = (0.0999755859375+0i) as c128, zero: false
	// c64 1+2i = (1+2i) as c128, zero: false
	// bool true = (1+0i) as c128, zero: false
	// f32 1 = (1+0i) as c128, zero: false
	// i64 0 = (0+0i) as c128, zero: true
	// true true 0 <nil>
}

// Go has no types for half-precision numbers: F16 and BF16 are their bits, and these functions convert them.
func ExampleF16() {
	third := tensor.F16(tensor.Float16Bits(1.0 / 3))
	brain := tensor.BF16(tensor.BFloat16Bits(1.0 / 3))
	fmt.Println(tensor.Float16FromBits(uint16(third)), tensor.BFloat16FromBits(uint16(brain)))
	fmt.Println(tensor.Vector([]tensor.F16{third, third}), tensor.Number(brain))
	raw, err := tensor.ArrayOfHalf(tensor.BFloat16, []uint16{0x3f80, 0x4000}) // from a file, say
	fmt.Println(raw.DType(), raw.Scalar(0), raw.Scalar(1), err)
	// Output:
	// 0.33325195 0.33398438
	// 2 f16 D, 2 stored, fill 0 scalar bf16 D, 1 stored, fill 0
	// bf16 1 2 <nil>
}

// maximum is written for slices of all types that index arrays may have.
func maximum[I tensor.Index](list []I) (m I) {
	for _, x := range list {
		m = max(m, x)
	}
	return m
}

// Index arrays are as narrow as they may be, or of a type that is asked for.
func ExampleWithIndexTypes() {
	coords, values := [][]int{{0, 1, 1}, {2, 0, 1}}, tensor.ArrayOf([]float64{1, 2, 3})
	usual, _ := tensor.FromCoords([]int64{2, 3}, tensor.CSR, coords, values)
	wide, _ := tensor.FromCoords([]int64{2, 3}, tensor.CSR, coords, values, tensor.WithIndexTypes(tensor.Int64, tensor.Int32))
	narrow, _ := tensor.FromCoords([]int64{2, 3}, tensor.CSR, coords, values, tensor.WithIndexType(1, tensor.Uint8))
	for _, t := range []*tensor.Tensor{usual, wide, narrow} {
		pointers, _ := t.Pointers(0)
		indices, _ := t.Indices(1)
		fmt.Println(pointers.DType(), indices.DType(), "in", t.Bytes(), "bytes")
	}
	indices, _ := narrow.Indices(1)
	fmt.Println(maximum(tensor.View[uint8](indices)), indices.Bytes(), indices.Raw())
	// Output:
	// u32 u32 in 48 bytes
	// i64 i32 in 60 bytes
	// u8 u8 in 30 bytes
	// 2 3 [2 0 1]
}

// Arrays that are made element by element become a tensor when they are done.
func ExampleArray_SetScalar() {
	values, err := tensor.MakeArray(tensor.Float32, 3)
	for i := range values.Len() {
		values.SetScalar(i, tensor.Int(tensor.Int64, int64(i*i)))
	}
	x, _ := tensor.FromDense([]int64{3}, tensor.Dense(1), values)
	fmt.Println(x, tensor.StoredValues[float32](x), err)
	// Output: 3 f32 D, 3 stored, fill 0 [0 1 4] <nil>
}
