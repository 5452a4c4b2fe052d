package derive_test

import (
	"context"
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestScatterGradients: gradients of scatters at ties and zeros are those of torch.scatter_reduce, of which these are.
func TestScatterGradients(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type v = []float64
	tests := []struct {
		op           string
		r, x         v
		wantR, wantX v
	}{
		{"max=", v{1, 2, 3, 0}, v{1, 1, 3, 0.5, -2}, v{1.0 / 3, 2, 2, 8}, v{1.0 / 3, 1.0 / 3, 2, 0, 0}},
		{"max=", v{0, 2, 0, 5}, v{0, 3, 0, 2, 0}, v{0, 2, 2, 8}, v{0, 1, 2, 0, 0}},
		{"max=", v{inf, 1, 1, -inf}, v{inf, 1, 2, 3, -inf}, v{0.5, 2, 0, 4}, v{0.5, 0, 4, 0, 4}},
		{"max=", v{3, 0, nan, 1}, v{2, 0, 1, 0, nan}, v{1, 2, 4, 0}, v{0, 0, 0, 0, 8}}, // torch: NaN for what meets a NaN
		{"min=", v{1, 2, 3, 0}, v{1, 1, 3, 0.5, -2}, v{0, 2, 2, 0}, v{0, 0, 2, 1, 8}},
		{"min=", v{0, 2, 0, 5}, v{0, 3, 0, 2, 0}, v{0.5, 2, 2, 0}, v{0.5, 0, 2, 0, 8}},
		{"*=", v{1, 2, 3, 0}, v{1, 1, 3, 0.5, -2}, v{0.5, 2, 12, -16}, v{0.5, 0.5, 12, 1, 0}},
		{"*=", v{0, 2, 0, 5}, v{0, 3, 0, 2, 0}, v{0, 2, 0, 0}, v{0, 0, 0, 0, 40}},
		{"*=", v{2, 2, 2, 2}, v{0, 3, 0, 2, 0}, v{0, 2, 0, 0}, v{12, 0, 8, 0, 16}},
	}
	vector := func(values v) *tensor.Tensor {
		x, err := tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values))
		must(err)
		return x
	}
	k, err := tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]int64{0, 0, 2, 0, 3}))
	must(err)
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	for _, test := range tests {
		src := "r(k(i)) " + test.op + " x(i)"
		args := lacuna.Args{"r": vector(test.r), "x": vector(test.x), "k": k, "dr": vector(v{1, 2, 4, 8})}
		for wrt, want := range map[string]v{"r": test.wantR, "x": test.wantX} {
			got, err := s.EvalGrad(context.Background(), src, wrt, args)
			if err != nil {
				t.Fatalf("%s by %s: %v", src, wrt, err)
			}
			for i, w := range want {
				if g := got.At(int64(i)).Float64(); !(math.Abs(g-w) <= 1e-15) {
					t.Errorf("%s by %s, of %v and %v: the gradient is %v, want %v", src, wrt, test.r, test.x, tensor.View[float64](got.Values()), want)
					break
				}
			}
		}
	}
}

// TestUpdatesOfComplexNumbers: products of complex numbers hand on the conjugate of the others.
func TestUpdatesOfComplexNumbers(t *testing.T) {
	vector := func(values ...complex128) *tensor.Tensor {
		x, err := tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values))
		must(err)
		return x
	}
	k, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]int64{0, 0}))
	must(err)
	args := lacuna.Args{"r": vector(1 + 1i), "x": vector(2i, 3-1i), "k": k, "dr": vector(1i)}
	for wrt, want := range map[string][]complex128{
		"r": {1i * (2 - 6i)},                 // dr*conj(x0*x1)
		"x": {1i * (4 - 2i), 1i * (-2 - 2i)}, // dr*conj(r*x1), dr*conj(r*x0)
	} {
		got, err := lacuna.EvalGrad(context.Background(), "r(k(i)) *= x(i)", wrt, args)
		must(err)
		for i, w := range want {
			if g := got.At(int64(i)).Complex128(); g != w {
				t.Errorf("by %s: element %d of the gradient is %v, want %v", wrt, i, g, w)
			}
		}
	}
}

// TestScatterOfShiftedRows: where the left side alone says how far an index runs, statements of
// the gradient take it from there. The rows (1,2) and (3,5) have rows of 0 before and behind.
func TestScatterOfShiftedRows(t *testing.T) {
	a, err := tensor.FromDense([]int64{2, 2}, tensor.Dense(2), tensor.ArrayOf([]float64{1, 2, 3, 5}))
	must(err)
	h, err := tensor.FromDense([]int64{1}, tensor.Dense(1), tensor.ArrayOf([]float64{2}))
	must(err)
	one, err := tensor.FromDense([]int64{1}, tensor.Dense(1), tensor.ArrayOf([]float64{1}))
	must(err)
	q, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]int64{0, 0}))
	must(err)
	for src, want := range map[string][]float64{
		"h(q(i)) *= sum_j A(i+1,j) + 1":    {0, 0, 2, 2}, // 2 * 9 * (0+1)
		"h(q(i)) *= mean_j A(i-1,j) + 1":   {1, 1, 0, 0}, // 2 * (0+1) * 2.5
		"h(q(i)) *= median_j A(i-1,j) + 1": {1, 1, 0, 0},
		"h(q(i)) max= max_j A(i+1,j)":      {0, 0, 0, 1},
		"h(q(i)) min= sum_j A(i+1,j) - 9":  {0, 0, 0, 0}, // row 2 is 0, and -9 the least
	} {
		got, err := lacuna.EvalGrad(context.Background(), src, "A", lacuna.Args{"A": a, "h": h, "q": q, "dh": one})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for i, w := range want {
			if g := got.At(int64(i/2), int64(i%2)).Float64(); math.Abs(g-w) > 1e-15 {
				t.Errorf("%s: element %d of the gradient is %v, want %v", src, i, g, w)
			}
		}
	}
}
