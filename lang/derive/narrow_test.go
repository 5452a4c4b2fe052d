package derive_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestNarrowGradients: gradients of f16 and bf16 are those of the same values in f64, rounded once.
func TestNarrowGradients(t *testing.T) {
	tests := []string{
		"y(i) = logsumexp_j A(i,j)",
		"y(i) = var_j A(i,j)",
		"y(i) = norm_j A(i,j)",
		"y(i) = prod_j A(i,j)",
		"y(i) = max_j A(i,j)^2",
		"y(i) = quantile_j(A(i,j), 0.4)",
		"y(i,j) = logcumsumexp_j A(i,j)",
		"y(i,j) = cumprod_j A(i,j)",
		"y(i,j) = cumsum_j A(i,j)*A(i,j)",
		"y(i,j) = cummax_j A(i,j)",
		"y(i,j) = sort_j A(i,j)",
		"t(i) = logsumexp_j A(i,j); y(i,j) = exp(A(i,j) - t(i))",
		"t(i,j) = A(i,j)*A(i,j); t(i,j) *= A(i,j); y = sum_{i,j} t(i,j)*A(i,j)",
		"y(i) = sum_k exp(A(i,k))*sum_j A(i,j)*B(j,k)",
		"y(:) = A(0:2,1)*sum_j A(1:3,j)",
		"A(i,2) = A(i,1)*A(i,0); y(i) = sum_j A(i,j)^2*B(0,0)",
		"A(k(i),j) += A(i,j)*B(i,0); y(i) = prod_j A(i,j)",
		"A(k(i),j) max= A(i,j)*B(i,0); y(i) = prod_j A(i,j)",
	}
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		for _, f := range []tensor.Format{tensor.Dense(2), tensor.CSR} {
			for n, src := range tests {
				r := rand.New(rand.NewPCG(uint64(n), 5))
				matrix := func(shape []int64, f tensor.Format) (half, double *tensor.Tensor) {
					coords, values := [][]int64{{}, {}}, []float64{}
					for i := range shape[0] {
						for j := range shape[1] {
							coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
							values = append(values, tensor.Float(dt, 0.5+r.Float64()).Float64())
						}
					}
					double, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
					must(err)
					list, err := double.Values().Convert(dt)
					must(err)
					half = tensor.NewTrusted(shape, f, double.Levels(), list, tensor.Zero(dt))
					return half, double
				}
				A, A64 := matrix([]int64{3, 4}, f)
				B, B64 := matrix([]int64{4, 4}, tensor.Dense(2))
				if strings.Contains(src, "B(i,0)") {
					B, B64 = matrix([]int64{3, 4}, tensor.Dense(2))
				}
				k, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]int64{1, 1, 2}))
				must(err)
				args, args64 := lacuna.Args{"A": A}, lacuna.Args{"A": A64}
				if strings.Contains(src, "B(") {
					args["B"], args64["B"] = B, B64
				}
				if strings.Contains(src, "k(i)") {
					args["k"], args64["k"] = k, k
				}
				y, err := s.Eval(context.Background(), src, args64)
				must(err)
				if y.Rank() > 0 {
					up := numbered(y.Shape(), 0.5)
					values, err := up.Values().Convert(dt)
					must(err)
					args["dy"] = tensor.NewTrusted(y.Shape(), up.Format(), nil, values, tensor.Zero(dt))
					exact, err := values.Convert(tensor.Float64)
					must(err)
					args64["dy"] = tensor.NewTrusted(y.Shape(), up.Format(), nil, exact, tensor.Zero(tensor.Float64))
				}
				got, err := s.EvalGrad(context.Background(), src, "A", args)
				if err != nil {
					t.Errorf("%s: %v", src, err)
					continue
				}
				want, err := s.EvalGrad(context.Background(), src, "A", args64)
				must(err)
				ulp := map[tensor.DType]float64{tensor.Float16: 0x1p-10, tensor.BFloat16: 0x1p-7}[dt]
				for i := range A.Shape()[0] {
					for j := range A.Shape()[1] {
						x, w := got.At(i, j).Float64(), want.At(i, j).Float64()
						if got.DType() != dt || !(math.Abs(x-w) <= 0.5001*ulp*math.Abs(w)+1e-5) {
							t.Errorf("%s, %v %v: the gradient at (%d,%d) is %v, in f64 %v", src, dt, f, i, j, x, w)
							break
						}
					}
				}
			}
		}
	}
}
