package exec

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests products whose operands are stored again by rows of which there are too many (ir/plan/lists.go).

// TestProductsOfManyRows: an operand that is stored again for its rows has no place for
// each of them where there are more than any array has.
func TestProductsOfManyRows(t *testing.T) {
	const many = int64(1e12)
	matrix := func(rows, cols int64, f string, i, j []int64) *tensor.Tensor {
		format, err := tensor.ParseFormat(f, 2)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tensor.FromCoords([]int64{rows, cols}, format, [][]int64{i, j}, tensor.ArrayOf([]float64{2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	B := matrix(many, 10, "CSC", []int64{4, 6}, []int64{0, 2})
	for _, f := range []string{"COO", "DCSR", "CSR"} {
		A := matrix(4, many, f, []int64{0, 3}, []int64{4, 6})
		C, err := Eval(t.Context(), "C(i,k) = A(i,j)*B(j,k)", Args{"A": A, "B": B}, Result("C", tensor.CSR))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if a, b := C.At(0, 0).Float64(), C.At(3, 2).Float64(); C.NNZ() != 2 || a != 4 || b != 9 {
			t.Errorf("%s: %v with %v and %v", f, C, a, b)
		}
	}
}
