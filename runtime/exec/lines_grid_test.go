package exec

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests lines of dense results on grids (lower/gpu/lines.go, linework.go).

// TestGridLines compares what is computed of lines of dense tensors, by lanes and by blocks, with one
// thread: sums, logarithms of sums of exponentials near 0 and far from it, and elements.
func TestGridLines(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	session := gridSession(t, 0)
	inf, nan := math.Inf(1), math.NaN()
	far := []float64{300, -300, 1e4, -1e4, 3e38}
	special := []float64{-inf, inf, nan, 255.75, 256.25, -256.25}
	least := []float64{-inf, -inf, -1e30}
	for s, shape := range [][2]int64{{0, 7}, {3, 0}, {2, 1}, {5, 4}, {3, 31}, {40, 33}, {7, 64}, {3, 520}, {2, 1031}, {1, 5000}, {90, 36}} {
		for k, test := range []struct {
			text      string
			dt        tensor.DType
			special   []float64
			tolerance float64
		}{
			{"y(i) = sum_j x(i,j)", tensor.Float32, nil, 0},
			{"y(i) = max_j x(i,j)", tensor.Float32, special, 0},
			{"y(j) = sum_i x(i,j)", tensor.Float32, nil, 0},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float32, nil, 1e-6},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float32, far, 1e-6},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float32, special, 1e-6},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float32, least, 1e-6},
			{"y(j) = logsumexp_i x(i,j)", tensor.Float32, far, 1e-6},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float16, least, 1e-3},
			{"y(i) = logsumexp_j x(i,j)", tensor.Float64, far, 1e-14},
			{"y = logsumexp_{i,j} x(i,j)", tensor.Float32, nil, 1e-6},
			{"y(i,j) = 2*x(i,j) + 1", tensor.Float32, nil, 0},
			{"y(i,j) = x(i,j) - i", tensor.Float64, nil, 0},
			{"y(i,j) = x(i,j)*x(i,2)", tensor.Float16, nil, 0},
			{"y(i,j) = where(x(i,j) > 0, x(i,j), 3 - j)", tensor.Int32, nil, 0},
			{"y(j,i) = 2*x(i,j)", tensor.Float32, nil, 0},
			{"t(i) = logsumexp_j x(i,j); y(i,j) = exp(x(i,j) - t(i))", tensor.Float32, nil, 1e-6},
			{"t(i) = logsumexp_j x(i,j); u(i) = sum_j exp(x(i,j) - t(i)); y(i,j) = exp(x(i,j) - t(i))/u(i)", tensor.Float32, far, 1e-6},
		} {
			if testengine.Thin(3, s, k) || strings.Contains(test.text, "x(i,2)") && shape[1] < 3 || strings.Contains(test.text, "max_j") && shape[1] == 0 {
				continue
			}
			what := fmt.Sprintf("%s of %v%v, special %v", test.text, test.dt, shape, test.special)
			x := randomLines(t, shape[0], shape[1], test.dt, test.special)
			want := numbers(t, evalAll(t, []*Session{oracle}, test.text, Args{"x": x}))
			got := numbers(t, evalAll(t, []*Session{session}, test.text, Args{"x": x}))
			agree(t, what, got, want, test.tolerance)
		}
	}
}

// TestGridPairs does so for tensors of rank 3, of which a row is a pair of coordinates.
func TestGridPairs(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	session := gridSession(t, 0)
	for _, shape := range [][3]int64{{0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {3, 1, 5}, {2, 5, 40}, {1, 3, 300}, {9, 7, 4}, {70, 2, 1}} {
		flat := randomLines(t, shape[0]*shape[1], shape[2], tensor.Float32, []float64{300, -300})
		z, err := tensor.FromDense(shape[:], tensor.Dense(3), flat.Values())
		if err != nil {
			t.Fatal(err)
		}
		v := randomLines(t, shape[1], shape[2], tensor.Float32, nil)
		for _, text := range []string{
			"y(i,j,k) = 2*z(i,j,k)", "y(i,j,k) = z(i,j,k)*v(j,k) + i", "y(i,k,j) = z(i,j,k)", "y(k,j,i) = z(i,j,k) - j", "y(j,k,i) = where(z(i,j,k) > 0, v(j,k), k)",
			"t(i,j) = sum_k z(i,j,k)", "t(i,k) = sum_j z(i,j,k)", "t(j,i) = sum_k z(i,j,k)*v(j,k)", "t(i,j) = sum_k z(i,j,k)*v(j,k)",
			"t(i,j) = logsumexp_k z(i,j,k); y(i,j,k) = exp(z(i,j,k) - t(i,j))", "t(i,k) = logsumexp_j z(i,j,k); y(i,j,k) = exp(z(i,j,k) - t(i,k))",
		} {
			args := Args{"z": z}
			if strings.Contains(text, "v(") {
				args["v"] = v
			}
			want := numbers(t, evalAll(t, []*Session{oracle}, text, args))
			got := numbers(t, evalAll(t, []*Session{session}, text, args))
			agree(t, fmt.Sprintf("%s of %v", text, shape), got, want, 1e-6)
		}
	}
}
