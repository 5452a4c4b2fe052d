package exec

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file has programs that once gave a wrong answer.

// TestRegressions holds programs that once gave a wrong answer.
func TestRegressions(t *testing.T) {
	ctx := context.Background()
	sparse := func(n int64, fill float64, coords []int64, vals ...float64) *tensor.Tensor {
		v, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{coords}, tensor.ArrayOf(vals), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x := sparse(5, 0, []int64{0, 1, 3, 4}, 1, 2, 4, 5)
	dense := vector(t, 1, 2, 3, 4, 5)
	A := matrix(t, tensor.CSR, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{0, 3, 2}, [3]float64{2, 0, -3})
	T, err := tensor.FromCoords([]int64{4, 3, 2}, tensor.CSF(3), [][]int64{{1, 2}, {0, 1}, {0, 1}}, tensor.ArrayOf([]float64{2, 9}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		args       Args
		opts       []Option
		want       []float64
	}{
		{"a slice that ends early walks only its part", "y(:) = x(0:2)", Args{"x": x}, nil, []float64{1, 2}},
		{"the same in a matrix", "y(:,:) = A(0:2,0:2)", Args{"A": A}, nil, []float64{0, 1, 0, 0}},
		{"a slice on the left leaves the rest at the fill", "y(0:2) = x(0:2)", Args{"x": dense},
			[]Option{Shape("y", 5), Fill("y", tensor.Float(tensor.Float64, 7))}, []float64{1, 2, 7, 7, 7}},
		{"a maximum into one row leaves the others alone", "R(1,j) = max_i A(i,j)", Args{"A": A},
			[]Option{Shape("R", 2, 4)}, []float64{0, 0, 0, 0, 0, 1, 0, 2}},
		{"nested reductions over nothing stored are not absent", "R(i) = y(i) * sum_j max_k (T(i,j,k)*b(i) + y(i))",
			Args{"T": T, "b": sparse(4, 0, []int64{2}, 2), "y": sparse(4, 0, []int64{1, 2}, 3, 5)},
			[]Option{Result("R", tensor.CSF(1))}, []float64{0, 27, 5 * (5 + 23 + 5), 0}},
		{"a stored element at a constant coordinate is there in rows that store nothing", "R(i) = b(i) * max_j (A(i,j) + x(3))",
			Args{"A": A, "b": sparse(3, 0, []int64{0, 1}, 1, 2), "x": x}, []Option{Result("R", tensor.CSF(1))}, []float64{6, 8, 0}},
		{"the same where the reduction stands alone", "R(i) = b(i) * max_j (z(j) + x(3))",
			Args{"z": sparse(4, 0, []int64{}), "b": sparse(3, 0, []int64{0, 1}, 1, 2), "x": x}, []Option{Result("R", tensor.CSF(1))}, []float64{4, 8, 0}},
		{"fills of both signs cancel", "C(i) = a(i) + b(i)",
			Args{"a": sparse(3, 1, []int64{0}, 1), "b": sparse(3, -1, []int64{1}, 4)}, nil, []float64{0, 5, 0}},
	} {
		for _, s := range both(t) {
			got, err := s.Eval(ctx, test.text, test.args, test.opts...)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			if have := floats(t, got); !equal(have, test.want) {
				t.Errorf("%s: %s on %s gives %v, want %v", test.name, test.text, s.Engine().Name(), have, test.want)
			}
		}
	}
}

// TestInfiniteFills adds operands whose fills are infinite.
func TestInfiniteFills(t *testing.T) {
	fill := func(sign float64, coord int64, v float64) *tensor.Tensor {
		f, err := tensor.ParseScalar(map[bool]string{true: "inf", false: "-inf"}[sign > 0], tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		x, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{coord}}, tensor.ArrayOf([]float64{v}), tensor.WithFill(f))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, s := range both(t) {
		got, err := s.Eval(context.Background(), "C(i) = a(i) + b(i)", Args{"a": fill(1, 0, 2), "b": fill(-1, 1, 3)}, Result("C", tensor.CSF(1)))
		if err != nil {
			t.Fatal(err)
		}
		v := floats(t, got)
		if v[0] > -1e300 || v[1] < 1e300 || v[2] == v[2] {
			t.Errorf("inf + -inf: got %v, want [-inf inf nan]", v)
		}
	}
}

// TestConstantRow writes one row of a sparse matrix in parallel chunks.
func TestConstantRow(t *testing.T) {
	const n = 200_000
	vals := make([]float64, n)
	for i := range vals {
		vals[i] = float64(i%7 + 1)
	}
	x := vector(t, vals...)
	for _, s := range both(t) {
		for _, f := range []tensor.Format{tensor.CSR, tensor.DCSR, tensor.COO} {
			got, err := s.Eval(context.Background(), "R(1,i) = x(i)", Args{"x": x}, Shape("R", 3, n), Result("R", f))
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []int64{0, 1, 3392, 40_000, n - 1} {
				if a, b := got.At(1, i).Float64(), got.At(0, i).Float64(); a != vals[i] || b != 0 {
					t.Errorf("%s: column %d holds %v and %v, want %v and 0", f, i, a, b, vals[i])
				}
			}
		}
	}
}

// TestSameInEveryFormat runs programs whose answer once depended on the format.
func TestSameInEveryFormat(t *testing.T) {
	for _, f := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO} {
		A := matrix(t, f, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{0, 3, 2}, [3]float64{2, 0, -3})
		for text, want := range map[string][]float64{
			"y(i) = mean_{j in A} A(i,j)":   {1.5, math.NaN(), -3},
			"y(i) = var_j A(i,j)":           {0.6875, 0, 1.6875},
			"y(i) = argmax_{j in A} A(i,j)": {3, -1, 0},
		} {
			for _, s := range both(t) {
				got, err := s.Eval(context.Background(), text, Args{"A": A}, Result("y", tensor.Dense(1)))
				if err != nil {
					t.Fatal(err)
				}
				if have := floats(t, got); !equal(have, want) {
					t.Errorf("%s with %s gives %v, want %v", text, f, have, want)
				}
			}
		}
	}
}

// TestContradictions declares what cannot be.
func TestContradictions(t *testing.T) {
	A := matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{0, 0, 1})
	s := NewSession(WithEngine(runtime.Interp()))
	for _, opt := range []Option{Format("A", tensor.COO, tensor.Float64), Result("A", tensor.DCSR), ResultType("A", tensor.Float32)} {
		if _, err := s.Eval(context.Background(), "A(i,j) += 2*A(i,j)", Args{"A": A}, opt); err == nil || !strings.Contains(err.Error(), "operand of that name") {
			t.Errorf("got %v", err)
		}
	}
	huge, err := tensor.FromCoords([]int64{1 << 40, 1 << 40}, tensor.COO, [][]int64{{5}, {7}}, tensor.ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Eval(context.Background(), "k = argmax_{i,j} A(i,j)", Args{"A": huge}); err == nil || !strings.Contains(err.Error(), "63 bits") {
		t.Errorf("positions over 2^63: got %v", err)
	}
}

// TestGapOfSettledValue folds a gap whose value a reduction outside the loop gave.
func TestGapOfSettledValue(t *testing.T) {
	ones := matrix(t, tensor.DCSC, [2]int64{2, 3}, [3]float64{0, 0, 2}, [3]float64{1, 2, 5})
	empty, err := tensor.FromCoords([]int64{4}, tensor.CSF(1), [][]int64{{}}, tensor.ArrayOf([]float64{}), tensor.WithFill(tensor.One(tensor.Float64)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range both(t) {
		got, err := s.Eval(context.Background(), "R(i) = max_n (b(n) * (max_k A(k,i)))", Args{"A": ones, "b": empty}, Result("R", tensor.CSF(1)))
		if err != nil {
			t.Fatal(err)
		}
		if have := floats(t, got); !equal(have, []float64{2, 0, 5}) {
			t.Errorf("got %v, want [2 0 5]", have)
		}
	}
}

// TestEntryCountsDoNotWrap broadcasts along an extent near 2^62: more entries
// than an int64 counts, which must be refused and not wrap to a small number.
func TestEntryCountsDoNotWrap(t *testing.T) {
	x, err := tensor.FromCoords([]int64{10}, tensor.CSF(1), [][]int64{{0, 3, 5, 7}}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range both(t) {
		_, err := s.Eval(context.Background(), "y(i,j) = x(i)", Args{"x": x}, Shape("y", -1, 1<<62), Result("y", tensor.COO))
		if err == nil || !strings.Contains(err.Error(), "the result has at least 9223372036854775807 entries") {
			t.Errorf("engine %s: %v", s.Engine().Name(), err)
		}
	}
}

// A variance does not have the square of its mean's rounding error in it.
func TestVarianceOfLargeValues(t *testing.T) {
	same := make([]float32, 3000)
	large := make([]float64, 3000)
	for i := range same {
		same[i] = 1e8
		large[i] = 1e15 + float64(i%3)
	}
	for _, s := range both(t) {
		for _, c := range []struct {
			values tensor.Array
			want   float64
		}{{tensor.ArrayOf(same), 0}, {tensor.ArrayOf(large), 2.0 / 3}} {
			x, err := tensor.FromDense([]int64{3000}, tensor.Dense(1), c.values)
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Eval(context.Background(), "v = var_i x(i)", Args{"x": x}, Format("v", tensor.Dense(0), tensor.Float64))
			if err != nil {
				t.Fatal(err)
			}
			if got := floats(t, v)[0]; math.Abs(got-c.want) > 1e-12 {
				t.Errorf("the variance is %v, want %v", got, c.want)
			}
		}
	}
}
