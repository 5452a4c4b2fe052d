package tensor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustCoords(t testing.TB, shape []int64, f Format, coords [][]int64, opts ...Option) *Tensor {
	t.Helper()
	values := make([]float64, len(coords[0]))
	for i := range values {
		values[i] = float64(i + 1)
	}
	a, err := FromCoords(shape, f, coords, ArrayOf(values), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewParts(t *testing.T) {
	a := mustCoords(t, []int64{3, 4}, CSR, [][]int64{{0, 2}, {1, 3}})
	b := mustCoords(t, []int64{3, 4}, CSC, [][]int64{{0, 1}, {0, 1}})
	p, err := NewParts(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if p.NNZ() != 4 || p.Rank() != 2 || p.Bytes() != a.Bytes()+b.Bytes() || !slices.Equal(p.Shape(), []int64{3, 4}) || p.DType() != Float64 {
		t.Errorf("%v", p)
	}
	if got, want := p.String(), "3x4 f64, 4 stored in 2 parts (2 CSR, 2 CSC), fill 0"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	for _, test := range []struct {
		i, j int64
		want float64
	}{{0, 1, 1}, {2, 3, 2}, {0, 0, 1}, {1, 1, 2}, {2, 2, 0}} {
		if got := p.At(test.i, test.j).Float64(); got != test.want {
			t.Errorf("At(%d,%d) = %v, want %v", test.i, test.j, got, test.want)
		}
	}
	if v := p.At(3, 0); v.DType().Valid() {
		t.Errorf("outside the shape: %v", v)
	}
	whole, err := p.Expand(CSR)
	if err != nil {
		t.Fatal(err)
	}
	want := mustCoords(t, []int64{3, 4}, CSR, [][]int64{{0, 0, 1, 2}, {0, 1, 1, 3}})
	want.values = ArrayOf([]float64{1, 1, 2, 2})
	if d := Diff(whole, want); d != "" {
		t.Error(d)
	}
}

func TestNewPartsErrors(t *testing.T) {
	shape := []int64{3, 4}
	a := mustCoords(t, shape, CSR, [][]int64{{0, 2}, {1, 3}})
	narrow, err := FromCoords(shape, CSR, [][]int64{{}, {}}, ArrayOf([]float32{}))
	if err != nil {
		t.Fatal(err)
	}
	square := mustCoords(t, []int64{3, 3}, CSR, [][]int64{{2}, {1}})
	triangle, err := square.WithStructure(SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	scalar := ScalarTensor(Float(Float64, 1))
	blocks := mustCoords(t, shape, mustFormat([]LevelKind{S, D}, nil), [][]int64{{2}, {0}})
	for _, test := range []struct {
		parts []*Tensor
		want  string
	}{
		{nil, "at least one part"},
		{[]*Tensor{a, nil}, "part 1 is nil"},
		{[]*Tensor{a, square}, "part 1 has the shape 3x3, but part 0 has 3x4"},
		{[]*Tensor{a, narrow}, "part 1 has elements of type f32"},
		{[]*Tensor{a, mustCoords(t, shape, CSR, [][]int64{{}, {}}, WithFill(Float(Float64, 1)))}, "part 1 has the fill 1"},
		{[]*Tensor{square, triangle}, "part 1 is symmetric_lower"},
		{[]*Tensor{a, mustCoords(t, shape, COO, [][]int64{{0, 2}, {0, 3}})}, "parts 0 and 1 both store the coordinate (2,3)"},
		{[]*Tensor{a, blocks}, "parts 0 and 1 both store the coordinate (2,3)"}, // an element of a block
		{[]*Tensor{scalar, scalar}, "the only element"},
		{slices.Repeat([]*Tensor{a}, maxParts+1), "17 parts: there may be 16"},
	} {
		_, err := NewParts(test.parts...)
		var e *FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

func TestPartsOfNothing(t *testing.T) {
	for _, shape := range [][]int64{{0, 3}, {2, 0}, {4, 4}} {
		a := mustCoords(t, shape, CSR, [][]int64{{}, {}})
		p, err := NewParts(a, mustCoords(t, shape, COO, [][]int64{{}, {}}))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := p.Expand(CSC)
		if err != nil || whole.NNZ() != 0 {
			t.Errorf("%v, %v", whole, err)
		}
		for what, of := range map[string]func() (*Parts, error){
			"HB-CSF": func() (*Parts, error) { return HBCSF(a, nil) },
			"MM-CSF": func() (*Parts, error) { return MMCSF(a) },
		} {
			if p, err := of(); err != nil || len(p.Parts()) != 1 || p.NNZ() != 0 {
				t.Errorf("%s of %v: %v, %v", what, shape, p, err)
			}
		}
	}
}

// TestHBCSF takes a slice of each kind.
func TestHBCSF(t *testing.T) {
	a := mustCoords(t, []int64{4, 3, 3}, CSF(3), [][]int64{
		{0, 1, 1, 3, 3, 3},
		{2, 0, 2, 0, 0, 2},
		{1, 1, 0, 1, 2, 2},
	})
	p, err := HBCSF(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		format string
		values []float64
	}{{"COO", []float64{1}}, {"DC-S-S", []float64{2, 3}}, {"CSF", []float64{4, 5, 6}}}
	if len(p.Parts()) != len(want) {
		t.Fatalf("%v", p)
	}
	for k, part := range p.Parts() {
		if got := View[float64](part.Values()); part.Format().String() != want[k].format || !slices.Equal(got, want[k].values) {
			t.Errorf("part %d is %v with %v, want %s with %v", k, part, got, want[k].format, want[k].values)
		}
	}
}

// TestMMCSF takes a fibre along each axis, and an entry alone, which goes to the first.
func TestMMCSF(t *testing.T) {
	a := mustCoords(t, []int64{4, 3, 5}, CSF(3), [][]int64{
		{0, 0, 0, 1, 1, 1, 2, 3},
		{0, 0, 0, 0, 1, 2, 2, 2},
		{0, 1, 2, 3, 3, 3, 4, 4},
	})
	p, err := MMCSF(a)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		order  []int
		values []float64
	}{{[]int{1, 2, 0}, []float64{7, 8}}, {[]int{0, 2, 1}, []float64{4, 5, 6}}, {[]int{1, 0, 2}, []float64{1, 2, 3}}}
	if len(p.Parts()) != len(want) {
		t.Fatalf("%v", p)
	}
	for k, part := range p.Parts() {
		if got := View[float64](part.Values()); !slices.Equal(part.Format().Order(), want[k].order) || !slices.Equal(got, want[k].values) {
			t.Errorf("part %d is %v in order %v with %v, want %v with %v", k, part, part.Format().Order(), got, want[k].order, want[k].values)
		}
	}
}

func TestFewAxes(t *testing.T) {
	v := mustCoords(t, []int64{4}, CSF(1), [][]int64{{1}})
	for _, err := range []error{second(HBCSF(v, nil)), second(MMCSF(v)), second(HBCSF(mustCoords(t, []int64{2, 2}, CSR, [][]int64{{}, {}}), []int{0, 0}))} {
		var e *FormatError
		if !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestMixedKeepAll expands mixed formats of random tensors again.
func TestMixedKeepAll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rank := rapid.IntRange(2, 4).Draw(r, "rank")
		shape := rapid.SliceOfN(rapid.Int64Range(1, 4), rank, rank).Draw(r, "shape")
		n := rapid.IntRange(0, 30).Draw(r, "n")
		coords := make([][]int64, rank)
		for axis := range coords {
			coords[axis] = rapid.SliceOfN(rapid.Int64Range(0, shape[axis]-1), n, n).Draw(r, "coords")
		}
		a := mustCoords(t, shape, CSF(rank), coords)
		order := rapid.Permutation(identity(rank)).Draw(r, "order")
		hybrid, err := HBCSF(a, order)
		if err != nil {
			r.Fatal(err)
		}
		mixed, err := MMCSF(a)
		if err != nil {
			r.Fatal(err)
		}
		for _, p := range []*Parts{hybrid, mixed} {
			if _, err := NewParts(p.Parts()...); err != nil {
				r.Fatal(err)
			}
			whole, err := p.Expand(a.Format())
			if err != nil {
				r.Fatal(err)
			}
			if d := Diff(whole, a); d != "" {
				r.Fatal(d)
			}
		}
	})
}

func TestBlocks(t *testing.T) {
	a := mustCoords(t, []int64{5, 4}, CSR, [][]int64{{0, 2, 4}, {3, 1, 2}})
	blocked, err := a.Blocked([]int64{2, 3}, BSR)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBlocks(blocked, a.Shape())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "5x4 f64 in blocks of 2x3, C-S-D-D, 18 stored, fill 0"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	for i := range int64(5) {
		for j := range int64(4) {
			if b.At(i, j) != a.At(i, j) {
				t.Errorf("At(%d,%d) = %v, want %v", i, j, b.At(i, j), a.At(i, j))
			}
		}
	}
	if b.At(5, 0).DType().Valid() || b.At(0).DType().Valid() {
		t.Error("a value outside the shape")
	}
	whole, err := b.Expand(CSR)
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(whole, a); d != "" {
		t.Error(d)
	}
	for _, shape := range [][]int64{{5}, {7, 4}, {5, 4, 1}} {
		if _, err := NewBlocks(blocked, shape); err == nil {
			t.Errorf("shape %v fits", shape)
		}
	}
	if _, err := NewBlocks(nil, nil); err == nil {
		t.Error("no blocks are blocks")
	}
}
