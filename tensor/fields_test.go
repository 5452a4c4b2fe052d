package tensor

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWithValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, m := drawRelaxed(t, rapid.IntRange(1, 3).Draw(t, "rank"))
		extra := rapid.SliceOfN(rapid.Int64Range(0, 2), 0, 2).Draw(t, "extra")
		block, _ := product(extra)
		values, _ := MakeArray(Float64, a.values.n*int(block))
		for i := range values.n {
			values.SetScalar(i, Int(Float64, rapid.Int64Range(-3, 3).Draw(t, "v")))
		}
		b, err := a.WithValues(values, extra)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(b); err != nil {
			t.Fatal(err)
		}
		if !SameStructure(a, b) || !SameStructure(b, a) {
			t.Fatalf("%v and %v are not of one structure", a, b)
		}
		sums := map[[5]int64]float64{}
		for i := range a.values.n {
			j := 0
			each(extra, func(at []int64) {
				var key [5]int64
				for axis := range a.Rank() {
					key[axis] = m.coords[axis][i]
				}
				copy(key[a.Rank():], at)
				sums[key] += values.Scalar(i*int(block) + j).Float64()
				j++
			})
		}
		each(b.shape, func(at []int64) {
			var key [5]int64
			copy(key[:], at)
			if got := b.At(at...).Float64(); got != sums[key] {
				t.Fatalf("%v at %v is %v, want %v", b, at, got, sums[key])
			}
		})
		if _, err := a.WithValues(ArrayOf(make([]float64, values.n+1)), extra); err == nil {
			t.Fatal("one value too many is accepted")
		}
	})
}

func TestSameStructureLooksAtGroups(t *testing.T) {
	multigraph := mustParse(t, "C-C(duplicates)", 2)
	stored := func(rows ...int64) *Tensor {
		a, err := FromCoords([]int64{2, 1}, multigraph, [][]int64{rows, {0, 0, 0}}, ArrayOf([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if !SameStructure(stored(0, 0, 1), stored(0, 0, 1)) || SameStructure(stored(0, 0, 1), stored(0, 1, 1)) {
		t.Error("the pointers to values do not count")
	}
}

// edges is a graph of three edges.
func edges(t *testing.T) *Tensor {
	t.Helper()
	a, err := NewNamed([]int64{3, 4}, CSR, map[string]Array{"pointers_0": ArrayOf([]uint32{0, 1, 1, 3}), "indices_1": ArrayOf([]uint32{2, 0, 3})},
		ArrayOf([]float64{1.5, 2.5, 3.5}))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFields(t *testing.T) {
	weight := edges(t)
	color, err := weight.WithValues(ArrayOf([]uint8{255, 0, 0, 0, 255, 0, 0, 0, 255}), []int64{3}, WithName("color"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := color.String(), "color: 3x4x3 u8 C-S-D, 9 stored, fill 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f, err := NewFields([]string{"color", "weight"}, []*Tensor{color, weight})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"color", "weight"}) || f.Len() != 2 || f.Field("colour") != nil {
		t.Errorf("names %v", f.Names())
	}
	if got, want := f.Bytes(), weight.Bytes()+9; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	g, err := f.Convert(CSC)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Field("color").At(2, 3, 2).Uint64(); got != 255 || g.Field("weight").At(2, 3).Float64() != 3.5 {
		t.Errorf("after conversion %v, %v", g.Field("color"), g.Field("weight"))
	}
	if a, b := g.Field("color").levels[1].Crd, g.Field("weight").levels[1].Crd; a.data != b.data {
		t.Error("the converted fields do not share their index arrays")
	}
	other, err := FromCoords([]int64{3, 4}, CSR, [][]int64{{0, 1, 2}, {2, 0, 3}}, ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for want, make := range map[string]func() (*Fields, error){
		`tensor "b": it is stored at other places than field "a"`: func() (*Fields, error) { return NewFields([]string{"a", "b"}, []*Tensor{weight, other}) },
		`two fields named "a"`:     func() (*Fields, error) { return NewFields([]string{"a", "a"}, []*Tensor{weight, weight}) },
		`field "a" is nil`:         func() (*Fields, error) { return NewFields([]string{"a"}, []*Tensor{nil}) },
		"a name for each tensor":   func() (*Fields, error) { return NewFields(nil, nil) },
		"format CSF is for rank 3": func() (*Fields, error) { return f.Convert(CSF(3)) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	half, err := weightTriangle().WithValues(ArrayOf([]float64{7, 8}), nil)
	if err != nil || half.Structure() != SymmetricLower || half.At(0, 1).Float64() != 8 {
		t.Errorf("%v, %v", half, err)
	}
	if _, err := weightTriangle().WithValues(ArrayOf([]float64{7, 8}), []int64{1}); err == nil {
		t.Error("blocks of a symmetric matrix are accepted")
	}
}

// weightTriangle is a symmetric matrix.
func weightTriangle() *Tensor {
	a, err := FromCoords([]int64{2, 2}, CSR, [][]int64{{0, 1}, {0, 0}}, ArrayOf([]float64{1, 2}))
	if err != nil {
		panic(err)
	}
	if a, err = a.WithStructure(SymmetricLower); err != nil {
		panic(err)
	}
	return a
}
