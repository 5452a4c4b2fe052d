package logic

import (
	"strings"
	"testing"
)

// On grids a sparse vector is spread wherever it would be looked up, however few entries it has and in whatever order the matrix is stored.
func TestSparseVectorsOnGrids(t *testing.T) {
	for _, matrix := range []operand{csr, csc} {
		for _, share := range []float64{0.0005, 0.25} {
			operands := map[string]operand{"A": matrix, "x": uniform(sparseVec, share, n)}
			_, r := optimise(t, "y(i) = A(i,j)*x(j)", operands, func(o *Options) { o.Grids = true })
			if r == nil || r.Program == nil || !strings.HasPrefix(r.Program.String(), "t1(j) = x(j)") {
				t.Errorf("%v of %v, x of %v: %+v, want x to be spread", "y(i) = A(i,j)*x(j)", matrix.format, share, r)
			}
		}
	}
}
