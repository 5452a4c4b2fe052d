package results_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestMasksKeepTheirShape: what where(stored(A(i,j)), e, 0) gives is stored at all of A's coordinates, also
// where e is sparse, and where the result's format has A converted.
func TestMasksKeepTheirShape(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	d, err := tensor.FromCoords([]int64{5}, mustParse(t, "S", 1), [][]int64{{1, 3}}, tensor.ArrayOf([]float64{2, 5}))
	if err != nil {
		t.Fatal(err)
	}
	formats := []string{"CSR", "CSC", "DCSR", "DCSC", "COO", "COOC", "CSR(unsorted)"}
	for _, from := range formats {
		A, err := tensor.FromCoords([]int64{5, 5}, mustParse(t, from, 2), [][]int64{{3, 0, 1, 3, 0}, {3, 1, 0, 0, 4}}, tensor.ArrayOf([]float64{1, 2, 3, 4, 0}))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range formats[:6] {
			for _, program := range []string{"C(i,j) = where(stored(A(i,j)), 0.1*d(j), 0)", "C(i,j) = where(stored(A(i,j)), d(j)*d(i), 0)"} {
				C, err := s.Eval(context.Background(), program, lacuna.Args{"A": A, "d": d}, lacuna.Result("C", mustParse(t, to, 2)))
				if err != nil {
					t.Fatalf("%s, %s to %s: %v", program, from, to, err)
				}
				if C.NNZ() != 5 {
					t.Errorf("%s, %s to %s stores %d elements, want 5", program, from, to, C.NNZ())
				}
			}
		}
	}
}
