package ops_test

import (
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestProductsOfNarrowIntegers: products that are added are made in the type of the sum, and
// those of operands of several types in the type in which all of them meet.
func TestProductsOfNarrowIntegers(t *testing.T) {
	testengine.Parallel(t)
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	of := func(dt tensor.DType, elements ...float64) *tensor.Tensor {
		values, err := tensor.ArrayOf(elements).Convert(dt)
		if err != nil {
			t.Fatal(err)
		}
		out, err := tensor.FromDense([]int64{int64(len(elements))}, tensor.Dense(1), values)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	check := func(want string, out *tensor.Tensor, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", want, err)
		} else if got := text(t, out); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	einsum := func(want, subscripts string, tensors ...*tensor.Tensor) {
		t.Helper()
		out, err := ops.Einsum(t.Context(), subscripts, tensors, s)
		check(want, out, err)
	}
	x, y, long := of(tensor.Int8, 100, -3), of(tensor.Int8, 100, 100), of(tensor.Int64, 1, 2)
	out, err := ops.MatMul(t.Context(), x, y, s)
	check("[] i64 D: 9700", out, err)
	out, err = ops.MatMul(t.Context(), x, y, s, ops.As(tensor.Int8))
	check("[] i8 D: -28", out, err)
	einsum("[] i64 D: 9700", "i,i", x, y)
	einsum("[2] i8 D: 16 -44", "i,i->i", x, y) // as NumPy's
	einsum("[2] i64 D: 10000 -600", "i,i,i->i", x, y, long)
	einsum("[] i64 D: 4", "i,i->", of(tensor.Bool, 1, 1), of(tensor.Int16, 1, 3))
	einsum("[] u64 D: 9223372036854775808", "i,i->", of(tensor.Uint64, 1<<63), of(tensor.Uint8, 1))
	// 2^24 + 1 has no place in f32, in which the first two would meet.
	einsum("[1] f64 D: 1.6777217e+07", "i,i,i->i", of(tensor.Float32, 97), of(tensor.Float32, 172961), of(tensor.Float64, 1))
}
