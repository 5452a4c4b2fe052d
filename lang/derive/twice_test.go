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

// This file compares gradients of gradients with differences.

// TestTwice derives gradients again, with respect to the same operand, and compares what comes of it with
// central differences of the gradient: sum_e v(e)*d(dA(e))/dA, for an adjoint v of the gradient. The operand
// has zeros where a case says so, which differences of products can be taken at.
func TestTwice(t *testing.T) {
	testengine.Parallel(t)
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	plain := []float64{0.7, -0.4, 1.3, 0.9, 0.25, -1.1, 0.6, 2.1}
	zeros := []float64{0, 1.3, 0.9, -0.4, 0, -1.1, 0, 2.1}
	tests := []struct {
		src    string
		values []float64
	}{
		{"y = sum_{i,j} A(i,j)^3", plain},
		{"y(i) = (sum_j A(i,j))^2", plain},
		{"y(i) = mean_j exp(A(i,j))", plain},
		{"y(i) = var_j A(i,j)", plain},
		{"y(i) = (sum_{j in A} A(i,j)^2)^2", plain},
		{"y(i) = logsumexp_j A(i,j)", plain},
		{"y = logsumexp_{i,j} A(i,j)", plain},
		{"y(i) = logsumexp_{j in A} A(i,j)", plain},
		{"y(i) = norm_j A(i,j)", plain},
		{"y = norm_{i,j} A(i,j)", plain},
		{"y(i) = prod_j A(i,j)", plain},
		{"y(i) = prod_j A(i,j)", zeros},
		{"y = prod_{i,j in A} (0.5 + A(i,j))", plain},
		{"y = prod_{i in A, j in A} A(i,j)", zeros},
		{"y(i) = (max_j A(i,j))^2", plain},
		{"y(i) = (min_{j in A} A(i,j))^3", plain},
		{"y(i,j) = (cumsum_j A(i,j))^2", plain},
		{"y(i,j) = (cumsum_{j in A}[reverse] A(i,j))^3", plain},
		{"y(i,j) = logcumsumexp_j A(i,j)", plain},
		{"y(i,j) = logcumsumexp_{j in A}[reverse] A(i,j)", plain},
		{"y(i,j) = cumprod_j A(i,j)", plain},
		{"y(i,j) = cumprod_j A(i,j)", zeros},
		{"y(i,j) = cumprod_{j in A}[reverse] A(i,j)", zeros},
		{"y(i,j) = cumprod_{i in A, j in A}[exclusive] A(i,j)", zeros},
		{"y(i,j) = (cummax_j A(i,j))^2", plain},
		{"y(i,j) = (sort_j A(i,j))^3", plain},
		{"y(i) = quantile_j(A(i,j), 0.3)^2", plain},
		{"y(i) = quantile_{j in A}[hazen](A(i,j), 0.6)^3", plain},
		{"y(i) = (median_j A(i,j)^2)^2", plain},
		{"y(i) = nanquantile_j(exp(A(i,j)), 0.8)^2", plain},
		{"y(i,j) = where(A(i,j) > 0.5, A(i,j)^3, sin(A(i,j)))", plain},
		{"y(i) = sum_j where(A(i,j) > 0.5, log(A(i,j)), A(i,j)^2)", plain},
		{"y(i,j) = A(i,j)*sum_k A(k,j)^2", plain},
		{"t(i) = logsumexp_j A(i,j); y(i,j) = exp(A(i,j) - t(i))", plain},
		{"y(i) = A(i,i+1)^3", plain},
		{"y(i,j) = (1.5 + A(i,j))^A(i,j)", zeros},
		{"y(i,j) = hypot(A(i,j), 2) + sigmoid(A(i,j))*tanh(A(i,j))", plain},
	}
	coords := [][]int64{{0, 0, 0, 0, 1, 1, 2, 2}, {0, 1, 2, 3, 1, 3, 0, 2}}
	for n, test := range tests {
		for k, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.Dense(2)} {
			if testengine.Thin(2, n, k) {
				continue
			}
			operand := func(by float64, at int) *tensor.Tensor {
				values := append([]float64(nil), test.values...)
				values[at] += by
				a, err := tensor.FromCoords([]int64{3, 4}, f, coords, tensor.ArrayOf(values))
				must(err)
				return a
			}
			twice(t, s, test.src, operand, coords)
		}
	}
}

// twice compares the gradient of a gradient with differences; operand moves its element at a place in coords.
func twice(t *testing.T, s *lacuna.Session, src string, operand func(by float64, at int) *tensor.Tensor, coords [][]int64) {
	t.Helper()
	fail := func(err error) { t.Errorf("%s, %v: %v", src, operand(0, 0).Format(), err) }
	a := operand(0, 0)
	first, err := s.Grad(t.Context(), src, "A", lacuna.Operand("A", a))
	if err != nil {
		fail(err)
		return
	}
	out, err := s.Eval(context.Background(), src, lacuna.Args{"A": a})
	must(err)
	up := numbered(out.Shape(), 0.5)
	v := numbered(a.Shape(), -0.3)
	second, err := s.Grad(t.Context(), first.Source, "A", lacuna.Operand("A", a), lacuna.Operand(first.Upstream, up), lacuna.Operand("ddA", v))
	if err != nil {
		fail(err)
		return
	}
	got, err := second.Run(context.Background(), lacuna.Args{"A": a, first.Upstream: up, second.Upstream: v})
	if err != nil {
		fail(err)
		return
	}
	if got.Format() != a.Format() || got.NNZ() != a.NNZ() {
		t.Errorf("%s: the second gradient is %v, the operand %v", src, got, a)
	}
	loss := func(by float64, at int) float64 {
		g, err := first.Run(context.Background(), lacuna.Args{"A": operand(by, at), first.Upstream: up})
		must(err)
		sum := 0.0
		for e := range coords[0] {
			i, j := coords[0][e], coords[1][e]
			sum += v.At(i, j).Float64() * g.At(i, j).Float64()
		}
		return sum
	}
	for e := range coords[0] {
		if a.Format().IsDense() {
			continue // moves elements that are not among these
		}
		const h = 1e-5
		want := (loss(h, e) - loss(-h, e)) / (2 * h)
		if x := got.At(coords[0][e], coords[1][e]).Float64(); !(math.Abs(x-want) <= 1e-6*max(1, math.Abs(want))) {
			t.Errorf("%s, %v: the second gradient at (%d,%d) is %v, differences of the first give %v\n%s",
				src, a.Format(), coords[0][e], coords[1][e], x, want, second.Source)
			return
		}
	}
}

// numbered is a dense tensor of different values.
func numbered(shape []int64, from float64) *tensor.Tensor {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = from + 0.37*float64(i%5) - 0.11*float64(i)
	}
	out, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values))
	must(err)
	return out
}
