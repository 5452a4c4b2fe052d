package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests results whose left sides move or repeat an index.

// TestShiftedLeftSides computes sums of matrices of one pattern and products in any order whose left sides move or repeat what the workspace of a
// row has: elements are where they are in a dense result.
func TestShiftedLeftSides(t *testing.T) {
	const n = 300
	var coords [2][]int64
	var vals []float64
	for i := range int64(n) {
		for _, j := range []int64{i % 7, 7 + i%5, 12 + i%3} {
			coords[0], coords[1], vals = append(coords[0], i), append(coords[1], j), append(vals, float64(i%11+j))
		}
	}
	a, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords[:], tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(err)
	}
	terms, many := []string{}, Args{}
	for k := range 6 {
		name := fmt.Sprint("M", k)
		many[name] = a
		terms = append(terms, name+"(i,j)")
	}
	two := Args{"A": a, "B": a}
	sum, product := strings.Join(terms, " + "), "A(i,k)*B(k,j)"
	unsorted, cube := anyOrder(t, tensor.CSR), anyOrder(t, tensor.CSF(3))
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	for _, c := range []struct {
		text   string
		format tensor.Format
		args   Args
		shape  []int64
	}{
		{"C(i,j+1) = " + sum, tensor.CSR, many, []int64{n, n + 1}},
		{"C(i+1,j) = " + sum, tensor.CSR, many, []int64{n + 1, n}},
		{"C(2*i,j) = " + sum, tensor.CSR, many, []int64{2 * n, n}},
		{"C(i,2*j) = " + sum, tensor.CSR, many, []int64{n, 2 * n}},
		{"C(i,j+1) = " + product, unsorted, two, []int64{n, n + 1}},
		{"C(i+1,2*j) = " + product, unsorted, two, []int64{n + 1, 2 * n}},
		{"C(i,j,j) = " + product, cube, two, []int64{n, n, n}},
	} {
		for _, engine := range engines {
			s := NewSession(WithEngine(engine))
			got, err := s.Eval(context.Background(), c.text, c.args, Result("C", c.format), Shape("C", c.shape...))
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			want, err := s.Eval(context.Background(), c.text, c.args, Result("C", tensor.Dense(len(c.shape))), Shape("C", c.shape...))
			if err != nil {
				t.Fatal(err)
			}
			sorted, err := got.Canonical()
			if err != nil || sorted.NNZ() != got.NNZ() {
				t.Fatalf("%s: %d entries, sorted %d: %v", c.text, got.NNZ(), sorted.NNZ(), err)
			}
			dense, err := sorted.Convert(tensor.Dense(len(c.shape)))
			if err != nil {
				t.Fatal(err)
			}
			if !tensor.Equal(dense, want) {
				t.Errorf("%s as %s, engine %s: not what a dense result has", c.text, c.format, engine.Name())
			}
		}
	}
}
