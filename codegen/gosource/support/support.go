// Package support is what packages of Go source that lacuna build makes have in common: operators of the loop language
// that Go has otherwise, arrays and checks. Generated code alone should import it.
package support

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// problem is what a kernel panics with, and returns as an error.
type problem struct{ error }

// Fail ends the kernel with an error.
func Fail(format string, args ...any) { panic(problem{fmt.Errorf(format, args...)}) }

// Caught makes an error of what ended a kernel; it is to be deferred.
func Caught(kernel string, err *error) {
	switch p := recover().(type) {
	case nil:
	case problem:
		*err = fmt.Errorf("%s: %w", kernel, p.error)
	case error: // an index out of range: of an operand whose arrays are not those of a tensor
		*err = fmt.Errorf("%s: %w", kernel, p)
	default:
		panic(p)
	}
}

// Go fails if the context has ended.
func Go(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		panic(problem{err})
	}
}

// V is x, and no constant to Go, which refuses to compile constants that overflow.
func V[T any](x T) T { return x }

// If is x if cond holds and else y.
func If[T any](cond bool, x, y T) T {
	if cond {
		return x
	}
	return y
}

// IfFloat is If without a branch: compilers move integers on a condition, and no floats.
func IfFloat(cond bool, x, y float64) float64 {
	a, b := math.Float64bits(x), math.Float64bits(y)
	if cond {
		b = a
	}
	return math.Float64frombits(b)
}

// Integer are the integer types.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Float are the floating-point types.
type Float interface{ ~float32 | ~float64 }

// Num is 1 for true and 0 for false.
func Num[T Integer | Float](x bool) T {
	if x {
		return 1
	}
	return 0
}

// Both is x && y, with at most one branch.
func Both(x, y bool) bool { return Num[uint8](x)&Num[uint8](y) != 0 }

// Div is x/y, and 0 if y is.
func Div[T Integer](x, y T) T {
	if y == 0 {
		return 0
	}
	return x / y
}

// Rem is x%y, and 0 if y is.
func Rem[T Integer](x, y T) T {
	if y == 0 {
		return 0
	}
	return x % y
}

// AbsInt is the absolute value; that of the least integer is itself.
func AbsInt[T Integer](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// Abs32 is the absolute value.
func Abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Min is the lesser one, the one NaN of the loop language if one is NaN.
func Min[T Float](x, y T) T { return oneNaN(min(x, y)) }

// Max is the greater one, the one NaN of the loop language if one is NaN.
func Max[T Float](x, y T) T { return oneNaN(max(x, y)) }

func oneNaN[T Float](x T) T {
	if x != x {
		return T(plainNaN)
	}
	return x
}

var plainNaN = math.Float64frombits(loop.Float(loop.F64, math.NaN()).Bits)

// MinNum is the lesser one, the other one if one is NaN.
func MinNum[T Float](x, y T) T {
	if x != x || y < x {
		return y
	}
	return x
}

// MaxNum is the greater one, the other one if one is NaN.
func MaxNum[T Float](x, y T) T {
	if x != x || y > x {
		return y
	}
	return x
}

// The arithmetic of sizes, which fails where 63 bits are not enough.

func tooLarge() { Fail("a size does not fit 63 bits") }

// Add is x+y.
func Add(x, y int64) int64 {
	z := x + y
	if (z < x) != (y < 0) {
		tooLarge()
	}
	return z
}

// Sub is x-y.
func Sub(x, y int64) int64 {
	z := x - y
	if (z > x) != (y < 0) {
		tooLarge()
	}
	return z
}

// Mul is x*y.
func Mul(x, y int64) int64 {
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	if hi != 0 || int64(lo) < 0 {
		tooLarge()
	}
	return x * y
}

// Quo is x/y.
func Quo(x, y int64) int64 {
	if y == 0 {
		Fail("a size is divided by 0")
	}
	return x / y
}

// Size is an element of an integer buffer as a size.
func Size[T Integer](x T) int64 {
	if x > 0 && int64(x) < 0 {
		tooLarge()
	}
	return int64(x)
}

// Make makes n zeroed elements of the type dt, which E holds.
func Make[E any](dt tensor.DType, n int64, name string) []E {
	if n < 0 || n > math.MaxInt/16 {
		Fail("the size of %s does not fit", name)
	}
	a, err := tensor.MakeArray(dt, int(n))
	if err != nil {
		Fail("there is no memory for %s: %w", name, err)
	}
	return unsafe.Slice((*E)(a.Pointer()), n)
}

// As is the memory of s as elements of another type.
func As[T, S any](s []S) []T {
	var from S
	var to T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(from))/int(unsafe.Sizeof(to)))
}

// Array is an array of an operand, as elements of type dt, which E holds, of which there are n at least.
func Array[E any](a tensor.Array, dt tensor.DType, n int64, what string) []E {
	if a.DType() != dt {
		if !a.DType().IsInteger() || !dt.IsInteger() {
			Fail("%s are %s and must be %s", what, a.DType(), dt)
		}
		converted, err := a.Convert(dt)
		if err != nil {
			Fail("%s: %w", what, err)
		}
		for i := range a.Len() {
			if converted.At64(i) != a.At64(i) {
				Fail("%s do not fit %s", what, dt)
			}
		}
		a = converted
	}
	if int64(a.Len()) < n {
		Fail("%s are fewer than the extents and the levels before ask for", what)
	}
	return unsafe.Slice((*E)(a.Pointer()), a.Len())
}

// Values are the values of an operand, which must have the type.
func Values[E any](t *tensor.Tensor, dt tensor.DType, n int64, what string) []E {
	if t.DType() != dt {
		Fail("%s must hold %s, but holds %s", what, dt, t.DType())
	}
	return Array[E](t.Values(), dt, n, "the values of "+what)
}

// Given is an array of one element, which E holds.
func Given[E any](v tensor.Scalar) []E {
	out := Make[E](v.DType(), 1, "a value")
	array(v.DType(), out).SetScalar(0, v)
	return out
}

// Taken is the value of an array of one element.
func Taken[E any](dt tensor.DType, s []E) tensor.Scalar { return array(dt, s).Scalar(0) }

// Result is an array of a result.
func Result[E any](dt tensor.DType, s []E) tensor.Array { return array(dt, s) }

func array[E any](dt tensor.DType, s []E) tensor.Array {
	return tensor.ArrayAt(dt, unsafe.Pointer(unsafe.SliceData(s)), len(s))
}

// Operand checks an operand and pins it. fill, unless it has no type, is the one that it must have.
func Operand(t *tensor.Tensor, name, format string, rank int, fill tensor.Scalar) {
	if err := t.Pin(); err != nil {
		Fail("%s: %w", name, err)
	}
	if t.Rank() != rank || t.Format().String() != format || t.Structure() != tensor.General {
		defer t.Unpin()
		Fail("%s must be stored as %s with rank %d, and is %s", name, format, rank, t)
	}
	if fill.DType().Valid() && !t.Fill().Same(fill) {
		defer t.Unpin()
		Fail("%s must have the fill %s", name, fill)
	}
}

// Cut cuts n elements into chunks, by their numbers alone if w is nil. It returns where they begin, and n: the chunks are those of
// every other engine, so that sums have the same order.
func Cut[T Integer](n, grain int64, w []T) []int64 {
	if n < 0 {
		tooLarge()
	}
	if n == 0 {
		return []int64{0}
	}
	total := uint64(n)
	load := func(i int64) uint64 { return uint64(i) }
	if w != nil {
		if int64(len(w)) <= n || w[n] < w[0] {
			Fail("the weights of a partition do not rise")
		}
		load = func(i int64) uint64 { return uint64(w[i]) - uint64(w[0]) + uint64(i) }
		total = load(n)
	}
	const most = 1 << 16 // chunks
	step := max(uint64(grain), (total-1)/most+1)
	bounds := []int64{0}
	for k := uint64(1); k*step < total; k++ {
		last := bounds[len(bounds)-1]
		next := last + int64(sort.Search(int(n-last), func(i int) bool { return load(last+int64(i)) >= k*step }))
		if next > last && next < n {
			bounds = append(bounds, next)
		}
	}
	return append(bounds, n)
}

// Chunks is how many chunks there are.
func Chunks(bounds []int64) int64 { return int64(len(bounds)) - 1 }

// Status fails if a stage's function did.
func Status(status int64, messages ...string) {
	if status > 0 && status <= int64(len(messages)) {
		panic(problem{errors.New(messages[status-1])})
	}
}
