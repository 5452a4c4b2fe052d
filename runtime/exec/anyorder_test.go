package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests results that need not be sorted (lower/workspace/result.go).

// anyOrder is a format whose last level may be unsorted.
func anyOrder(t *testing.T, f tensor.Format) tensor.Format {
	t.Helper()
	f, err := f.Flag(f.Rank()-1, tensor.Unsorted)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestResultsInAnyOrder computes results whose rows need not be sorted. The entries of a product come as their columns first
// arise, in whatever way they get their places; what has no reason to be out of order is sorted.
func TestResultsInAnyOrder(t *testing.T) {
	matrix := func(text ...float64) *tensor.Tensor {
		m, err := tensor.FromDense([]int64{3, 3}, tensor.CSR, tensor.ArrayOf(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	args := Args{"A": matrix(1, 2, 0, 0, 0, 0, 3, 0, 1), "B": matrix(0, 0, 1, 1, 0, 5, 0, 7, 0)}
	const product = "C(i,k) = sum_j A(i,j) * B(j,k)"
	for _, c := range []struct {
		text, crd, vals string
	}{
		{product, "2 0 2 1", "11 2 3 7"},
		{product + " with assemble(counted)", "2 0 2 1", "11 2 3 7"},
		{product + " with assemble(appended)", "2 0 2 1", "11 2 3 7"},
		{product + " with assemble(joined)", "2 0 2 1", "11 2 3 7"},
		{product + " with workspace(k: hash)", "2 0 2 1", "11 2 3 7"},
		{product + " with workspace(k: sort)", "0 2 1 2", "2 11 7 3"},
		{"C(i,k) = 0.5 * sum_j A(i,j) * B(j,k)", "0 2 1 2", "1 5.5 3.5 1.5"},
		{product + "\ny(k) = C(0,k) + B(1,k)", "0 2 1 2", "2 11 7 3"},
		{"C(i,k) = A(i,k) + B(i,k)", "0 1 2 0 2 0 1 2", "1 2 1 1 5 3 7 1"},
		{"C(i,k) = cummax_k (A(i,k) - B(i,k))", "0 1 2 0 1 2 0 1 2", "1 2 2 -1 0 0 3 3 3"},
		{"C(i,k) = A(i,k); t = sum_j B(0,j)", "0 1 0 2", "1 2 3 1"},
	} {
		for _, engine := range engines {
			for _, threads := range []int{1, 3} {
				out, err := NewSession(WithEngine(engine), WithThreads(threads)).EvalAll(context.Background(), c.text, args, Result("C", anyOrder(t, tensor.CSR)))
				if err != nil {
					t.Errorf("%s: %v", c.text, err)
					continue
				}
				got := out["C"]
				crd, _ := got.Indices(1)
				if have := listed(crd) + "; " + listed(got.Values()); have != c.crd+"; "+c.vals || got.Format() != anyOrder(t, tensor.CSR) {
					t.Errorf("%s by %d threads, engine %s: %v stores %s, want %s; %s", c.text, threads, engine.Name(), got, have, c.crd, c.vals)
				}
			}
		}
	}
}

func listed(a tensor.Array) string {
	var list []string
	for i := range a.Len() {
		list = append(list, a.Scalar(i).String())
	}
	return strings.Join(list, " ")
}

// TestAnyOrderIsTheSameProduct multiplies random matrices, of many types, into rows in any order by one thread and several: arrays are the same, and
// what they hold is what sorted rows do, to the bit. Then the result is an operand.
func TestAnyOrderIsTheSameProduct(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Int8, tensor.Bool, tensor.Complex128} {
		args := Args{}
		for _, name := range []string{"A", "B"} {
			var rows, cols []int64
			for range 3000 {
				rows, cols = append(rows, r.Int64N(500)), append(cols, r.Int64N(500)*r.Int64N(500)/500)
			}
			vals := make([]float64, len(rows))
			for i := range vals {
				vals[i] = r.NormFloat64()
			}
			array, err := tensor.ArrayOf(vals).Convert(dt)
			if err != nil {
				t.Fatal(err)
			}
			if args[name], err = tensor.FromCoords([]int64{500, 500}, tensor.CSR, [][]int64{rows, cols}, array); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR} {
			name := fmt.Sprintf("%v %v", dt, f)
			const src = "C(i,j) = sum_k A(i,k) * B(k,j)"
			var first *tensor.Tensor
			for _, threads := range []int{1, 2, 5} {
				s := NewSession(WithEngine(runtime.Interp()), WithThreads(threads))
				got, err := s.Eval(ctx, src, args, Result("C", anyOrder(t, f)))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if first == nil {
					first = got
				}
				if d := tensor.Diff(got, first); d != "" {
					t.Errorf("%s by %d threads: %s", name, threads, d)
				}
			}
			s := NewSession(WithEngine(runtime.Interp()))
			sorted, err := s.Eval(ctx, src, args, Result("C", f))
			if err != nil {
				t.Fatal(err)
			}
			canonical, err := first.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(canonical, sorted); d != "" {
				t.Errorf("%s: not the sorted product: %s", name, d)
			}
			x, err := s.Eval(ctx, "y(i) = sum_j C(i,j)", Args{"C": first})
			if err != nil {
				t.Fatal(err)
			}
			y, err := s.Eval(ctx, "y(i) = sum_j C(i,j)", Args{"C": sorted})
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(x, y); d != "" {
				t.Errorf("%s: as an operand: %s", name, d)
			}
		}
	}
	repeating, err := tensor.CSR.Flag(1, tensor.Duplicates)
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewSession().Eval(ctx, "C(i,j) = A(i,j)", Args{"A": tensor.ScalarTensor(tensor.Float(tensor.Float64, 1))}, Result("C", repeating))
	if err == nil || !strings.Contains(err.Error(), "one entry per coordinate") {
		t.Errorf("a result that may repeat coordinates: %v", err)
	}
	if _, err := PlanAhead(ctx, "C(i,j) = A(i,j)", false, Format("A", tensor.CSR, tensor.Float64), Result("C", anyOrder(t, tensor.CSR))); err == nil || !strings.Contains(err.Error(), "only sessions") {
		t.Errorf("a result in any order ahead of time: %v", err)
	}
}
