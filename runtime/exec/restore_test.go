package exec

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests statements that only store an operand again (ir/plan/asconversion.go).

// TestRestore: statements that only store an operand again are one conversion, with the
// arrays of [tensor.Tensor.Convert], for every number of threads.
func TestRestore(t *testing.T) {
	testengine.Interpreted(t)
	r := rand.New(rand.NewPCG(3, 4))
	formats := map[int][]string{2: {"CSR", "CSC", "DCSR", "DCSC", "COO", "COOC"}, 3: {"CSF", "COO", "C-DC-S[1,2,0]", "DC-C-S[2,0,1]"}}
	statements := map[int][]struct {
		src  string
		perm []int
	}{
		2: {{"C(j,i) = A(i,j)", []int{1, 0}}, {"C(i,j) = A(i,j)", []int{0, 1}}},
		3: {{"C(k,i,j) = A(i,j,k)", []int{2, 0, 1}}, {"C(j,i,k) = A(i,j,k)", []int{1, 0, 2}}},
	}
	sessions := map[int]*Session{}
	for _, threads := range []int{1, 2, 3, 7} {
		sessions[threads] = NewSession(WithThreads(threads), WithEngine(runtime.Interp())) // TestConvertRandom compiles conversions
		sessions[threads].env.Grain = 20
	}
	sessions[3].env.convert.Always = true
	for rank, names := range formats {
		shape := []int64{40, 7, 30}[:rank]
		coords := make([][]int64, rank)
		values := make([]float64, 300)
		for p := range values {
			for axis := range coords {
				coords[axis] = append(coords[axis], r.Int64N(shape[axis]))
			}
			values[p] = []float64{0, 1, math.NaN(), math.Inf(-1), -2.5}[r.IntN(5)]
		}
		for _, from := range names {
			a, err := tensor.FromCoords(shape, parsed(t, from, rank), coords, tensor.ArrayOf(values), tensor.WithFill(tensor.Float(tensor.Float64, 3)))
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range names {
				for _, s := range statements[rank] {
					view, err := a.Transpose(s.perm)
					if err != nil {
						t.Fatal(err)
					}
					if view.Format() == parsed(t, to, rank) {
						continue // it is copied
					}
					want, err := view.Convert(parsed(t, to, rank))
					if err != nil {
						t.Fatal(err)
					}
					for _, threads := range []int{1, 2, 3, 7} {
						session := sessions[threads]
						k, err := session.Compile(t.Context(), s.src, Operand("A", a), Result("C", want.Format()))
						if err != nil {
							t.Fatal(err)
						}
						plan, _ := k.Explain("plan")
						if !strings.Contains(plan, "only stores it again") || strings.Contains(plan, "forall") {
							t.Errorf("%s, %s to %s: not one conversion:\n%s", s.src, from, to, plan)
						}
						got, err := k.Run(t.Context(), Args{"A": a})
						if err == nil {
							err = sameArrays(got, want)
						}
						if err != nil {
							t.Fatalf("%s, %s to %s, %d threads: %v", s.src, from, to, threads, err)
						}
						if got.Name() != "C" {
							t.Errorf("the result is called %q", got.Name())
						}
					}
				}
			}
		}
	}
}

func parsed(t *testing.T, name string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(name, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRestoreComputes lists statements that are no conversions.
func TestRestoreComputes(t *testing.T) {
	for _, c := range []struct {
		src     string
		options []Option
	}{
		{"C(j,i) = f32(A(i,j))", []Option{Format("A", tensor.CSR, tensor.Float64), Result("C", tensor.CSR)}},
		{"C(i,j) = A(i,j)", []Option{Format("A", tensor.CSR, tensor.Float64), Result("C", tensor.CSR)}},
		{"C(i,j) = A(i,j)", []Option{Format("A", tensor.Dense(2), tensor.Float64), Result("C", tensor.CSR)}},
		{"C(i,j) = A(i,i) * B(j)", []Option{Format("A", tensor.CSR, tensor.Float64), Format("B", tensor.Dense(1), tensor.Float64), Result("C", tensor.CSR)}},
		{"C(i,i) = A(i,i)", []Option{Format("A", tensor.COO, tensor.Float64), Result("C", tensor.CSR)}},
		{"C(j,i) = -A(i,j)", []Option{Format("A", tensor.CSR, tensor.Float64), Result("C", tensor.CSR)}},
	} {
		k, err := Compile(t.Context(), c.src, c.options...)
		if err != nil {
			t.Fatal(err)
		}
		if k.assignsConversion() {
			t.Errorf("%s is a conversion", c.src)
		}
	}
}

// TestRestoreOwns: results live on when the operand is released and the other way
// round, and others may be computed from them.
func TestRestoreOwns(t *testing.T) {
	a, err := tensor.FromCoords([]int64{3, 4}, tensor.COO, [][]int64{{0, 0, 2}, {1, 3, 0}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	at := func(x *tensor.Tensor) string {
		var list []string
		for i := range x.Shape()[0] {
			for j := range x.Shape()[1] {
				list = append(list, fmt.Sprint(x.At(i, j)))
			}
		}
		return strings.Join(list, " ")
	}
	const transposed = "0 0 3 1 0 0 0 0 0 2 0 0"
	k, err := Compile(t.Context(), "C(j,i) = A(i,j); y(j) = sum_i C(j,i) * 2", Operand("A", a), Result("C", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := k.RunAll(t.Context(), Args{"A": a})
		if err != nil {
			t.Fatal(err)
		}
		if got := at(out["C"]); got != transposed {
			t.Errorf("C is %s, want %s", got, transposed)
		}
		if got := fmt.Sprint(tensor.View[float64](out["y"].Values())); got != "[6 2 0 4]" {
			t.Errorf("y is %s", got)
		}
		out["C"].Release()
		if got := at(a); got != "0 1 0 2 0 0 0 0 3 0 0 0" {
			t.Errorf("the operand is %s after the result was released", got)
		}
	}
	c, err := k.RunAll(t.Context(), Args{"A": a})
	if err != nil {
		t.Fatal(err)
	}
	a.Release()
	if got := at(c["C"]); got != transposed {
		t.Errorf("C is %s after the operand was released, want %s", got, transposed)
	}
}

// TestRestorePrepared: a prepared kernel refuses other patterns here too.
func TestRestorePrepared(t *testing.T) {
	matrix := func(cols []int64) *tensor.Tensor {
		a, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{{0, 0, 2}, cols}, tensor.ArrayOf([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := matrix([]int64{1, 3, 0})
	k, err := Compile(t.Context(), "C(j,i) = A(i,j)", Operand("A", a), Result("C", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Prepare(t.Context(), Args{"A": a})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Run(t.Context(), Args{"A": a})
	if err != nil || !slices.Equal(tensor.View[float64](c.Values()), []float64{3, 1, 2}) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := p.Run(t.Context(), Args{"A": matrix([]int64{1, 3, 2})}); !errors.Is(err, runtime.ErrPattern) {
		t.Errorf("another pattern: %v, want %v", err, runtime.ErrPattern)
	}
}

// What is stored again may be the result of a step before, which no statement has a name for.
func TestRestoreStatistic(t *testing.T) {
	a, err := tensor.FromCoords([]int64{2, 3, 2}, tensor.Coordinates(3), [][]int64{{0, 0, 1}, {1, 1, 2}, {0, 1, 0}}, tensor.ArrayOf([]float64{4, 6, 8}))
	if err != nil {
		t.Fatal(err)
	}
	k, err := Compile(t.Context(), "R(j,i) = median_k A(i,j,k)", Operand("A", a), Result("R", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	if plan, _ := k.Explain("plan"); !strings.Contains(plan, "only stores it again") {
		t.Errorf("the result of a statistic is not stored by a conversion:\n%s", plan)
	}
	got, err := k.Run(t.Context(), Args{"A": a})
	if err != nil {
		t.Fatal(err)
	}
	want, err := tensor.FromCoords([]int64{3, 2}, tensor.CSR, [][]int64{{1, 2}, {0, 1}}, tensor.ArrayOf([]float64{5, 4}))
	if err != nil {
		t.Fatal(err)
	}
	if !tensor.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
