package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests scans, sorts and quantiles on grids (lower/prim).

// gridSession is a session of an engine that runs grids, whose lines are cut as small
// data need it if grain is not 0.
func gridSession(t *testing.T, grain int64) *Session {
	s := NewSession(WithEngine(testengine.Or(t, runtime.Simulated())))
	s.env.Grain = grain
	return s
}

// randomLines is a dense matrix of quarters, or of anything if special.
func randomLines(t *testing.T, rows, cols int64, dt tensor.DType, special []float64) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	values := make([]float64, rows*cols)
	for i := range values {
		values[i] = float64(r.IntN(33)-16) / 4
		if special != nil && r.IntN(40) == 0 {
			values[i] = special[r.IntN(len(special))]
		}
	}
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{rows, cols}, tensor.Dense(2), array)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// shortLines is how many short lines there are, for threads that take one each, or for the
// blocks that do so with a grain, which are few.
func shortLines(grain int64) int64 {
	if grain > 0 {
		return 9
	}
	return 40
}

// agree compares numbers; equal ones, or up to rounding with a tolerance.
func agree(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= tolerance*max(1, math.Abs(w)) {
			continue
		}
		t.Errorf("%s: element %d is %v, want %v", what, i, g, w)
		return
	}
}

// TestGridScans compares scans by threads, warps and blocks with those of one thread.
func TestGridScans(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	inf, nan := math.Inf(1), math.NaN()
	for grain, shapes := range map[int64][][2]int64{
		0: {{0, 7}, {3, 0}, {2, 1}, {5, 3}, {3, 31}, {shortLines(0), 33}, {2, 200}, {3, 1100}, {1, 10000}},
		3: {{0, 7}, {3, 0}, {2, 1}, {5, 3}, {3, 31}, {shortLines(3), 33}, {3, 110}, {1, 1400}}, // the last has more blocks than those have threads
	} {
		session := gridSession(t, grain)
		for s, shape := range shapes {
			for o, options := range []string{"", "[exclusive]", "[reverse]", "[reverse, exclusive]"} {
				for k, test := range []struct {
					op        string
					dt        tensor.DType
					special   []float64
					tolerance float64
				}{
					{"cumsum", tensor.Float32, nil, 0},
					{"cumsum", tensor.Float16, []float64{-4}, 0.01},
					{"cumsum", tensor.Complex128, nil, 0},
					{"cummax", tensor.Float64, []float64{100, inf, nan}, 0},
					{"cummin", tensor.Int64, []float64{-90}, 0},
					{"cumprod", tensor.Int32, nil, 0},
					{"logcumsumexp", tensor.Float64, []float64{-inf, -800, 500}, 1e-13},
					{"logcumsumexp", tensor.Float32, nil, 1.2e-7},
					{"logcumsumexp", tensor.Float16, []float64{-4, inf}, 1e-3},
					{"logcumsumexp", tensor.BFloat16, []float64{-4, nan}, 8e-3},
					{"logcumsumexp", tensor.Float32, []float64{-90, -60, 75}, 1.2e-7},
					{"logcumsumexp", tensor.Float32, []float64{-inf, inf, nan, 700, -700}, 1e-6},
				} {
					if testengine.Thin(8, s, o, k, int(grain/3)*4) || options != "" && (shape[1] > 1200 || test.dt == tensor.Complex128 || test.dt == tensor.Float16) {
						continue
					}
					A := randomLines(t, shape[0], shape[1], test.dt, test.special)
					text := fmt.Sprintf("y(i,j) = %s_j%s A(i,j)", test.op, options)
					want := numbers(t, evalAll(t, []*Session{oracle}, text, Args{"A": A}))
					got := numbers(t, evalAll(t, []*Session{session}, text, Args{"A": A}))
					agree(t, fmt.Sprintf("%s, %v of %v, grain %d", text, shape, test.dt, grain), got, want, test.tolerance)
				}
			}
		}
	}
}

// TestGridScansOfColumns compares scans of lines that lie side by side, and of stored
// elements.
func TestGridScansOfColumns(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	session, cut := gridSession(t, 0), gridSession(t, 3)
	A := randomLines(t, 1500, 5, tensor.Float64, nil)
	S := sparseLine(t, 40*300, []int64{40, 300}, tensor.CSR, tensor.Float64, 0)
	one := sparseLine(t, 9000, []int64{9000}, tensor.CSF(1), tensor.Float64, 0.25)
	single, short := sparseLine(t, 3*4000, []int64{3, 4000}, tensor.CSR, tensor.Float32, 0), sparseLine(t, 40*300, []int64{40, 300}, tensor.CSR, tensor.Float32, 0)
	for _, test := range []struct {
		text string
		a    *tensor.Tensor
	}{
		{"y(i,j) = cumsum_i A(i,j)", A}, {"y(i,j) = cumsum_i[reverse, exclusive] A(i,j)", A},
		{"y(i,j) = cumsum_{j in A} A(i,j)", S}, {"y(i,j) = cumsum_{j in A}[reverse, exclusive] A(i,j)", S},
		{"y(i) = cumsum_{i in A} A(i)", one}, {"y(i) = cumsum_i A(i)", one},
		{"y(i,j) = logcumsumexp_{j in A} A(i,j)", single}, {"y(i,j) = logcumsumexp_{j in A}[reverse, exclusive] A(i,j)", short},
	} {
		want := numbers(t, evalAll(t, []*Session{oracle}, test.text, Args{"A": test.a}))
		got := numbers(t, evalAll(t, []*Session{session}, test.text, Args{"A": test.a}))
		tolerance := 0.0
		if test.a.DType() == tensor.Float32 {
			tolerance = 1.2e-7
		}
		agree(t, test.text, got, want, tolerance)
		if test.a == short {
			got := numbers(t, evalAll(t, []*Session{cut}, test.text, Args{"A": test.a}))
			agree(t, test.text+" by few blocks", got, want, tolerance)
		}
	}
}

// TestGridQuantiles compares quantiles that blocks and threads select with those of one
// thread.
func TestGridQuantiles(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	inf, nan := math.Inf(1), math.NaN()
	orders, err := tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]float64{0, 0.1, 0.5, 0.77, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for g, grain := range []int64{0, 3} {
		session := gridSession(t, grain)
		check := func(text string, A *tensor.Tensor) {
			t.Helper()
			args := Args{"A": A}
			if strings.Contains(text, "q(") {
				args["q"] = orders
			}
			want := numbers(t, evalAll(t, []*Session{oracle}, text, args))
			got := numbers(t, evalAll(t, []*Session{session}, text, args))
			agree(t, fmt.Sprintf("%s, %v of %v, grain %d", text, A.Shape(), A.DType(), grain), got, want, 0)
		}
		for s, shape := range [][2]int64{{3, 1}, {shortLines(grain), 33}, {2, 600}} {
			for k, text := range []string{
				"y(i) = quantile_j(A(i,j), 0.3)", "y(i) = median_j A(i,j)", "y(i) = nanquantile_j(A(i,j), 0.9)",
				"y(u,i) = quantile_j(A(i,j), q(u))", "y(i) = quantile_j[midpoint](A(i,j), 0.25)",
			} {
				for d, test := range []struct {
					dt      tensor.DType
					special []float64
				}{{tensor.Float32, []float64{inf, 1e-40, -1e30}}, {tensor.Float64, []float64{-inf, nan, 3e300}}, {tensor.Int16, nil}, {tensor.Float16, nil}} {
					if !testengine.Thin(5, s, k, d, g) {
						check(text, randomLines(t, shape[0], shape[1], test.dt, test.special))
					}
				}
			}
		}
		for f, fill := range []float64{0, -0.25, nan, inf} {
			for k, text := range []string{
				"y(i) = quantile_j(A(i,j), 0.3)", "y(i) = nanquantile_j(A(i,j), 0.5)", "y(u,i) = quantile_j(A(i,j), q(u))",
				"y(i) = median_{j in A} A(i,j)", "y = median_{i,j} A(i,j)",
			} {
				if testengine.Thin(4, f, k) {
					continue
				}
				if !testengine.Thin(2, g, k) {
					check(text, sparseLine(t, 3*4000, []int64{3, 4000}, tensor.CSR, tensor.Float64, fill))
				}
				check(text, sparseLine(t, 20*30, []int64{20, 30}, tensor.CSR, tensor.Float32, fill))
			}
		}
	}
}

// TestGridSorts compares sorts by blocks and threads with those of one thread. Ties show in
// argsort.
func TestGridSorts(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	inf, nan := math.Inf(1), math.NaN()
	for g, grain := range []int64{0, 3} {
		session := gridSession(t, grain)
		for s, shape := range [][2]int64{{3, 0}, {3, 31}, {shortLines(grain), 33}, {2, 600}} {
			for k, text := range []string{
				"y(i,j) = sort_j A(i,j)", "y(i,j) = argsort_j A(i,j)", "y(i,j) = sort_j[descending] A(i,j)", "y(i,j) = argsort_j[descending] A(i,j)",
			} {
				for d, test := range []struct {
					dt      tensor.DType
					special []float64
				}{
					{tensor.Float32, []float64{inf, 1e-40, -1e30, nan, math.Copysign(0, -1)}},
					{tensor.Float64, []float64{-inf, nan, 3e300, math.Copysign(0, -1)}},
					{tensor.Int16, []float64{-30000, 255}}, {tensor.Uint8, nil}, {tensor.Int64, []float64{-1 << 60}},
					{tensor.Float16, []float64{300}}, {tensor.Uint32, []float64{1 << 31}},
				} {
					if testengine.Thin(8, s, k, d, 4*g) || (grain == 0) != (shape[1] > 100) && test.dt != tensor.Float32 {
						continue
					}
					A := randomLines(t, shape[0], shape[1], test.dt, test.special)
					want := evalAll(t, []*Session{oracle}, text, Args{"A": A})
					got := evalAll(t, []*Session{session}, text, Args{"A": A})
					if d := tensor.Diff(want, got); d != "" {
						t.Errorf("%s, %v of %v, grain %d: %s", text, shape, test.dt, grain, d)
					}
				}
			}
		}
	}
}

// TestGridFoldsOfAll compares folds of all elements of a tensor.
func TestGridFoldsOfAll(t *testing.T) {
	testengine.Interpreted(t)
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	for f, test := range []struct {
		f    tensor.Format
		fill float64
	}{{tensor.CSR, 0}, {tensor.CSR, 0.25}, {tensor.COO, 0}, {tensor.DCSR, 1}, {tensor.Dense(2), 0}} {
		for s, run := range []struct {
			grain int64
			shape []int64
		}{{0, []int64{0, 5}}, {0, []int64{7, 5}}, {3, []int64{13, 17}}} {
			session := gridSession(t, run.grain)
			A := sparseLine(t, run.shape[0]*run.shape[1], run.shape, test.f, tensor.Float64, test.fill)
			for k, text := range []string{
				"y = sum_{i,j} A(i,j)", "y = sum_{i,j} (A(i,j) * A(i,j))", "y = sum_{i,j} A(i,j) + 2", "y = prod_{i,j} (A(i,j) * 4)",
				"y = sum_{i,j} (A(i,j) * i)", "y = sum_{j,i} abs(A(i,j))", "y = sum_i A(i,i)", "y = any_{i,j} (A(i,j) > 0.75)",
				"y = logsumexp_{i,j} A(i,j)", "y = sum_{i,j} where(stored(A(i,j)), A(i,j) + 1, 0)", "y = sum_{i,j} where(A(i,j) > 0.5, 2, 0)", "y = mean_{i,j} A(i,j)", "y = sum_{i,j} A(i,j) / sum_{i,j} abs(A(i,j))",
			} {
				if testengine.Thin(3, f, s, k) {
					continue
				}
				args := Args{"A": A}
				want, err := oracle.Eval(context.Background(), text, args)
				got, err2 := session.Eval(context.Background(), text, args)
				if (err == nil) != (err2 == nil) {
					t.Fatalf("%s: %v, %v", text, err, err2)
				}
				if err == nil {
					agree(t, fmt.Sprintf("%s, %v %v fill %v, grain %d", text, run.shape, test.f, test.fill, run.grain), numbers(t, got), numbers(t, want), 1e-12)
				}
			}
		}
	}
}
