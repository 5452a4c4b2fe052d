package exec

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests sorts (lower/prim/sort.go, topk.go), by whole programs.

// TestSorts checks order, ties, NaN and gaps, on lines short and long.
func TestSorts(t *testing.T) {
	sessions := lineSessions(t)
	nan := math.NaN()
	A, err := tensor.FromCoords([]int64{2, 7}, tensor.DCSR, [][]int64{{1, 1, 1, 1, 1}, {0, 2, 3, 5, 6}},
		tensor.ArrayOf([]float64{2, nan, -1, 0, 2}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		want []float64 // of row 1
	}{
		{"y(i,j) = sort_j A(i,j)", []float64{-1, 0, 0, 0, 2, 2, nan}},
		{"y(i,j) = sort_j[descending] A(i,j)", []float64{nan, 2, 2, 0, 0, 0, -1}},
		{"y(i,j) = argsort_j A(i,j)", []float64{3, 1, 4, 5, 0, 6, 2}},
		{"y(i,j) = argsort_j[descending] A(i,j)", []float64{2, 0, 6, 1, 4, 5, 3}},
	} {
		for _, f := range matrixFormats() {
			stored, err := A.Convert(f)
			if err != nil {
				t.Fatal(err)
			}
			got := numbers(t, evalAll(t, sessions, test.text, Args{"A": stored}))[7:]
			if !slices.EqualFunc(got, test.want, func(x, y float64) bool { return x == y || x != x && y != y }) {
				t.Errorf("%s, A: %s: got %v, want %v", test.text, f, got, test.want)
			}
		}
	}
	for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
		x := sparseLine(t, 3000, []int64{3000}, f, tensor.Int32, 1)
		values := numbers(t, x)
		places := make([]int, len(values))
		for i := range places {
			places[i] = i
		}
		slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
		got := numbers(t, evalAll(t, sessions, "y(i) = argsort_i x(i)", Args{"x": x}))
		for i, p := range places {
			if got[i] != float64(p) {
				t.Fatalf("stored %s: place %d is %v, want %d", f, i, got[i], p)
			}
		}
	}
}

// TestFirstOfSorts takes the first elements of lines only, which a sparse result stores.
func TestFirstOfSorts(t *testing.T) {
	sessions := lineSessions(t)
	A, err := tensor.FromCoords([]int64{3, 5}, tensor.DCSR, [][]int64{{0, 0, 2, 2, 2, 2}, {1, 3, 0, 1, 2, 4}},
		tensor.ArrayOf([]float64{-1, 3, 0, 2, math.NaN(), 2}))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, test := range []struct {
		text string
		want []float64
	}{
		{"y(i,j) = sort_j[first=2] A(i,j)", []float64{-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"y(i,j) = sort_j[descending, first=3] A(i,j)", []float64{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, nan, 2, 2, 0, 0}},
		{"y(i,j) = argsort_j[first=3, descending] A(i,j)", []float64{3, 0, 2, 0, 0, 0, 1, 2, 0, 0, 2, 1, 4, 0, 0}},
		{"y(i,j) = argsort_j[first=9] A(i,j)", []float64{1, 0, 2, 4, 3, 0, 1, 2, 3, 4, 0, 3, 1, 4, 2}},
		{"y(i,j) = 1 + sort_j[descending, first=1] A(i,j)", []float64{4, 1, 1, 1, 1, 1, 1, 1, 1, 1, nan, 1, 1, 1, 1}},
		{"y(i,j) = sort_i[descending, first=1] A(i,j)", []float64{0, 2, nan, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		for _, f := range matrixFormats() {
			stored, err := A.Convert(f)
			if err != nil {
				t.Fatal(err)
			}
			got := numbers(t, evalAll(t, sessions, test.text, Args{"A": stored}))
			if !slices.EqualFunc(got, test.want, func(x, y float64) bool { return x == y || x != x && y != y }) {
				t.Errorf("%s, A: %s: got %v, want %v", test.text, f, got, test.want)
			}
		}
	}
	// A line of 2^40 elements takes its entries' time, also of an operand with another fill.
	long, err := tensor.FromCoords([]int64{1 << 40}, tensor.CSF(1), [][]int64{{5, 1 << 30, 1 << 39}}, tensor.ArrayOf([]float64{2, 7, -1}))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]float64{
		"y(i) = sort_i[descending, first=3] x(i)":    {7, 2, 0},
		"y(i) = argsort_i[descending, first=4] x(i)": {1 << 30, 5, 0, 1},
	} {
		for _, s := range sessions {
			out, err := s.Eval(t.Context(), text, Args{"x": long})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if got := out.At(int64(i)).Float64(); got != v || out.NNZ() != int64(len(want)) {
					t.Errorf("%s: element %d is %v of %v, want %v", text, i, got, out, v)
				}
			}
		}
	}
}
