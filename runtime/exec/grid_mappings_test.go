package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests mappings to grids that depend on sizes (lower/gpu), by whole programs.

// TestGridMappings compares mappings that depend on sizes, which small random programs do
// not reach, with the interpreter: rows of all lengths, and lines of all widths.
func TestGridMappings(t *testing.T) {
	testengine.Interpreted(t)
	ctx := t.Context()
	r := rand.New(rand.NewPCG(5, 5))
	on, plain := NewSession(WithEngine(testengine.Or(t, runtime.Simulated()))), NewSession(WithEngine(runtime.Interp()))
	same := func(name, text string, args Args, options ...Option) {
		t.Helper()
		want, err := plain.Eval(ctx, text, args, options...)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := on.Eval(ctx, text, args, options...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x, y := tensor.View[float64](got.Values()), tensor.View[float64](want.Values())
		if len(x) != len(y) {
			t.Fatalf("%s: %d values, want %d", name, len(x), len(y))
		}
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-12*math.Abs(y[i]) && x[i] != y[i] {
				t.Fatalf("%s: value %d is %v, want %v", name, i, x[i], y[i])
			}
		}
	}
	const columns = 11000
	for _, lengths := range [][]int{
		{}, {0}, {1}, {0, 0, 3}, {2048}, {2047, 1, 1}, {2049, 0, 2}, {0, 5000, 1, 0}, {10000}, {100, 3, 300, 0, 0, 1700, 2100, 1, 1, 1, 4000, 0},
		randomLengths(r, 3000, 4), randomLengths(r, 700, 40), randomLengths(r, 9, 3000),
		// Few entries in all, some of them in rows too long for lanes.
		randomLengths(r, 300, 3), {0, 700, 1, 0, 0, 299, 2}, randomLengths(r, 40, 40), {257}, {256},
	} {
		a := rowsOf(t, r, lengths, columns)
		x := randomDense(t, r, columns)
		name := fmt.Sprint(len(lengths), " rows")
		same(name, "y(i) = A(i,j)*x(j)", Args{"A": a, "x": x})
		same(name+", max", "y(i) = max_j (A(i,j)*x(j))", Args{"A": a, "x": x})
		same(name+", shifted", "y(i) = A(i,j)*x(j) + z(i)", Args{"A": a, "x": x, "z": randomDense(t, r, int64(len(lengths)))})
	}
	// Rows that are cut into as many pieces as there is room for: one entry longer than a piece.
	barely := slices.Repeat([]int{3, 5}, 20)
	for w, width := range []int64{0, 1, 31, 32, 33, 36, 64, 66, 100, 128, 132, 260} {
		for k, lengths := range [][]int{{3, 0, 9, 8, 7, 1, 600, 17, 0}, barely} {
			if testengine.Thin(2, w, k) {
				continue
			}
			name := fmt.Sprintf("width %d, %d rows", width, len(lengths))
			a, b := rowsOf(t, r, lengths, 700), randomDense(t, r, 700, width)
			same(name, "C(i,k) = A(i,j)*B(j,k)", Args{"A": a, "B": b})
			same(name+", max", "C(i,k) = max_j A(i,j)*B(j,k)", Args{"A": a, "B": b})
			same(name+", sampled", "D(i,j) = A(i,j)*sum_k E(i,k)*B(j,k)", Args{"A": a, "B": b, "E": randomDense(t, r, int64(len(lengths)), width)}, Format("D", tensor.CSR, tensor.Float64))
		}
	}
}

// TestPatternsOnGrids compares what is stored where folds are folded, which must not depend on
// which loops are best for an engine.
func TestPatternsOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	s, p := NewSession(WithEngine(testengine.Or(t, runtime.Simulated()))), NewSession(WithEngine(runtime.Interp()))
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 40; n += 7 {
		lengths := func() []int { return randomLengths(r, n, min(n, 3)) }
		args := Args{"A": rowsOf(t, r, lengths(), n), "B": rowsOf(t, r, lengths(), n), "G": rowsOf(t, r, lengths(), n)}
		for k, text := range []string{
			"C(i,l) = sum_k G(k,l)*sum_j A(i,j)*B(j,k)", "C(i,l) = sum_k sum_j G(k,l)*A(i,j)*B(j,k)", "C(i,l) = max_k G(k,l)*sum_j A(i,j)*B(j,k)",
			"C(i,l) = sum_k (G(k,l)+A(k,l))*sum_j A(i,j)*B(j,k)", "C(i,l) = A(i,l)*sum_k G(k,l)*sum_j A(i,j)*B(j,k)",
		} {
			for i, f := range []string{"CSC", "COOC", "DCSC", "CSR", "COO"} {
				if testengine.Thin(5, n/7, k, i) {
					continue
				}
				ft, _ := tensor.ParseFormat(f, 2)
				x, err := s.Eval(t.Context(), text, args, Format("C", ft, tensor.Float64))
				if err != nil {
					t.Fatal(err)
				}
				y, err := p.Eval(t.Context(), text, args, Format("C", ft, tensor.Float64))
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(x, y); err != nil {
					t.Errorf("%s of %s, %d rows: %v", text, f, n, err)
				}
			}
		}
	}
}

func randomLengths(r *rand.Rand, n, most int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = r.IntN(most + 1)
	}
	return list
}

// rowsOf makes a matrix with rows of such lengths.
func rowsOf(t *testing.T, r *rand.Rand, lengths []int, columns int) *tensor.Tensor {
	t.Helper()
	pos, crd := []int64{0}, []int64{}
	var vals []float64
	for _, n := range lengths {
		for k := range n {
			from, to := k*columns/n, (k+1)*columns/n
			crd, vals = append(crd, int64(from+r.IntN(to-from))), append(vals, r.Float64()-0.2)
		}
		pos = append(pos, int64(len(crd)))
	}
	a, err := tensor.New([]int64{int64(len(lengths)), int64(columns)}, tensor.CSR,
		[]tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}, tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func randomDense(t *testing.T, r *rand.Rand, shape ...int64) *tensor.Tensor {
	t.Helper()
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = r.Float64()
	}
	x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Folds in loops in loops, which a team shares as one: of few and of many axes, with axes of
// one element and of none.
func TestNestedFoldsOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	grids, plain := NewSession(WithEngine(testengine.Or(t, runtime.Simulated()))), NewSession(WithEngine(runtime.Interp()))
	for _, test := range []struct {
		text  string
		shape []int64
	}{
		{"y(i) = sum_j sum_k A(i,j,k)*A(i,j,k)", []int64{3, 5, 7}},
		{"y(i) = sum_j sum_k A(i,j,k)*(1+j)*k", []int64{2, 40, 3}},
		{"y(i) = sum_j sum_k A(i,j,k)*(1+j)*k", []int64{4, 3, 0}},
		{"y(i) = max_j min_k A(i,j,k)", []int64{3, 9, 33}},
		{"y = sum_i sum_j sum_k A(i,j,k)*(i+2*j+3*k)", []int64{17, 1, 9}},
		{"y = max_{a,b,c,d,e,f,g,h} (A(a,b,c,d,e,f,g,h)+1)", []int64{2, 1, 3, 2, 1, 2, 2, 3}},
		{"y(a) = logsumexp_{b,c,d,e,f,g,h} A(a,b,c,d,e,f,g,h)", []int64{2, 1, 3, 2, 1, 2, 2, 3}},
	} {
		n := int64(1)
		for _, d := range test.shape {
			n *= d
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i*7%23 - 11)
		}
		A, err := tensor.FromDense(test.shape, tensor.Dense(len(test.shape)), tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Eval(t.Context(), test.text, Args{"A": A})
		if err != nil {
			t.Fatal(test.text, err)
		}
		got, err := grids.Eval(t.Context(), test.text, Args{"A": A})
		if err != nil {
			t.Fatal(test.text, err)
		}
		agree(t, test.text, tensor.View[float64](got.Values()), tensor.View[float64](want.Values()), 1e-14)
	}
}
