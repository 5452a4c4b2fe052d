package ops_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares reductions and quantiles of huge tensors with those of small ones.

// TestHugeReductions: reductions and gradients of 2^31 by 2^31 elements, of which four are stored, take no more than
// 16 MiB, and give the gradient of the same entries in a matrix of 4 by 4 where the size does not matter.
func TestHugeReductions(t *testing.T) {
	testengine.Parallel(t)
	const n = int64(1) << 31
	type reduction = func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
	type gradient = func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
	quantile := func(f func(context.Context, *tensor.Tensor, float64, ...ops.Option) (*tensor.Tensor, error), m ops.Method) reduction {
		return func(ctx context.Context, A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return f(ctx, A, 0.3, append(opts, ops.With(m))...)
		}
	}
	quantileGrad := func(f func(context.Context, *tensor.Tensor, float64, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error), m ops.Method) gradient {
		return func(ctx context.Context, A, up *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return f(ctx, A, 0.3, up, append(opts, ops.With(m))...)
		}
	}
	tests := []struct {
		name string
		f    reduction
		grad gradient
		scan bool // dense, unless it runs along an axis over what is stored
	}{
		{"sum", ops.Sum, ops.SumGrad, false},
		{"prod", ops.Prod, ops.ProdGrad, false},
		{"min", ops.Min, ops.MinGrad, false},
		{"max", ops.Max, ops.MaxGrad, false},
		{"any", ops.Any, nil, false},
		{"all", ops.All, nil, false},
		{"count", ops.Count, nil, false},
		{"mean", ops.Mean, ops.MeanGrad, false},
		{"var", ops.Var, ops.VarGrad, false},
		{"norm", ops.Norm, ops.NormGrad, false},
		{"logsumexp", ops.LogSumExp, ops.LogSumExpGrad, false},
		{"argmin", ops.ArgMin, nil, false},
		{"argmax", ops.ArgMax, nil, false},
		{"quantile", quantile(ops.Quantile, ops.Linear), quantileGrad(ops.QuantileGrad, ops.Linear), false},
		{"nearest", quantile(ops.Quantile, ops.Nearest), quantileGrad(ops.QuantileGrad, ops.Nearest), false},
		{"nanquantile", quantile(ops.NanQuantile, ops.Midpoint), quantileGrad(ops.NanQuantileGrad, ops.Midpoint), false},
		{"median", ops.Median, ops.MedianGrad, false},
		{"cumsum", ops.CumSum, ops.CumSumGrad, true},
		{"cumprod", ops.CumProd, ops.CumProdGrad, true},
		{"cummin", ops.CumMin, ops.CumMinGrad, true},
		{"cummax", ops.CumMax, ops.CumMaxGrad, true},
		{"logcumsumexp", ops.LogCumSumExp, ops.LogCumSumExpGrad, true},
		{"softmax", ops.Softmax, nil, true},
		{"logsoftmax", ops.LogSoftmax, nil, true},
	}
	axes := []struct {
		name    string
		stored  bool
		options []ops.Option
	}{
		{"axis 0", false, []ops.Option{ops.Axes(0), ops.KeepLevels()}},
		{"axis 1", false, []ops.Option{ops.Axes(1), ops.KeepLevels()}},
		{"all", false, nil},
		{"stored of axis 0", true, []ops.Option{ops.Axes(0), ops.Stored(), ops.KeepLevels()}},
		{"stored of axis 1", true, []ops.Option{ops.Axes(1), ops.Stored(), ops.KeepLevels()}},
		{"stored of all", true, []ops.Option{ops.Stored()}},
	}
	coords := [2][]int64{{3, 7, 7, n - 1}, {3, 3, 9, 2}}
	small := [2][]int64{{0, 1, 1, 2}, {1, 1, 2, 0}}
	session := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())), lacuna.WithMemoryLimit(16<<20))
	matrix := func(f tensor.Format, size int64, coords [2][]int64) *tensor.Tensor {
		A, err := tensor.FromCoords([]int64{size, size}, f, [][]int64{coords[0], coords[1]}, tensor.ArrayOf([]float64{1, -2, 3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		return A
	}
	for d, f := range []tensor.Format{tensor.COO, tensor.DCSR, tensor.COOC} {
		A, B := matrix(f, n, coords), matrix(f, 4, small)
		for i, test := range tests {
			for k, a := range axes {
				if testengine.Thin(3, d, i, k) || test.scan && (!a.stored || a.name == "stored of all") {
					continue
				}
				options := append([]ops.Option{ops.In(session)}, a.options...)
				got, err := test.f(t.Context(), A, options...)
				if err != nil {
					t.Errorf("%v %s, %s: %v", f, test.name, a.name, err)
					continue
				}
				if test.grad == nil {
					continue
				}
				grad, err := test.grad(t.Context(), A, got, options...)
				if err != nil {
					t.Errorf("gradient of %v %s, %s: %v", f, test.name, a.name, err)
					continue
				}
				if grad.Format() != f || grad.NNZ() != A.NNZ() {
					t.Errorf("the gradient of %v %s, %s is %v", f, test.name, a.name, grad)
				}
				if !a.stored && test.name != "sum" && test.name != "norm" {
					continue // the number of gaps matters
				}
				want, err := test.f(t.Context(), B, options...)
				if err == nil {
					want, err = test.grad(t.Context(), B, want, options...)
				}
				if err != nil {
					t.Fatal(err)
				}
				for e := range coords[0] {
					if x, y := grad.At(coords[0][e], coords[1][e]), want.At(small[0][e], small[1][e]); !x.Same(y) {
						t.Errorf("the gradient of %v %s, %s has %v for entry %d, and %v in a small matrix", f, test.name, a.name, x, e, y)
					}
				}
			}
		}
	}
}

// TestHugeQuantiles: of more than 2^53 elements, whose number f64 may round up, the last one has the highest rank.
func TestHugeQuantiles(t *testing.T) {
	testengine.Parallel(t)
	const n = int64(1e18)
	A, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{{3, 5e9, n - 1}}, tensor.ArrayOf([]float64{-3, 7, 2}))
	if err != nil {
		t.Fatal(err)
	}
	session := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())), lacuna.WithMemoryLimit(16<<20))
	for _, m := range []ops.Method{ops.Linear, ops.Lower, ops.Higher, ops.Nearest, ops.Midpoint, ops.Hazen, ops.Weibull,
		ops.MedianUnbiased, ops.NormalUnbiased, ops.InterpolatedInvertedCDF, ops.InvertedCDF, ops.AveragedInvertedCDF, ops.ClosestObservation} {
		got, err := ops.Quantiles(t.Context(), A, []float64{0, 0.5, 1}, ops.With(m), ops.In(session))
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		for i, want := range []float64{-3, 0, 7} {
			if x := got.At(int64(i)).Float64(); x != want {
				t.Errorf("%s: quantile %d is %v, want %v", m, i, x, want)
			}
		}
	}
}

// TestKeptQuantilesStaySparse: KeepDims takes no memory for the rows that store nothing.
func TestKeptQuantilesStaySparse(t *testing.T) {
	testengine.Parallel(t)
	const n = int64(1e12)
	session := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())), lacuna.WithMemoryLimit(16<<20))
	for _, f := range []tensor.Format{tensor.COO, tensor.DCSR, tensor.DCSC} {
		A, err := tensor.FromCoords([]int64{n, 4}, f, [][]int64{{3, 3, 3, n - 1}, {0, 1, 2, 3}}, tensor.ArrayOf([]float64{5, 6, 7, 8}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ops.Median(t.Context(), A, ops.Axes(1), ops.KeepDims(), ops.In(session))
		if err != nil {
			t.Errorf("%v: %v", f, err)
			continue
		}
		if got.Format() != f || got.NNZ() != 2 || got.At(3, 0).Float64() != 5.5 || got.At(n-1, 0).Float64() != 0 {
			t.Errorf("%v: the medians are %v: %v and %v", f, got, got.At(3, 0), got.At(n-1, 0))
		}
		many, err := ops.Quantiles(t.Context(), A, []float64{1}, ops.Axes(1), ops.KeepDims(), ops.In(session))
		if err != nil {
			t.Errorf("%v: %v", f, err)
			continue
		}
		if many.Rank() != 3 || many.NNZ() != 2 || many.At(0, 3, 0).Float64() != 7 || many.At(0, n-1, 0).Float64() != 8 {
			t.Errorf("%v: the maxima are %v", f, many)
		}
	}
}
