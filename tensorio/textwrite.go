package tensorio

import (
	"bufio"
	"fmt"
	"math"
	"strconv"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// appender appends the text of element i of an array.
type appender func(dst []byte, i int) []byte

// valueAppender returns how to write the elements of a: the shortest text that
// reads back as the same value of the same type, a complex number as two. true and
// false are 1 and 0.
func valueAppender(a tensor.Array) appender {
	switch a.DType() {
	case tensor.Bool, tensor.Uint8:
		return appendUints(tensor.View[uint8](a))
	case tensor.Uint16:
		return appendUints(tensor.View[uint16](a))
	case tensor.Uint32:
		return appendUints(tensor.View[uint32](a))
	case tensor.Uint64:
		return appendUints(tensor.View[uint64](a))
	case tensor.Int8:
		return appendInts(tensor.View[int8](a))
	case tensor.Int16:
		return appendInts(tensor.View[int16](a))
	case tensor.Int32:
		return appendInts(tensor.View[int32](a))
	case tensor.Int64:
		return appendInts(tensor.View[int64](a))
	case tensor.Float16:
		v := tensor.View[uint16](a)
		return func(dst []byte, i int) []byte {
			return shape16.appendShortest(dst, float64(tensor.Float16FromBits(v[i])))
		}
	case tensor.BFloat16:
		v := tensor.View[uint16](a)
		return func(dst []byte, i int) []byte {
			return shapeBF16.appendShortest(dst, float64(tensor.BFloat16FromBits(v[i])))
		}
	case tensor.Float32:
		v := tensor.View[float32](a)
		return func(dst []byte, i int) []byte { return appendFloat32(dst, v[i]) }
	case tensor.Float64:
		v := tensor.View[float64](a)
		return func(dst []byte, i int) []byte { return appendFloat64(dst, v[i]) }
	case tensor.Complex64:
		v := tensor.View[complex64](a)
		return func(dst []byte, i int) []byte {
			return appendFloat32(append(appendFloat32(dst, real(v[i])), ' '), imag(v[i]))
		}
	case tensor.Complex128:
		v := tensor.View[complex128](a)
		return func(dst []byte, i int) []byte {
			return appendFloat64(append(appendFloat64(dst, real(v[i])), ' '), imag(v[i]))
		}
	}
	panic(fmt.Sprintf("BUG: no text for values of type %v", a.DType()))
}

func appendUints[T uint8 | uint16 | uint32 | uint64](v []T) appender {
	return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(v[i]), 10) }
}

func appendInts[T int8 | int16 | int32 | int64](v []T) appender {
	return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(v[i]), 10) }
}

// writeEntries writes a line for every entry: indices from 1, and the value unless
// value is nil.
func writeEntries(w *bufio.Writer, coords [][]int64, n int, value appender) error {
	var line []byte
	for i := range n {
		line = line[:0]
		for _, c := range coords {
			line = strconv.AppendUint(line, uint64(c[i])+1, 10)
			line = append(line, ' ')
		}
		if value != nil {
			line = value(line, i)
		} else if len(line) > 0 {
			line = line[:len(line)-1]
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// joinSizes writes sizes with spaces between.
func joinSizes(sizes []int64) string {
	var b []byte
	for i, d := range sizes {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, d, 10)
	}
	return string(b)
}

// needZeroFill refuses tensors whose unstored elements are not 0: the sparse text
// formats cannot say so.
func needZeroFill(t *tensor.Tensor, what string) error {
	if t.Format().IsDense() || t.Fill().IsZero() {
		return nil
	}
	return fmt.Errorf("%s means 0 by what it leaves out, but what this tensor leaves out is %v: write it to a .npy file", what, t.Fill())
}

// allTrue reports whether every element of a bool array is true.
func allTrue(a tensor.Array) bool {
	for _, b := range tensor.View[uint8](a) {
		if b == 0 {
			return false
		}
	}
	return true
}

// fitsInt64 reports whether every element of a Uint64 array is below 2^63.
func fitsInt64(a tensor.Array) bool {
	for _, v := range tensor.View[uint64](a) {
		if v > math.MaxInt64 {
			return false
		}
	}
	return true
}
