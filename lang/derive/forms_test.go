package derive_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares gradients of forms that random programs do not have with differences.

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
		// Tensors that are read and then assigned again, and updates of which both values are needed.
		{"x", "t(i) = exp(x(i)); t(i) = t(i)*x(i); t(i) *= t(i) + 1; y = sum_i t(i)*x(i)"},
		{"x", "t(i) = x(i); z(i) = t(i)^2; t(i) += z(i); z(i) = t(i)*z(i); y = sum_i z(i)*t(i)"},
		{"v", "v(i) *= v(i) + 2; y = sum_i v(i)^2"},
		{"v", "y = sum_i v(i)^2; v(i) max= 0.5; y += prod_i v(i); y *= y"},
		{"x", "v(i) min= x(i+1)*A(i,2); y = sum_i v(i)^3"},
		{"v", "v(i) min= x(i+1)*A(i,2); y = sum_i v(i)^3"},
		{"v", "v(i) = v(i)*v(i); v(i) += 2*v(i); y(i) = exp(v(i))"},
		{"s", "y(i) = s*x(i); s *= s + 1; y(i) += s^3"},
		{"x", "t = 1.5; t *= x(2); t max= 0.1*t^2; y(i) = t*x(i)"},
		// Extents that follow only from others, summed before.
		{"r", "y = sum_i (sum_k r(i+k)*v(k))^2"},
		{"v", "y = prod_i (sum_k r(i+k)*v(k))"},
		{"r", "y = logsumexp_i (max_j r(2*i+j)*x(j+1)*v(j))"},
		{"r", "y = norm_i (sum_k r(i+k)*v(k) + sum_k x(k+i))"},
		{"A", "y = max_i (norm_k (A(k,2*i) + r(i+k)))"},
		{"r", "y = sum_{i} (i*sum_k r(k+i)*B(k(k),k+i))^2"},
		// Indices of which one follows from another dimension.
		{"B", "y(j,i) = like(B(i+2,i+j+1), v(i), x(j))"},
		{"A", "y(j,i) = A(i+j,i)*x(i)*v(j)"},
		{"A", "y(j,i) = A(i+j,i-j)*v(i)*x(j)"},
		{"B", "y(j,i) = B(i+j,i+1)*v(i)*x(j)*r(i+1)"},
		{"B", "y(j,i) = exp(B(i+j-1,j-i+2)*v(i))*x(j)"},
		{"A", "y(i) = A(i+1,i+2)*v(i)"},
		// Products.
		{"v", "y(i) = prod_j like(v(i), A(i,j))"},
		{"x", "y(i) = prod_j x(j)*v(i)"},
		{"x", "y = prod_{i,j} (1 + A(i,j)*x(j))"},
		{"A", "y = prod_{i,j} (A(i,j) + A(i,j+1))"},
		{"A", "y(j) = prod_i (A(i,j)*x(j) + B(j,i+1))"},
		{"r", "y(i) = prod_k r(i+k)*v(k)"},
		{"A", "y(k) = prod_i (sum_j A(i,j)*B(j,k))"},
		{"A", "y(i) = prod_j where(stored(A(i,j)), A(i,j), x(j))"},
		{"B", "y(j) = prod_{i in B} B(i,j)*x(i)"},
		{"x", "t(j) = sum_i A(i,j)*v(i) + x(j); y = prod_j t(j)*x(j)"},
		{"A", "y(i) = prod_{j in A} (A(i,j)*x(j) + v(i))"},
		{"x", "y(i) = prod_{j in x} (1 + v(i)*x(j))"},
		{"v", "y(i) = prod_{j in x} (1 + v(i)*x(j))"},
		// Parts.
		{"x", "t(i) = x(i)^2; t(1:3) = x(0:2)*t(2:4); y(i) = t(i)*x(i)"},
		{"r", "r(1:8:3) *= x(0:3); y = sum_i r(i)^3"},
		{"x", "r(1:8:3) *= x(0:3); y = sum_i r(i)^3"},
		{"r", "r(4) = r(0)*r(1); y(i) = r(i)^2"},
		{"r", "r(2*i) max= x(i)^2; y = sum_i r(i)^3"},
		{"x", "r(2*i) max= x(i)^2; y = sum_i r(i)^3"},
		{"r", "r(4-i) = v(i)*r(4); y = sum_i r(i)^3"},
		{"r", "r(8-2*i) = v(i)*r(4); y = sum_i r(i)^3"},
		{"A", "A(i,i+1) *= A(i,0); y(i) = sum_j A(i,j)^2*x(j)"},
		{"x", "t(i,j) = x(i)*x(j); t(i,i) *= x(i); t(2*i,4-2*i) *= t(0,1); y = sum_{i,j} t(i,j)^2"},
		{"A", "A(i,i+1) = 0.5; y(i) = sum_j A(i,j)^2*x(j)"},
		{"A", "t(i,j) = A(i,j)^2; t(2*i,4-3*i) = x(i+3); y(i) = sum_j t(i,j)*x(j)"},
		{"A", "t(i,j) = A(i,j)^2; t(1,j) = x(j); t(:,1) min= 0.3; t(0:2,2:) += A(0:2,1:4)*t(1:3,:3); y(i) = sum_j t(i,j)*x(j)"},
		{"A", "A(0,1:3) = 2; A(:,:) *= A(:,:); y = sum_{i,j} A(i,j)*x(j)"},
		{"x", "y(1) = x(2)*x(3); y(0) = y(1)*x(2); z = y(0)^2 + y(1)"},
		// Scatters.
		{"r", "r(k(i)) max= x(i)^2; y = sum_i r(i)^3"},
		{"x", "r(k(i)) max= x(i)^2; y = sum_i r(i)^3"},
		{"x", "t(i) = r(i)*x(1); t(k(i)) min= x(i)*x(2); y(i) = t(i)*exp(t(8))"},
		{"r", "r(k(i)) *= x(i) + 2; y = sum_i r(i)^3"},
		{"x", "r(k(i)) *= x(i) + 2*x(1); y = sum_i r(i)^3"},
		{"x", "r(k(i)) *= x(i); r(k(i)) += r(k(i))*x(i); y(i) = r(i)^2"},
		{"B", "B(k(i),j) max= x(i)*r(j+1); y(i) = sum_j B(i,j)^2"},
		{"x", "B(k(i),j) max= x(i)*r(j+1); y(i) = sum_j B(i,j)^2"},
		{"x", "B(k(i),1:4) *= x(i)*v(1:4); y(i) = sum_j B(i,j)^2"},
		{"x", "B(k(i),1:4) *= x(i); y(i) = sum_j B(i,j)^2"},
		{"B", "B(k(i),j+1) min= sum_l x(i)*A(j,l)*B(3,2); y(i) = sum_j B(i,j)^2"},
		{"A", "B(k(i),j+1) min= sum_l x(i)*A(j,l)*B(3,2); y(i) = sum_j B(i,j)^2"},
	}
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(2))
	total := tally{}
	for n, test := range tests {
		for seed := range 4 {
			if testengine.Thin(4, n, seed) {
				continue
			}
			g := newWriter(rand.New(rand.NewPCG(uint64(n), uint64(seed))))
			for name, shape := range map[string][]int64{"A": {4, 5}, "B": {5, 6}, "x": {5}, "v": {4}, "r": {9}} {
				g.args[name] = g.tensor(shape)
			}
			q, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{0.1 + 0.2*g.Float64(), 0.6 + 0.3*g.Float64()}))
			must(err)
			g.args["q"] = q
			k, err := tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]int64{3, 0, 3, 3, 2}))
			must(err)
			g.args["k"], g.args["s"] = k, g.tensor(nil)
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
