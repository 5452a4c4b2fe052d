package exec

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests reductions over what is stored.

// TestStoredReductions runs reductions over stored coordinates whose loops the
// stored tensor does not decide alone.
func TestStoredReductions(t *testing.T) {
	parse := func(s string, rank int) tensor.Format {
		f, err := tensor.ParseFormat(s, rank)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	A := matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{0, 0, 1}, [3]float64{1, 0, 2}, [3]float64{1, 2, 3})
	B := matrix(t, tensor.CSR, [2]int64{3, 3}, [3]float64{0, 0, 1}, [3]float64{1, 1, 5}, [3]float64{1, 2, 6}, [3]float64{2, 0, 7})
	x := vector(t, 1, 10)
	// Two blocks of one value each, stored although it is the fill.
	blocks, err := tensor.FromCoords([]int64{2, 1, 2}, parse("C-S-D", 3), [][]int64{{0, 0, 1, 1}, {0, 0, 0, 0}, {0, 1, 0, 1}},
		tensor.ArrayOf([]float64{0, 0, 0, 4}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		args       Args
		rank       int
		want       []float64
	}{
		{"the other operand varies along a loop outside", "R(i,j) = sum_{k in A} (A(i,k)*B(k,j))",
			Args{"A": A, "B": B}, 2, []float64{1, 0, 0, 23, 0, 0}},
		{"and its gaps are no gaps of the reduction", "R(i,j) = max_{k in A} (A(i,k) - B(k,j))",
			Args{"A": A, "B": B}, 2, []float64{0, 1, 1, 1, 3, 3}},
		{"an index that the stored tensor does not have", "R(i) = sum_{k in A, m} (A(i,k)*x(m))",
			Args{"A": A, "x": x}, 1, []float64{11, 55}},
		{"variance over such indices", "R(i) = var_{k in A, m} (A(i,k)*x(m))",
			Args{"A": A, "x": x}, 1, []float64{20.25, (4+9+400+900.0)/4 - 13.75*13.75}},
		{"a copy in another order stores the same", "R(i,j) = sum_{k in T} (T(k,i,j) + x(k))",
			Args{"T": blocks, "x": x}, 2, []float64{11, 15}},
	} {
		for _, s := range both(t) {
			for _, f := range []tensor.Format{tensor.Dense(test.rank), tensor.CSF(test.rank), tensor.Coordinates(test.rank)} {
				got, err := s.Eval(context.Background(), test.text, test.args, Result("R", f))
				if err != nil {
					t.Errorf("%s: %v", test.name, err)
					continue
				}
				if have := floats(t, got); !equal(have, test.want) {
					t.Errorf("%s: %s in %s on %s gives %v, want %v", test.name, test.text, f, s.Engine().Name(), have, test.want)
				}
			}
		}
	}
}
