package exec

import (
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests reductions over what is stored in a tensor of which nothing else is read.

// TestInByPattern runs over what a tensor stores where only its pattern is read.
func TestInByPattern(t *testing.T) {
	sessions := lineSessions(t)
	A, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{{0, 0, 2, 2, 2}, {1, 3, 0, 1, 3}}, tensor.ArrayOf([]float64{5, 0, 7, -2, 4}))
	if err != nil {
		t.Fatal(err)
	}
	x := vector(t, 1, -2, 3, -4)
	for _, test := range []struct {
		text string
		want []float64
	}{
		{"y(i) = sum_{j in A} where(stored(A(i,j)), x(j), 0)", []float64{-6, 0, -5}},
		{"y(i) = count_{j in A} stored(A(i,j))", []float64{2, 0, 3}},
		{"y = max_{i in A, j in A} where(stored(A(i,j)), x(j)-4, 0)", []float64{-3}},
		{"y(i,j) = cumsum_{j in A} where(stored(A(i,j)), x(j), 0)", []float64{0, -2, 0, -6, 0, 0, 0, 0, 1, -1, 0, -5}},
		{"y(i,j) = cumsum_{i in A}[reverse] where(stored(A(i,j)), x(j), 0)", []float64{0, -4, 0, -8, 0, 0, 0, 0, 1, -2, 0, -4}},
		{"y(i) = median_{j in A} where(stored(A(i,j)), x(j), 0) + where(stored(A(i,0)), 100, 0)", nil},
	} {
		for _, f := range matrixFormats()[1:] {
			stored, err := A.Convert(f)
			if err != nil {
				t.Fatal(err)
			}
			args := Args{"A": stored, "x": x}
			if !slices.Contains([]byte(test.text), 'x') {
				delete(args, "x")
			}
			got := numbers(t, evalAll(t, sessions, test.text, args))
			if test.want == nil {
				if got[0] != -3 || got[1] == got[1] || got[2] != 98 {
					t.Errorf("%s, A: %s: got %v", test.text, f, got)
				}
				continue
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, A: %s: got %v, want %v", test.text, f, got, test.want)
			}
		}
	}
}
