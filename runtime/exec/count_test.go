package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests counts that would wrap around (lower/gap.go).

// Counts over more coordinates than an i64 holds are refused where gaps count,
// and only there.
func TestCountsDoNotWrap(t *testing.T) {
	const huge = 1 << 40
	sparse := func(fill float64, shape ...int64) *tensor.Tensor {
		coords := make([][]int64, len(shape))
		for i := range coords {
			coords[i] = []int64{2}
		}
		v, err := tensor.FromCoords(shape, tensor.CSF(len(shape)), coords, tensor.ArrayOf([]float64{2}), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	dense := vector(t, -1, 2, -3)
	for _, test := range []struct {
		text string
		args Args
		want float64 // -1: refused
	}{
		{"y = count_{i,j} A(i,j)", Args{"A": sparse(0, huge, huge)}, 1},
		{"y = count_{i,j} A(i,j)", Args{"A": sparse(1, huge, huge)}, -1},
		{"y = count_{i,j} (A(i,j) > 1.5)", Args{"A": sparse(1, huge, huge)}, 1},
		{"y = count_{i,j} (A(i,j) < 1)", Args{"A": sparse(0, huge, huge)}, -1},
		{"y = count_{i,j} A(i,j)", Args{"A": sparse(1, 1<<31, 1<<31)}, 1 << 62},
		{"y = count_{i,j} A(i,j)", Args{"A": sparse(1, 1<<32, 1<<31)}, -1},
		{"y = count_{i,j} (A(i,j) * x(i))", Args{"A": sparse(0, 3, 1<<62), "x": dense}, 1},
		{"y = count_{i,j} (A(i,j) > x(i))", Args{"A": sparse(0, 3, 1<<62), "x": dense}, -1},
		{"y = count_{i,j} (x(i) > z(j))", Args{"x": sparse(0, huge), "z": sparse(0, huge)}, -1},
		{"y = sum_i count_j (A(i,j) < 1)", Args{"A": sparse(0, huge, 5)}, 5*huge - 1},
		{"y = 2 * count_{i,j} (A(i,j) < 1)", Args{"A": sparse(0, huge, huge)}, -1},
		{"y = sum_{i,j} where(A(i,j) < 1, 1, 0)", Args{"A": sparse(0, huge, huge)}, -1},
		{"y = sum_{i,j} where(stored(A(i,j)), 0, 1)", Args{"A": sparse(0, huge, huge)}, -1},
		{"y = sum_{i,j} where(stored(A(i,j)), 1, 0)", Args{"A": sparse(0, huge, huge)}, 1},
		{"y = sum_{i,j} where(A(i,j) < 1, 1.0, 0.0)", Args{"A": sparse(0, huge, huge)}, huge * huge},
	} {
		for _, s := range both(t) {
			got, err := s.Eval(context.Background(), test.text, test.args)
			var e *lang.Error
			switch refused := errors.As(err, &e) && e.Code == lang.ErrOutOfRange; {
			case test.want == -1 && !refused:
				t.Errorf("%s on %s: error %v, want a refusal", test.text, s.Engine().Name(), err)
			case test.want == -1:
			case err != nil:
				t.Errorf("%s on %s: %v", test.text, s.Engine().Name(), err)
			case got.Values().Scalar(0).Float64() != test.want:
				t.Errorf("%s on %s gives %v, want %v", test.text, s.Engine().Name(), got.Values().Scalar(0), test.want)
			}
		}
	}
}
