package plan

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestNaturalFormat: the format of results that have no declaration.
func TestNaturalFormat(t *testing.T) {
	for _, test := range []struct{ text, operands, want string }{
		{"y = sum_i x(i)", "x:S", "D"},
		{"y(i) = 2*x(i)", "x:S", "S"},
		{"y(i) = x(i) + 1", "x:S", "S"}, // with fill 1
		{"y(i) = x(i) + d(i)", "x:S d:D", "D"},
		{"y(i) = x(i) * d(i)", "x:S d:D", "S"},
		{"y(i) = x(i) + i", "x:S", "D"},
		{"C(i,j) = A(i,j) + B(i,j)", "A:CSR B:CSR", "CSR"},
		{"C(i,j) = A(i,j) + B(i,j)", "A:CSR B:DCSR", "CSR"},
		{"C(i,j) = A(i,j) * B(i,j)", "A:CSR B:DCSR", "DCSR"},
		{"C(i,j) = A(i,j) + B(i,j)", "A:COO B:COO", "COO"},
		{"C(i,j) = A(i,j) + B(i,j)", "A:CSC B:CSC", "CSC"},
		{"C(i,j) = A(j,i)", "A:CSR", "CSC"},
		{"C(i,j) = A(i,j) * x(i) * y(j)", "A:CSR x:D y:D", "CSR"},
		{"C(i,j) = A(i,j) + x(i)", "A:CSR x:D", "D"},
		{"C(i,i) = x(i)", "x:S", "D"}, // a diagonal is not bound level by level
		{"y(i) = sum_j A(i,j)", "A:CSR", "D"},
		{"y(i) = sum_j A(i,j)", "A:DCSR", "S"},
		{"T(i,j,k) = A(i,j) * x(k)", "A:CSR x:S", "C-DC-S"},
	} {
		nf := mustNormalForm(t, test.text, test.operands)
		background := testAlgebra.Of(nf.value, ir.GlobalLeaves(testAlgebra)).Background
		got := nf.naturalFormat(testAlgebra, background)
		want, err := tensor.ParseFormat(test.want, nf.lhs.Tensor.Rank)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s with %s is %s, want %s", test.text, test.operands, got, want)
		}
	}
}
