package main

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestBraille(t *testing.T) {
	// A diagonal with a full last column: every dot of the two characters is
	// told apart.
	var row, column []int64
	for i := range int64(4) {
		row, column = append(row, i, i), append(column, i, 3)
	}
	want := "┌──┐\n│⠑⢼│\n└──┘\n"
	if got := newRaster(view{row, column, 4, 4, 1}, terminalDots).text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := newRaster(view{depth: 1}, terminalDots).text(); got != "┌┐\n└┘\n" {
		t.Errorf("an empty matrix is drawn as\n%s", got)
	}
}

func TestRasterScales(t *testing.T) {
	tests := []struct {
		m, n          int64
		rows, columns int
	}{
		{3, 5, 3, 5},
		{96, 96, 96, 96},
		{97, 97, 96, 96},
		{1000, 500, 96, 48},
		{1 << 40, 1, 96, 1},
		{1, math.MaxInt64 - 1, 1, 96},
		{math.MaxInt64 - 1, math.MaxInt64 - 1, 96, 96},
		{0, 1000, 0, 96},
	}
	for _, test := range tests {
		var row, column []int64
		if test.m > 0 && test.n > 0 { // both corners must be inside
			row, column = []int64{0, test.m - 1}, []int64{0, test.n - 1}
		}
		r := newRaster(view{row, column, test.m, test.n, 1}, 96)
		if r.rows != test.rows || r.columns != test.columns {
			t.Errorf("%d by %d becomes %d by %d, want %d by %d", test.m, test.n, r.rows, r.columns, test.rows, test.columns)
		}
		if len(row) > 0 && (r.at(0, 0) == 0 || r.at(r.rows-1, r.columns-1) == 0) {
			t.Errorf("%d by %d: a corner is not marked", test.m, test.n)
		}
	}
}

func TestSliceLengths(t *testing.T) {
	s := sliceLengths([]int64{5, 0, 0, 5, 5, 2}, 6)
	want := tensor.FibreStats{Fibres: 6, Empty: 3, Min: 0, Max: 3, Mean: 1, CV: math.Sqrt(14./6 - 1)}
	if math.Abs(s.CV-want.CV) > 1e-15 {
		t.Errorf("CV %v, want %v", s.CV, want.CV)
	}
	if s.CV = want.CV; s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if s := sliceLengths([]int64{0, 1}, 2); s.Min != 1 || s.CV != 0 || s.Empty != 0 {
		t.Errorf("equal slices give %+v", s)
	}
	if s := sliceLengths(nil, 0); !math.IsNaN(s.Mean) || s.Min != 0 {
		t.Errorf("no slices give %+v", s)
	}
	if s := sliceLengths(nil, 3); s.Empty != 3 || s.Min != 0 || s.Mean != 0 || s.CV != 0 {
		t.Errorf("empty slices give %+v", s)
	}
}

// TestSliceLengthsOfCSR compares with what package tensor counts.
func TestSliceLengthsOfCSR(t *testing.T) {
	a := generated(t, "random(50,40,density=0.05)", qualifiers{})
	coords, _, err := a.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.FibreLengths(1)
	if err != nil {
		t.Fatal(err)
	}
	got := sliceLengths(coords[0], 50)
	if math.Abs(got.CV-want.CV) > 1e-12 {
		t.Errorf("CV %v, want %v", got.CV, want.CV)
	}
	if got.CV = want.CV; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestValueStats(t *testing.T) {
	values := tensor.ArrayOf([]float64{2, math.NaN(), -3, 0, math.Inf(1)})
	a, err := tensor.FromDense([]int64{5}, tensor.Dense(1), values)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := valuesOf(a).describe(a.DType()), "-3 to inf, 1 zero, 1 nan, 1 infinite"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (valueStats{min: 1, max: 0}).describe(tensor.Float64); got != "none" {
		t.Errorf("no values: %q", got)
	}
}
