package derive_test

import (
	"context"
	"math"
	"math/cmplx"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests gradients where differences say nothing.

// TestSpecialValues says what gradients are at zeros, ties, infinities and NaN, where differences say nothing. Where torch 1.13
// has another value than we, the comment has it.
func TestSpecialValues(t *testing.T) {
	testengine.Parallel(t)
	inf, nan := math.Inf(1), math.NaN()
	type v = []float64
	tests := []struct {
		src         string
		x, dy, want v
	}{
		// What is read outside the extents is no number: 1/x(-1).
		{"y(i) = x(i+1)/x(i)", v{1, 2, 4}, v{1, 1, 1}, v{-2, 0, 0.5}},
		{"y(i) = x(i-1)*log(x(i))", v{1, 2, 1}, v{1, 1, 0}, v{math.Ln2, 0.5, 0}},
		{"t(i) = 1/x(i); y(i) = exp(0*x(i+2)*t(i))*x(i+1)", v{1, 2, 4}, v{1, 1, 1}, v{0, 1, 1}},

		{"y = prod_i x(i)", v{2, 0, 3}, v{1}, v{0, 6, 0}},
		{"y = prod_i x(i)", v{0, 0, 3}, v{1}, v{0, 0, 0}},
		{"y = prod_i x(i)", v{2, inf}, v{1}, v{inf, 2}},
		{"y = prod_i x(i)", v{0, inf}, v{1}, v{inf, 0}},
		{"y = prod_i x(i)", v{0, 2, inf}, v{1}, v{inf, nan, 0}}, // 0*inf moves with 2
		{"y = prod_i x(i)", v{0, 0, inf}, v{1}, v{nan, nan, 0}},
		{"y = prod_i x(i)", v{0, nan}, v{1}, v{nan, 0}},
		{"y = prod_i x(i)", v{2, nan}, v{1}, v{nan, 2}}, // torch: NaN for both
		{"y = prod_i x(i)", v{1e-200, 1e-200, 1e200}, v{1}, v{1, 1, 0}},
		{"y = prod_i x(i)", v{1e200, 1e-200, 1e200}, v{2}, v{2, inf, 2}},
		{"y = prod_i x(i)^2", v{1e-100, 1e-20, 1e150}, v{1}, v{2e160, 2e80, 2e-90}},

		{"y = max_i x(i)", v{2, 5, 5, 1}, v{3}, v{0, 1.5, 1.5, 0}},
		{"y = max_i x(i)", v{2, inf, inf}, v{1}, v{0, 0.5, 0.5}},
		{"y = min_i x(i)", v{-inf, 1}, v{1}, v{1, 0}},
		{"y = max_i x(i)", v{2, nan, inf, nan}, v{1}, v{0, 0.5, 0, 0.5}},
		{"y = min_i x(i)", v{2, nan, -inf}, v{1}, v{0, 1, 0}},
		{"y = max_i x(i)", v{0, 0}, v{nan}, v{nan, nan}},

		{"y = logsumexp_i x(i)", v{-inf, -inf}, v{1}, v{0, 0}},          // torch: NaN
		{"y = logsumexp_i x(i)", v{1, inf}, v{1}, v{0, 1}},              // torch: 0, NaN
		{"y = logsumexp_i x(i)", v{1, -inf}, v{1}, v{1, 0}},             //
		{"y = logsumexp_i x(i)", v{1000, -1000}, v{1}, v{1, 0}},         //
		{"y = logsumexp_i x(i)", v{1, nan, -inf}, v{1}, v{nan, nan, 0}}, // torch: NaN for all

		{"y(i) = (0.0)^x(i)", v{0, 1, -1}, v{1, 1, 1}, v{0, 0, -inf}},
		{"y(i) = x(i)^floor(0.1*x(i))", v{0, 1e-310, 2}, v{1, 1, 1}, v{0, 0, 0}},
		{"y(i) = heaviside(i - 1, x(i))", v{3, 4, 5}, v{1, 2, 3}, v{0, 2, 0}}, // the second argument is the value at 0
		{"y(i) = 2^x(i)", v{0, 1}, v{1, 1}, v{math.Ln2, 2 * math.Ln2}},

		{"y = norm_i x(i)", v{0, 0}, v{1}, v{0, 0}},
		{"y = norm_i x(i)", v{3, 4}, v{5}, v{3, 4}},
		{"y = norm_i x(i)", v{1, inf}, v{1}, v{0, nan}}, // inf/inf
		{"y = norm_i x(i)", v{3e100, 4e100}, v{5e250}, v{3e250, 4e250}},
		{"y = var_i x(i)", v{1, inf}, v{1}, v{-inf, nan}}, // the mean is inf
		{"y = var_i x(i)", v{2, 2}, v{1}, v{0, 0}},
		{"y = mean_i x(i)", v{inf, nan}, v{1}, v{0.5, 0.5}},

		{"y = quantile_i(x(i), 0.5)", v{1, 3, 3, 7}, v{1}, v{0, 0.5, 0.5, 0}}, // torch: the whole to one of the ties
		{"y = quantile_i(x(i), 0.5)", v{1, nan}, v{1}, v{0, 1}},
		{"y = quantile_i(x(i), 0.25)", v{1, inf, inf}, v{1}, v{0.5, 0.25, 0.25}},
		{"y = nanquantile_i(x(i), 0.5)", v{1, nan, 3}, v{1}, v{0.5, 0, 0.5}},
		{"y = nanquantile_i(x(i), 0.5)", v{nan, nan}, v{1}, v{0, 0}}, // torch: 1, 0

		{"y(i) = cumprod_i x(i)", v{2, 0, 3, 0, 5}, v{1, 1, 1, 1, 1}, v{1, 8, 0, 0, 0}},
		{"y(i) = cumprod_i x(i)", v{2, inf}, v{1, 1}, v{inf, nan}}, // y/x
		{"y(i) = cumprod_i x(i)", v{0, inf}, v{1, 1}, v{inf, 0}},
		{"y(i) = cumprod_i x(i)", v{2, nan}, v{1, 1}, v{nan, nan}},

		{"y(i) = logcumsumexp_i x(i)", v{-inf, -inf, 0}, v{1, 1, 1}, v{0, 0, 1}}, // torch: NaN for the first two
		{"y(i) = logcumsumexp_i x(i)", v{0, inf, 1}, v{1, 2, -3}, v{1, -1, 0}},   // torch: 1, NaN, 0
		{"y(i) = logcumsumexp_i x(i)", v{inf, inf}, v{1, 2}, v{3, 2}},            // torch: NaN
		{"y(i) = logcumsumexp_i x(i)", v{0, nan, 1}, v{1, 2, -3}, v{nan, nan, nan}},
		{"y(i) = logcumsumexp_i x(i)", v{0, 0}, v{nan, 0}, v{nan, 0}}, // torch: 0, 0
		{"y(i) = logcumsumexp_i x(i)", v{0, 0}, v{1, nan}, v{nan, nan}},
		{"y(i) = logcumsumexp_i x(i)", v{0, -inf}, v{inf, 0}, v{inf, 0}},
		{"y(i) = logcumsumexp_i[reverse] x(i)", v{0, inf}, v{1, 2}, v{0, 3}},
		{"y(i) = logcumsumexp_i[exclusive] x(i)", v{inf, 0, 0}, v{1, 2, 4}, v{6, 0, 0}},

		{"y(i) = cummax_i x(i)", v{1, nan, inf}, v{1, 2, 4}, v{1, 6, 0}},
		{"y(i) = cummin_i x(i)", v{1, 1, -inf}, v{1, 2, 4}, v{1, 2, 4}},
		{"y(i) = sort_i x(i)", v{nan, inf, -inf}, v{1, 2, 4}, v{4, 2, 1}},
		{"y(i) = logaddexp(x(i), 1)", v{-inf, inf, 1}, v{1, 1, 1}, v{0, 1, 0.5}},
		{"y(i) = hypot(x(i), 0)", v{0, 3e200}, v{1, 2e200}, v{0, 2e200}},
		{"t = logsumexp_i x(i); y(i) = exp(x(i) - t)", v{-inf, 2, -inf}, v{1, 2, 3}, v{0, 0, 0}},
		{"t = logsumexp_i x(i); y(i) = x(i) - t", v{1000, -inf}, v{1, 1}, v{-1, 1}},
	}
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	for _, test := range tests {
		x, err := tensor.FromDense([]int64{int64(len(test.x))}, tensor.Dense(1), tensor.ArrayOf(test.x))
		must(err)
		dy := tensor.ScalarTensor(tensor.Float(tensor.Float64, test.dy[0]))
		if len(test.dy) > 1 {
			dy, err = tensor.FromDense([]int64{int64(len(test.dy))}, tensor.Dense(1), tensor.ArrayOf(test.dy))
			must(err)
		}
		got, err := s.EvalGrad(context.Background(), test.src, "x", lacuna.Args{"x": x, "dy": dy})
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		for i, want := range test.want {
			g := got.At(int64(i)).Float64()
			if !(math.Abs(g-want) <= 1e-12*math.Abs(want) || g == want || g != g && want != want) {
				t.Errorf("%s for x = %v: the gradient is %v, want %v", test.src, test.x, tensor.View[float64](got.Values()), test.want)
				break
			}
		}
	}
}

// TestNarrowCounts: counts over 65504 are divisors that f16 does not hold.
func TestNarrowCounts(t *testing.T) {
	const n = 1 << 17
	for _, src := range []string{"y = mean_i x(i)", "y = max_i x(i)", "y = quantile_i(x(i), 0.5)"} {
		for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			values, err := tensor.MakeArray(dt, n)
			must(err)
			x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), values)
			must(err)
			dy := tensor.ScalarTensor(tensor.Float(dt, 4))
			got, err := lacuna.EvalGrad(context.Background(), src, "x", lacuna.Args{"x": x, "dy": dy})
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			if got.DType() != dt || got.At(5).Float64() != 4.0/n {
				t.Errorf("%s, %v: the gradient is %v of %v, want %v", src, dt, got.At(5), got.DType(), 4.0/n)
			}
		}
	}
}

// TestGradientsOfNothing: over stored elements max and min have a value where there is no coordinate at all.
func TestGradientsOfNothing(t *testing.T) {
	for _, src := range []string{"y(i) = max_{j in A} A(i,j)", "y(i) = min_{j in A} A(i,j)", "y(i) = sum_j cummax_{i, j in A} A(i,j)"} {
		for _, shape := range [][]int64{{3, 0}, {0, 3}, {0, 0}} {
			A, err := tensor.FromCoords(shape, tensor.CSR, [][]int64{{}, {}}, tensor.ArrayOf([]float64{}))
			must(err)
			dy, err := tensor.FromDense(shape[:1], tensor.Dense(1), tensor.ArrayOf(make([]float64, shape[0])))
			must(err)
			got, err := lacuna.EvalGrad(context.Background(), src, "A", lacuna.Args{"A": A, "dy": dy})
			if err != nil || got.NNZ() != 0 {
				t.Errorf("%s of %v: %v, %v", src, shape, got, err)
			}
		}
	}
}

// TestComplexGradients: gradients with respect to complex operands are torch's, of which these are.
func TestComplexGradients(t *testing.T) {
	x, withZero, dy := []complex128{1 + 2i, -0.5 + 1i, 0.5, 2 - 1i}, []complex128{1 + 2i, 0, 0.5, 2 - 1i}, []complex128{1, 1i, 2, 1 - 1i}
	tests := []struct {
		src     string
		x, want []complex128
	}{
		{"y(i) = cumprod_i x(i)", x, []complex128{0.25 - 2.75i, 3.5 - 4.5i, -12.5 + 2.5i, -1.25 + 1.25i}},
		{"y(i) = cumprod_i x(i)", withZero, []complex128{1, 3.5 - 4.5i, 0, 0}},
		{"y(i) = x(i)^x(i)", x, []complex128{-0.513080916371 + 0.064607906815i, 0.047112968615 + 0.28278125394i, 0.433955418905, 3.017751233515 + 7.718342563632i}},
		{"y(i) = x(i)^3", x, []complex128{-9 - 12i, -3 - 2.25i, 1.5, 21 + 3i}},
	}
	vector := func(v []complex128) *tensor.Tensor {
		a, err := tensor.FromDense([]int64{int64(len(v))}, tensor.Dense(1), tensor.ArrayOf(v))
		must(err)
		return a
	}
	for _, test := range tests {
		got, err := lacuna.EvalGrad(context.Background(), test.src, "x", lacuna.Args{"x": vector(test.x), "dy": vector(dy)})
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		for i, want := range test.want {
			if g := got.At(int64(i)).Complex128(); cmplx.Abs(g-want) > 1e-9 {
				t.Errorf("%s of %v: the gradient is %v, want %v", test.src, test.x, tensor.View[complex128](got.Values()), test.want)
				break
			}
		}
	}
}

// TestProductsBesideSparseOperands: what is sparse elsewhere in a program leaves the products of dense values in range.
func TestProductsBesideSparseOperands(t *testing.T) {
	x, err := tensor.FromDense([]int64{4}, tensor.Dense(1), tensor.ArrayOf([]float64{1e-200, 1e-200, 1e200, 3}))
	must(err)
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	for _, f := range []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.CSC} {
		diagonal := []int64{0, 1, 2, 3}
		A, err := tensor.FromCoords([]int64{4, 4}, f, [][]int64{diagonal, diagonal}, tensor.ArrayOf([]float64{1, 1, 1, 1}))
		must(err)
		for _, src := range []string{
			"t(i) = sum_j A(i,j)*x(j); y = prod_i t(i)",
			"t(i) = sum_j A(j,i)*x(j); y = prod_i t(i)",
			"t(i) = x(i)/2; y = prod_i 2*t(i) + sum_{i,j} A(i,j)",
			"y = prod_i x(i) + sum_{i,j} A(i,j)",
		} {
			got, err := s.EvalGrad(context.Background(), src, "x", lacuna.Args{"A": A, "x": x})
			if err != nil {
				t.Errorf("%s, A in %v: %v", src, f, err)
				continue
			}
			for i, want := range []float64{3, 3, 0, 0} {
				if g := got.At(int64(i)).Float64(); math.Abs(g-want) > 1e-12 {
					t.Errorf("%s, A in %v: element %d of the gradient is %v, want %v", src, f, i, g, want)
				}
			}
		}
	}
}

// TestProductsOfBroadcasts: gradients of products whose factors nothing stores take no memory for each factor.
func TestProductsOfBroadcasts(t *testing.T) {
	const n = 600
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = 0.5
	}
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(numbers))
	must(err)
	e, err := tensor.FromCoords([]int64{n}, named("S"), [][]int64{{0, 1, n - 1}}, tensor.ArrayOf([]float64{0.5, 0.5, 0.5}))
	must(err)
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(1<<20)) // one number for each factor takes 2.9 MB
	for _, test := range []struct {
		src  string
		args lacuna.Args
		want float64 // of the first element
	}{
		{"y(i) = prod_j (1 + 0.0001*x(i)*z(j)); s = sum_i y(i)", lacuna.Args{"x": x, "z": x}, n * 0.0001 * 0.5 * math.Pow(1+0.0001*0.25, n-1)},
		{"y(i) = prod_{j in z} (1 + x(i)*z(j)); s = sum_i y(i)", lacuna.Args{"x": x, "z": e}, n * 0.5 * 1.25 * 1.25},
	} {
		got, err := s.EvalGrad(context.Background(), test.src, "z", test.args)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if g := got.At(0).Float64(); math.Abs(g-test.want) > 1e-12*test.want {
			t.Errorf("%s: the gradient is %v, want %v", test.src, g, test.want)
		}
	}
}

// TestProductsOutOfRange: products of the others are in range where the whole one is not. What is found by division is f64
// for f32.
func TestProductsOutOfRange(t *testing.T) {
	x := []float32{1e-30, 1e-30, 1e30}
	k, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]int64{0, 0, 0}))
	must(err)
	A, err := tensor.FromCoords([]int64{1, 3}, tensor.CSR, [][]int64{{0, 0, 0}, {0, 1, 2}}, tensor.ArrayOf(x))
	must(err)
	one, err := tensor.FromDense([]int64{1}, tensor.Dense(1), tensor.ArrayOf([]float32{1}))
	must(err)
	vector, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf(x))
	must(err)
	dy, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float32{0, 0, 1}))
	must(err)
	tests := []struct {
		src, wrt string
		args     lacuna.Args
	}{
		{"y = prod_i x(i)", "x", lacuna.Args{"x": vector}},
		{"y(i) = cumprod_i x(i)", "x", lacuna.Args{"x": vector, "dy": dy}},
		{"y(i) = prod_j A(i,j)", "A", lacuna.Args{"A": A, "dy": one}},
		{"y(i) = prod_{j in A} A(i,j)", "A", lacuna.Args{"A": A, "dy": one}},
		{"y = prod_{i,j} A(i,j)", "A", lacuna.Args{"A": A}},
		{"y(i) = prod_j (A(i,j) + A(i,j+3))", "A", lacuna.Args{"A": A, "dy": one}}, // by division
		{"y(k(i)) *= x(i)", "x", lacuna.Args{"x": vector, "k": k, "y": one, "dy": one}},
	}
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	for _, test := range tests {
		got, err := s.EvalGrad(context.Background(), test.src, test.wrt, test.args)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		values, err := got.ToDense()
		must(err)
		for i, want := range []float32{1, 1, 0} {
			if g := tensor.View[float32](values)[i]; got.DType() != tensor.Float32 || math.Abs(float64(g-want)) > 1e-6 {
				t.Errorf("%s: the gradient is %v, want 1, 1, 0", test.src, tensor.View[float32](values))
				break
			}
		}
	}
}
