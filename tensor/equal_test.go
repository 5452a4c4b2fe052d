package tensor

import (
	"math"
	"strings"
	"testing"
)

func TestFibreLengths(t *testing.T) {
	a, err := FromCoords([]int64{4, 5}, CSR, [][]int64{{0, 0, 0, 2}, {0, 1, 4, 3}}, f64(1, 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.FibreLengths(1)
	want := FibreStats{Fibres: 4, Empty: 2, Min: 0, Max: 3, Mean: 1, CV: math.Sqrt(1.5)}
	if err != nil || math.Abs(got.CV-want.CV) > 1e-12 {
		t.Errorf("rows: %+v, %v, want %+v", got, err, want)
	}
	got.CV = want.CV
	if got != want {
		t.Errorf("rows: %+v, want %+v", got, want)
	}
	if got, _ := a.FibreLengths(0); got != (FibreStats{Fibres: 1, Min: 4, Max: 4, Mean: 4}) {
		t.Errorf("level 0 of CSR: %+v", got)
	}
	coo, _ := a.Convert(COO)
	if got, _ := coo.FibreLengths(0); got != (FibreStats{Fibres: 1, Min: 4, Max: 4, Mean: 4}) {
		t.Errorf("level 0 of COO: %+v", got)
	}
	if got, _ := coo.FibreLengths(1); got != (FibreStats{Fibres: 4, Min: 1, Max: 1, Mean: 1}) {
		t.Errorf("level 1 of COO: %+v", got)
	}
	for _, level := range []int{-1, 2} {
		if _, err := a.FibreLengths(level); err == nil || !strings.Contains(err.Error(), "there is no level") {
			t.Errorf("level %d: error %v", level, err)
		}
	}
	empty, _ := FromCoords([]int64{0, 5}, CSR, [][]int64{{}, {}}, f64())
	if got, _ := empty.FibreLengths(1); got.Fibres != 0 || got.Mean == got.Mean || got.Min != 0 {
		t.Errorf("no rows: %+v", got)
	}
	block, _ := FromCoords([]int64{3, 0}, mustFormat([]LevelKind{S, D}, nil), [][]int64{{}, {}}, f64())
	if got, _ := block.FibreLengths(1); got.Fibres != 0 {
		t.Errorf("blocks of nothing: %+v", got)
	}
}

func TestTensorString(t *testing.T) {
	a, _ := FromCoords([]int64{3, 4}, CSR, [][]int64{{0}, {3}}, f64(1), WithName("A"))
	if got, want := a.String(), "A: 3x4 f64 CSR, 1 stored, fill 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := ScalarTensor(Truth(true)).String(), "scalar bool D, 1 stored, fill false"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := a.Bytes(), int64(4*4+4+8); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

func TestDiff(t *testing.T) {
	base := func() *Tensor {
		a, _ := FromCoords([]int64{3, 4}, CSR, [][]int64{{0, 1}, {3, 2}}, f64(math.NaN(), 2))
		return a
	}
	if d := Diff(base(), base()); d != "" {
		t.Errorf("equal tensors differ: %s", d)
	}
	make := func(shape []int64, f Format, rows, cols []int64, v Array, opts ...Option) *Tensor {
		a, err := FromCoords(shape, f, [][]int64{rows, cols}, v, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		other *Tensor
		want  string
	}{
		{make([]int64{3, 5}, CSR, []int64{0, 1}, []int64{3, 2}, f64(math.NaN(), 2)), "shape 3x4, want 3x5"},
		{make([]int64{3, 4}, COO, []int64{0, 1}, []int64{3, 2}, f64(math.NaN(), 2)), "format CSR, want COO"},
		{make([]int64{3, 4}, CSR, []int64{0, 1}, []int64{3, 2}, ArrayOf([]float32{1, 2})), "element type f64, want f32"},
		{make([]int64{3, 4}, CSR, []int64{0, 1}, []int64{3, 2}, f64(math.NaN(), 2), WithFill(Int(Int64, 1))), "fill 0, want 1"},
		{make([]int64{3, 4}, CSR, []int64{0, 2}, []int64{3, 2}, f64(math.NaN(), 2)), "pointers_0[2] = 2, want 1"},
		{make([]int64{3, 4}, CSR, []int64{0, 1}, []int64{3, 1}, f64(math.NaN(), 2)), "indices_1[1] = 2, want 1"},
		{make([]int64{3, 4}, CSR, []int64{0, 1}, []int64{3, 2}, f64(math.NaN(), 3)), "values[1] = 2, want 3"},
		{make([]int64{3, 4}, CSR, []int64{0, 1}, []int64{3, 2}, f64(1, 2)), "values[0] = nan, want 1"},
	} {
		if d := Diff(base(), c.other); d != c.want || Equal(base(), c.other) {
			t.Errorf("%q, want %q", d, c.want)
		}
	}
}
