package derive_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares gradients of huge operands with those of small ones of the same entries.

// TestHugeOperands: gradients of sparse operands of 2^40 by 2^40 elements (2^30 by 2^30 with scatters) take memory of their entries, and are those of the
// same entries in small matrices.
func TestHugeOperands(t *testing.T) {
	tests := []struct{ wrt, src string }{
		{"A", "t(i,j) = A(i,j)^2; t(i,j) *= A(i,j); t(i,j) = t(i,j)*v(j); y = sum_{i,j} t(i,j)"},
		{"A", "A(i,j) *= A(i,j); y = sum_{i,j} A(i,j)^2*v(j)"},
		{"A", "t(i,j) = A(i,j)*v(j); A(i,j) += t(i,j); y = sum_{i,j} A(i,j)^2"},
		{"A", "A(0,0) = 0.5; y(i) = sum_j A(i,j)^2*v(j)"},
		{"A", "A(0,0) *= 3; y = sum_{i,j} A(i,j)^3"},
		{"A", "A(i,j) max= B(i,j); y = sum_{i,j} A(i,j)^3"},
		{"B", "A(i,j) max= B(i,j); y = sum_{i,j} A(i,j)^3"},
		{"A", "A(p(k),q(k)) max= w(k); y = sum_{i,j} A(i,j)^3"},
		{"w", "A(p(k),q(k)) max= w(k); y = sum_{i,j} A(i,j)^3"},
		{"A", "A(p(k),q(k)) *= w(k); y = sum_{i,j} A(i,j)^3"},
		{"w", "A(p(k),q(k)) *= w(k); y = sum_{i,j} A(i,j)^3"},
		{"A", "A(p(k),q(k)) += A(p(k),q(k))*w(k); y = sum_{i,j} A(i,j)^3"},
		{"A", "y(i) = prod_j (1 + A(i,j)*v(j))"},
		{"v", "y(i) = prod_j (1 + A(i,j)*v(j))"},
		{"A", "y(j) = prod_i (2*A(i,j) + 1)"},
		{"A", "y = prod_{i,j} (A(i,j) + 1)"},
		{"A", "y(i) = prod_{j in A} A(i,j)"},
		{"A", "y = prod_{i in A, j in A} A(i,j)"},
		{"A", "y(i) = prod_j A(i,j)"},
		{"A", "t(i) = max_j A(i,j); e(i,j) = where(stored(A(i,j)), exp(A(i,j) - t(i)), 0); d(i) = sum_j e(i,j); y(i) = log(1 + d(i))"},
		{"A", "d(i) = sum_j A(i,j)^2; t(i,j) = A(i,j)/(1 + d(i)); u(i,j) = -t(i,j)*d(i); y(i) = sum_j u(i,j)*v(j)"},
		{"A", "t(i,j) = cumsum_{j in A} A(i,j)^2; u(i,j) = t(i,j)*v(j); y(i) = sum_j u(i,j)"},
		{"v", "t(i,j) = A(i,j)*v(j); y(i) = sum_j t(i,j)"},
	}
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(16<<20))
	for _, test := range tests {
		gradient := func(scale, n int64) map[[2]int64]float64 {
			put := func(f tensor.Format, shape []int64, values []float64, coords ...[]int64) *tensor.Tensor {
				at := make([][]int64, len(coords))
				for k, list := range coords {
					for _, c := range list {
						if shape[k] == n {
							c *= scale
						}
						at[k] = append(at[k], c)
					}
				}
				x, err := tensor.FromCoords(shape, f, at, tensor.ArrayOf(values))
				must(err)
				return x
			}
			p, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]int64{1 * scale, 0, 1 * scale}))
			must(err)
			q, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]int64{2 * scale, 0, 2 * scale}))
			must(err)
			all := map[string]*tensor.Tensor{
				"A": put(tensor.COO, []int64{n, n}, []float64{0.5, 2, -1, 3}, []int64{0, 1, 1, 3}, []int64{0, 1, 2, 0}),
				"B": put(tensor.COO, []int64{n, n}, []float64{0.7, 1.5, 2, -3}, []int64{0, 1, 2, 3}, []int64{1, 1, 2, 0}),
				"w": put(tensor.Dense(1), []int64{3}, []float64{0.7, 1.5, 0.7}, []int64{0, 1, 2}),
				"v": put(named("S"), []int64{n}, []float64{2, 3, -1}, []int64{0, 1, 2}),
				"p": p, "q": q,
			}
			used := lacuna.Args{}
			opts := []lacuna.Option{}
			for name, a := range all {
				if mentions(test.src, name) {
					used[name] = a
					opts = append(opts, lacuna.Operand(name, a))
				}
			}
			g, err := s.Grad(t.Context(), test.src, test.wrt, opts...)
			if err != nil {
				t.Errorf("%s by %s: %v", test.src, test.wrt, err)
				return nil
			}
			if mentions(test.src, "y(") { // the adjoint of the result
				used[g.Upstream] = put(named("S"), []int64{n}, []float64{1, 2, 3, 4}, []int64{0, 1, 2, 3})
			}
			got, err := s.EvalGrad(context.Background(), test.src, test.wrt, used)
			if err != nil {
				t.Errorf("%s by %s: %v\n%s", test.src, test.wrt, err, g.Source)
				return nil
			}
			coords, values, err := got.ToCoords()
			must(err)
			out := map[[2]int64]float64{}
			for e := range values.Len() {
				var at [2]int64
				for k := range coords {
					at[k] = coords[k][e]
					if got.Shape()[k] == n {
						at[k] /= scale
					}
				}
				out[at] = values.Scalar(e).Float64()
			}
			return out
		}
		want := gradient(1, 4)
		got := gradient(1<<28, 1<<30)
		if !strings.Contains(test.src, "p(") { // scatters need positions that fit 64 bits
			got = gradient(1<<38, 1<<40)
		}
		for at, x := range want {
			if y, ok := got[at]; got != nil && (!ok || y != x) {
				t.Errorf("%s by %s at %v: %v, small %v", test.src, test.wrt, at, y, x)
			}
		}
	}
}

// mentions reports whether a program uses a tensor.
func mentions(src, name string) bool {
	for i := range src {
		if len(src[i:]) >= len(name)+1 && src[i:i+len(name)] == name && (src[i+len(name)] == '(' || name[len(name)-1] == '(') {
			return true
		}
	}
	return false
}
