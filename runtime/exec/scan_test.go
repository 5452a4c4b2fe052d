package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests scans and quantiles (lower/prim), by whole programs.

// lineSessions are the engines with 1, 2 and 7 threads, whose bits must agree.
func lineSessions(t *testing.T) []*Session {
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	} else {
		t.Logf("interpreter only: %v", err)
	}
	var list []*Session
	for _, e := range engines {
		compiled := runtime.NewCache(cachedPrograms)
		for _, threads := range []int{1, 2, 7} {
			list = append(list, NewSession(WithEngine(e), WithThreads(threads), sharing(compiled)))
		}
	}
	return list
}

// sharing is the option with which sessions of one engine compile every program once:
// most do not depend on how many threads there are, but on what a test sets besides.
func sharing(c *runtime.Cache) SessionOption { return func(s *Session) { s.env.Cache = c } }

// evalAll evaluates in all sessions, compares bits, and returns the result.
func evalAll(t *testing.T, sessions []*Session, text string, args Args, opts ...Option) *tensor.Tensor {
	t.Helper()
	var first *tensor.Tensor
	for i, s := range sessions {
		got, err := s.Eval(context.Background(), text, args, opts...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if i == 0 {
			first = got
		} else if d := tensor.Diff(first, got); d != "" {
			t.Fatalf("%s: session %d differs: %s", text, i, d)
		}
	}
	return first
}

// sparseLine is a line of n elements of which every third or so is stored.
func sparseLine(t *testing.T, n int64, shape []int64, f tensor.Format, dt tensor.DType, fill float64) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	coords := make([][]int64, len(shape))
	var values []float64
	for p := range n {
		if r.IntN(3) > 0 {
			continue
		}
		rest := p
		for axis := len(shape) - 1; axis >= 0; axis-- {
			coords[axis] = append(coords[axis], rest%shape[axis])
			rest /= shape[axis]
		}
		values = append(values, float64(r.IntN(9)-4)/4)
	}
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tensor.FromCoords(shape, f, coords, array, tensor.WithFill(tensor.Float(dt, fill)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func numbers(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	dense, err := x.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]float64, dense.Len())
	for i := range list {
		list[i] = dense.Scalar(i).Float64()
	}
	return list
}

// TestLongScans runs scans over lines long enough to be cut into blocks, and compares
// them with a loop. Sums of quarters are exact in any order.
func TestLongScans(t *testing.T) {
	sessions := lineSessions(t)
	for _, test := range []struct {
		text  string
		shape []int64
		f     tensor.Format
		fill  float64
		axis  int // -1: all of them
	}{
		{"y(i) = cumsum_i A(i)", []int64{30000}, tensor.Dense(1), 0, 0},
		{"y(i) = cumsum_i A(i)", []int64{30000}, tensor.CSF(1), 0.25, 0},
		{"y(i) = cumsum_i[exclusive] A(i)", []int64{30000}, tensor.CSF(1), -0.5, 0},
		{"y(i) = cumsum_i[reverse] A(i)", []int64{30000}, tensor.CSF(1), 0.25, 0},
		{"y(i) = cumsum_i[reverse, exclusive] A(i)", []int64{30000}, tensor.Dense(1), 0, 0},
		{"y(i,j) = cumsum_i A(i,j)", []int64{20000, 3}, tensor.Dense(2), 0, 0},
		{"y(i,j) = cumsum_i[reverse] A(i,j)", []int64{20000, 3}, tensor.COO, 0.5, 0},
		{"y(i,j) = cumsum_j A(i,j)", []int64{3, 20000}, tensor.CSR, 0.5, 1},
		{"y(i,j) = cumsum_j[exclusive] A(i,j)", []int64{3, 20000}, tensor.CSC, 0, 1},
		{"y(i,j) = cumsum_{i,j} A(i,j)", []int64{150, 200}, tensor.CSC, 0.25, -1},
		{"y(i,j) = cumsum_{i,j}[reverse, exclusive] A(i,j)", []int64{150, 200}, tensor.CSR, 0.25, -1},
	} {
		t.Run(fmt.Sprintf("%s %s", test.text, test.f), func(t *testing.T) {
			n := int64(1)
			for _, d := range test.shape {
				n *= d
			}
			A := sparseLine(t, n, test.shape, test.f, tensor.Float64, test.fill)
			got := numbers(t, evalAll(t, sessions, test.text, Args{"A": A}))
			want := runningSums(numbers(t, A), test.shape, test.axis, containsWord(test.text, "exclusive"), containsWord(test.text, "reverse"))
			if !slices.Equal(got, want) {
				t.Errorf("differs from the loop")
			}
		})
	}
}

func containsWord(text, word string) bool {
	file, err := lang.Parse(text)
	if err != nil {
		return false
	}
	fold, ok := file.Stmts[0].RHS.(*lang.Fold)
	return ok && slices.ContainsFunc(fold.Options, func(o lang.Option) bool { return o.Name == word })
}

// runningSums is a cumulative sum along an axis of row-major values.
func runningSums(x []float64, shape []int64, axis int, exclusive, reverse bool) []float64 {
	n, inner := int64(len(x)), int64(1)
	if axis >= 0 {
		n = shape[axis]
		for _, d := range shape[axis+1:] {
			inner *= d
		}
	}
	out := make([]float64, len(x))
	for first := range int64(len(x)) {
		if n == 0 || first/inner%n != 0 {
			continue
		}
		sum := 0.0
		for t := range n {
			p := first + t*inner
			if reverse {
				p = first + (n-1-t)*inner
			}
			if exclusive {
				out[p] = sum
			}
			sum += x[p]
			if !exclusive {
				out[p] = sum
			}
		}
	}
	return out
}

// TestScanCarries checks that half-precision sums do not stall and that f64 scans
// keep f64 states: both show beyond some thousand elements only.
func TestScanCarries(t *testing.T) {
	sessions := lineSessions(t)
	const n = 1 << 13
	ones, err := tensor.MakeArray(tensor.Float16, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		ones.SetScalar(i, tensor.One(tensor.Float16))
	}
	A, err := tensor.FromDense([]int64{n}, tensor.Dense(1), ones)
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, evalAll(t, sessions, "y(i) = cumsum_i A(i)", Args{"A": A})); got[n-1] != n {
		t.Errorf("the sum of %d ones is %v", n, got[n-1])
	}
	empty, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{{}}, tensor.ArrayOf([]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"y(i) = logcumsumexp_i A(i)", "y(i) = logcumsumexp_i[reverse] A(i)"} {
		got := numbers(t, evalAll(t, sessions, text, Args{"A": empty}))
		for i, v := range got {
			k := i
			if text != "y(i) = logcumsumexp_i A(i)" {
				k = n - 1 - i
			}
			if want := math.Log(float64(k + 1)); math.Abs(v-want) > 1e-13*math.Max(1, want) {
				t.Fatalf("%s: element %d is %v, want %v", text, i, v, want)
			}
		}
	}
}

// TestLinesOfSparseTensors checks that work and memory follow the entries, where
// the dimensions are too large to be written out.
func TestLinesOfSparseTensors(t *testing.T) {
	const huge = 1 << 40
	sessions := lineSessions(t)
	long, err := tensor.FromCoords([]int64{huge, huge}, tensor.COO,
		[][]int64{{5, 5, 5, huge - 1}, {0, 7, huge - 1, 3}}, tensor.ArrayOf([]float64{3, -1, 2, 4}))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := tensor.FromCoords([]int64{huge, 4}, tensor.COO,
		[][]int64{{5, 5, huge - 1}, {0, 2, 3}}, tensor.ArrayOf([]float64{3, -1, 4}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		A    *tensor.Tensor
		want []float64 // stored
	}{
		{"y(i) = median_j A(i,j)", long, []float64{0, 0}},
		{"y(i) = quantile_j[higher](A(i,j), 1)", long, []float64{3, 4}},
		{"y(i) = quantile_{j in A}(A(i,j), 0.5)", long, []float64{2, 4}},
		{"y(i) = nanquantile_j[lower](A(i,j), 0)", long, []float64{-1, 0}},
		{"y(i,j) = cumsum_j A(i,j)", wide, []float64{3, 3, 2, 2, 0, 0, 0, 4}},
		{"y(i,j) = cumsum_j[reverse] A(i,j)", wide, []float64{2, -1, -1, 0, 4, 4, 4, 4}},
		{"y(i,j) = cummax_j A(i,j)", wide, []float64{3, 3, 3, 3, 0, 0, 0, 4}},
		{"y(i,j) = cumsum_{j in A} A(i,j)", long, []float64{3, 2, 4, 4}},
		{"y(i,j) = cumsum_{i in A, j in A} A(i,j)", long, []float64{3, 2, 4, 8}},
	} {
		got := evalAll(t, sessions, test.text, Args{"A": test.A})
		if values := tensor.View[float64](got.Values()); !slices.Equal(values, test.want) {
			t.Errorf("%s: stored %v, want %v", test.text, values, test.want)
		}
	}
	for _, text := range []string{"y(i,j) = cumsum_{i,j} A(i,j)", "y(i,j) = logcumsumexp_j A(i,j)", "y(i,j) = cumsum_j[exclusive] A(i,j) + 1"} {
		for _, s := range sessions {
			if _, err := s.Eval(context.Background(), text, Args{"A": long}); err == nil {
				t.Errorf("%s: a dense result of 2^80 elements", text)
			}
		}
	}
}

// TestLargeQuantiles sorts lines that take several merges, and selects from them.
func TestLargeQuantiles(t *testing.T) {
	sessions := lineSessions(t)
	for _, n := range []int64{1, 15, 16, 17, 33, 100, 1000, 5000} {
		for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
			A := sparseLine(t, n, []int64{n}, f, tensor.Float64, 0.125)
			sorted := numbers(t, A)
			slices.Sort(sorted)
			q := []float64{0, 0.1, 0.25, 0.5, 0.9, 1}
			Q, err := tensor.FromDense([]int64{int64(len(q))}, tensor.Dense(1), tensor.ArrayOf(q))
			if err != nil {
				t.Fatal(err)
			}
			for method, rank := range map[string]func(float64) float64{"lower": math.Floor, "higher": math.Ceil, "nearest": math.RoundToEven} {
				got := numbers(t, evalAll(t, sessions, fmt.Sprintf("y(k) = quantile_i[%s](A(i), q(k))", method), Args{"A": A, "q": Q}))
				for k := range q {
					if want := sorted[int(rank(q[k]*float64(n-1)))]; got[k] != want {
						t.Errorf("%s quantile %v of %d values, stored %s: got %v, want %v", method, q[k], n, f, got[k], want)
					}
				}
				one := numbers(t, evalAll(t, sessions, fmt.Sprintf("y = quantile_i[%s](A(i), 0.9)", method), Args{"A": A}))
				if want := sorted[int(rank(0.9*float64(n-1)))]; one[0] != want {
					t.Errorf("%s quantile 0.9 of %d values, stored %s: got %v, want %v", method, n, f, one[0], want)
				}
			}
		}
	}
}

// TestBadOrders checks that orders out of range are refused with a place.
func TestBadOrders(t *testing.T) {
	A := matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{0, 1, 1})
	for _, q := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		for _, s := range lineSessions(t) {
			_, err := s.Eval(context.Background(), "y(k,i) = quantile_j(A(i,j), q(k))", Args{"A": A, "q": vector(t, 0.5, q)})
			var e *lang.Error
			if !errors.As(err, &e) || e.Code != lang.ErrRange || e.Pos.Column != 10 {
				t.Errorf("order %v: %v", q, err)
			}
		}
	}
}

// TestPreparedLines runs a prepared kernel with scans on other values.
func TestPreparedLines(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{
		"y(i,j) = A(i,j) - cumsum_{j in A} A(i,j)", "y(i) = median_j A(i,j)", "y(i,j) = B(i,j) * cumsum_j A(i,j)",
	} {
		A := matrix(t, tensor.COO, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{0, 3, 2}, [3]float64{2, 0, 5})
		B := matrix(t, tensor.COO, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{2, 2, 2})
		args := Args{"A": A, "B": B}
		opts := []Option{Format("A", tensor.COO, tensor.Float64)}
		if containsB := text[len("y(i,j) = ")] == 'B'; containsB {
			opts = append(opts, Format("B", tensor.COO, tensor.Float64))
		} else {
			delete(args, "B")
		}
		k, err := NewSession(WithEngine(runtime.Interp())).Compile(t.Context(), text, opts...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Prepare(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		args["A"] = matrix(t, tensor.COO, [2]int64{3, 4}, [3]float64{0, 1, -7}, [3]float64{0, 3, 2.5}, [3]float64{2, 0, 1})
		got, err := p.Run(ctx, args)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want, err := k.Run(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("%s: prepared differs: %s", text, d)
		}
	}
}

// TestResultsOfScans checks in which format and type results come, and that a scan
// that is a whole statement is not copied.
func TestResultsOfScans(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	for _, test := range []struct {
		text, format, plan string
		A                  tensor.Format
	}{
		{"y(i,j) = cumsum_j A(i,j)", "D", "scan A -> y: D    # cumsum along axis 1\n", tensor.CSR},
		{"y(i,j) = cumsum_j[reverse] A(i,j)", "S-D", "scan A -> y: S-D    # cumsum along axis 1, reverse\n", tensor.DCSR},
		{"y(i,j) = logcumsumexp_j A(i,j)", "D", "", tensor.COO},
		{"y(i,j) = cumsum_{j in A} A(i,j)", "CSR", "scan A -> y: CSR    # cumsum along axis 1, stored elements only\n", tensor.CSR},
		{"y(i) = median_j A(i,j)", "D", "statistic A -> y: D    # median (linear) over axis 1\n", tensor.CSR},
		{"y(i) = median_j A(i,j)", "S", "statistic A -> y: S    # median (linear) over axis 1\n", tensor.DCSR},
	} {
		k, err := s.Compile(t.Context(), test.text, Format("A", test.A, tensor.Float32))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := k.Explain("plan")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("tensor A: %s f32\ntensor y: %s f32\n%s", test.A, test.format, test.plan); test.plan != "" && plan != want {
			t.Errorf("%s: plan\n%swant\n%s", test.text, plan, want)
		}
		got, err := k.Run(context.Background(), Args{"A": sparseLine(t, 20, []int64{4, 5}, test.A, tensor.Float32, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Format().String() != test.format || got.DType() != tensor.Float32 {
			t.Errorf("%s: result is %s %s, want %s f32", test.text, got.Format(), got.DType(), test.format)
		}
	}
}

// TestManyScans checks that a statement has a bounded number of scans.
func TestManyScans(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	text := "y(i) = cumsum_i x(i)" + strings.Repeat(" + median_j A(i,j)", 63)
	args := Args{"x": vector(t, 1, 2), "A": matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{0, 1, 1})}
	if _, err := s.Eval(context.Background(), text, args); err != nil {
		t.Error(err)
	}
	_, err := s.Eval(context.Background(), text+" + cumsum_i[reverse] x(i)", args)
	var e *lang.Error
	if !errors.As(err, &e) || e.Code != lang.ErrUnsupported {
		t.Errorf("65 scans: %v", err)
	}
}

// TestPartsOfLines reads part of what a scan or a sort of the statement before gave.
func TestPartsOfLines(t *testing.T) {
	sessions := lineSessions(t)
	A, err := tensor.FromDense([]int64{2, 3}, tensor.Dense(2), tensor.ArrayOf([]float64{3, 1, 2, 6, 5, 4}))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]float64{
		"y(i,j) = sort_j A(i,j); z(i,:) = y(i,0:2)":             {1, 2, 4, 5},
		"y(i,j) = cumsum_j A(i,j); z(i,j) = y(i,j+1)":           {4, 6, 11, 15},
		"y(i,j) = cumsum_j A(i,j); z(i,:) = y(i,::2)":           {3, 6, 6, 15},
		"y(i,j) = cumsum_j A(i,j); z(j,i) = y(i,j)":             {3, 6, 4, 11, 6, 15},
		"y(i,j) = sort_j[first=2] A(i,j); z(i,:) = y(i,0:2)":    {1, 2, 4, 5},
		"y(i) = median_j A(i,j); z(:) = y(1:2)":                 {5},
		"y(i,j) = cumsum_j A(i,j); z(i,j) = y(i,j); y(0,0) = 9": {9, 4, 6, 6, 11, 15},
	} {
		if got := numbers(t, evalAll(t, sessions, text, Args{"A": A})); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// matrixFormats are formats of matrices.
func matrixFormats() []tensor.Format {
	return []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO}
}

// TestStatisticOfNothing takes medians of empty lines that are stored whole: with `in`
// they are NaN, like those of sparse lines without entries.
func TestStatisticOfNothing(t *testing.T) {
	for _, f := range []tensor.Format{tensor.Dense(2), tensor.CSR} {
		empty, err := tensor.FromCoords([]int64{3, 0}, f, [][]int64{nil, nil}, tensor.ArrayOf([]float64{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scattering(t) {
			got, err := s.Eval(context.Background(), "m(i) = median_{j in A} A(i,j)", Args{"A": empty})
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(3) {
				if v := got.At(i).Float64(); !math.IsNaN(v) {
					t.Errorf("%s on %s: line %d has the median %v", f, s.Engine().Name(), i, v)
				}
			}
		}
	}
}

// A running product is 0 behind the first gap, also where what is stored behind it makes a product beyond
// the range of its type; in blocks, which are multiplied on their own, too.
func TestProductsBehindGaps(t *testing.T) {
	var coords [2][]int64
	var values []float32
	for j := int64(0); j < 2000; j += 2 {
		coords[0], coords[1], values = append(coords[0], 1), append(coords[1], j), append(values, 30)
	}
	for _, format := range []tensor.Format{tensor.CSR, tensor.DCSR} {
		a, err := tensor.FromCoords([]int64{2, 2000}, format, coords[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []runtime.Engine{runtime.Interp(), runtime.Simulated()} {
			for _, program := range []string{"R(i,j) = cumprod_j A(i,j)", "R(i,j) = cumprod_{i,j} A(i,j)", "R(i,j) = cumprod_j[reverse] A(i,j)"} {
				s := NewSession(WithEngine(engine), WithThreads(3))
				s.env.Grain = 60
				got, err := s.Eval(t.Context(), program, Args{"A": a})
				if err != nil {
					t.Fatal(err)
				}
				_, v, err := got.ToCoords()
				if err != nil {
					t.Fatal(err)
				}
				for k := range v.Len() {
					if x := tensor.View[float32](v)[k]; x != 0 && x != 30 {
						t.Errorf("%s of %s on %s: element %d of the stored ones is %v", program, format, engine.Name(), k, x)
						break
					}
				}
			}
		}
	}
}
