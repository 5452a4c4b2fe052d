package ops_test

import (
	"context"
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestSoftmaxConvertsFirst: As converts the elements before anything is computed of them.
func TestSoftmaxConvertsFirst(t *testing.T) {
	testengine.Parallel(t)
	session := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	// f16 has 5.2109375 for the first, and inf for 1e9; i32 has 5.
	values := []float64{5.2116415, 0.75, 0}
	A := tensorOf(t, values...)
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Int32, tensor.Bool} {
		var sum float64
		for _, v := range values {
			sum += math.Exp(tensor.Float(dt, v).Float64())
		}
		for name, f := range map[string]func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error){"softmax": ops.Softmax, "logsoftmax": ops.LogSoftmax} {
			got, err := f(t.Context(), A, ops.As(dt), ops.In(session))
			if err != nil {
				t.Errorf("%s of %s: %v", name, dt, err)
				continue
			}
			for i, v := range values {
				want := math.Exp(tensor.Float(dt, v).Float64()) / sum
				if name == "logsoftmax" {
					want = tensor.Float(dt, v).Float64() - math.Log(sum)
				}
				if x := got.At(int64(i)); !x.Same(tensor.Float(got.DType(), want)) && math.Abs(x.Float64()-want) > 1e-15 {
					t.Errorf("%s of %s: element %d is %v, want %v", name, dt, i, x, want)
				}
			}
		}
	}
	if got, err := ops.LogSoftmax(t.Context(), tensorOf(t, 1e9, 0), ops.As(tensor.Float16), ops.In(session)); err != nil || !got.At(0).IsNaN() {
		t.Errorf("logsoftmax of inf is %v, %v", got.At(0), err)
	}
}

// tensorOf is a dense vector of f64.
func tensorOf(t *testing.T, values ...float64) *tensor.Tensor {
	t.Helper()
	A, err := tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return A
}
