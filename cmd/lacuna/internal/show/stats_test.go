package show

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/generate"
	"github.com/lacuna-sparse/lacuna/tensor"
)

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
	a, err := generate.Recipe{Shape: []int64{50, 40}, Density: 0.05, NNZ: -1, Seed: 1, DType: tensor.Float64}.Tensor(tensor.FromColumns)
	if err != nil {
		t.Fatal(err)
	}
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
