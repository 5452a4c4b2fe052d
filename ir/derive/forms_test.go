package derive_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestForms compares gradients of forms that the random programs do not have with central differences, in several
// formats: of A of 4 by 5, B of 5 by 6, x(5), v(4), r(9) and q(2), whose elements are between 0 and 1.
func TestForms(t *testing.T) {
	tests := []struct{ wrt, src string }{
		// Slices: copies of the parts come before, with extents of their own.
		{"A", "y(:) = A(0:2,1)*exp(sum_i B(i,0:2))"},
		{"B", "y(:) = A(0:2,1)*exp(sum_i B(i,::3))"},
		{"r", "y(:) = r(2:8:2)*x(0:3)"},
		{"x", "y(:) = r(2:8:2)*x(0:3)"},
		{"r", "y = exp(r(4:)*x(:))"},
		{"r", "y(i) = x(i)*logsumexp_j r(1:4)*x(j)"},
		{"A", "y = norm_i A(i,0:3)"},
		{"A", "y(i) = cumprod_i (A(i,1:3) + 2)"},
		{"A", "y(1:3,:) = A(1:3,:)*A(0:2,:)"},
		{"A", "y(:,j) = A(::2,j)*A(1::2,j)"},
		{"x", "y(:) = v(0:2); y(0:1) += x(4:5)*v(3)"},
		{"r", "y(:,:) = B(0:3,1:4)*r(3:6); z(k) = max_i y(i,k)*r(k+1)"},
		{"A", "y(:) = sum_{i in A} A(i,1:4)*v(i)"},
		{"A", "y = sum_{i,j} where(stored(A(i,j)), A(i,j)*A(i,2), 0)*exp(A(1,0:3))"},
		// The order of a quantile.
		{"q", "y(k,i) = quantile_j(A(i,j), q(k))"},
		{"q", "y(k) = quantile_i[hazen](r(i), q(k))*x(1)"},
		{"q", "y(k) = nanquantile_i[weibull](r(i), square(q(k)))"},
		{"q", "y = quantile_i[median_unbiased](v(i)*q(0), q(1))"},
		{"q", "y(k) = quantile_{i in r}[normal_unbiased](r(i), q(k)) + quantile_i[interpolated_inverted_cdf](r(i), q(k))"},
		{"r", "y(k) = quantile_i(r(i), q(k))"},
		// Adjoints of results that depend on single elements are stored where the operand is.
		{"A", "t(i,j) = exp(A(i,j)*v(i)); u(j,i) = t(i,j)*x(j); y(i) = sum_j u(j,i)*x(j)"},
		{"A", "t(i,j) = A(i,j) + A(i,j)^2; y(j) = max_i t(i,j)*v(i)"},
		{"A", "t(i,j,k) = A(i,j)*x(k); y(k) = sum_{i,j} t(i,j,k)*t(i,j,0)"},
		{"A", "t(i) = A(i,i+1); y(i,j) = t(i)*x(j) + A(i,j)"},
		{"A", "t(i,j) = cumsum_j A(i,j); y(i) = sum_j t(i,j)*x(j)"},
		{"A", "t(i,j) = A(i,j) + sum_k A(k,j); y(i) = sum_j t(i,j)*x(j)"},
		{"A", "y(i) = sum_j max(A(i,j), 0.1)*x(j) + min(A(i,2), A(0,i+1))"},
	}
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(2))
	total := tally{}
	for n, test := range tests {
		for seed := range 4 {
			g := newWriter(rand.New(rand.NewPCG(uint64(n), uint64(seed))))
			for name, shape := range map[string][]int64{"A": {4, 5}, "B": {5, 6}, "x": {5}, "v": {4}, "r": {9}} {
				g.args[name] = g.tensor(shape)
			}
			q, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{0.1 + 0.2*g.Float64(), 0.6 + 0.3*g.Float64()}))
			must(err)
			g.args["q"] = q
			refused := total.refused
			d := compare(t, s, g, test.src, test.wrt, &total, n)
			if total.refused != refused {
				t.Errorf("%s by %s is refused", test.src, test.wrt)
			}
			if d != nil && seed == 0 {
				g.args[d.Upstream] = g.upstream(test.src)
				compare(t, s, g, d.Source, test.wrt, &total, n)
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%+v", total)
}
