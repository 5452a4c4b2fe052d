package tensor

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEntries compares the entries, the elements and the fibres of tensors in random formats with the lists of their
// coordinates and with At.
func TestEntries(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := drawModel(r, 4)
		a, err := FromCoords(m.shape, drawFormat(r, len(m.shape), "format"), m.coords, m.values)
		if err != nil {
			r.Fatal(err)
		}
		coords, values, err := a.ToCoords()
		if err != nil {
			r.Fatal(err)
		}
		n := 0
		for c, v := range Entries[complex128](a) {
			for axis, list := range coords {
				if c[axis] != list[n] {
					r.Fatalf("entry %d is at %v, not at %d on axis %d", n, c, list[n], axis)
				}
			}
			if want := values.Scalar(n).Convert(Complex128); !goScalar(v).Same(want) {
				r.Fatalf("entry %d is %v, not %v", n, v, want)
			}
			if x, err := At[complex128](a, c...); err != nil || !goScalar(x).Same(goScalar(v)) && !a.Format().Relaxed() {
				r.Fatalf("At finds %v, %v", x, err)
			}
			n++
		}
		if int64(n) != a.NNZ() {
			r.Fatalf("%d entries of %d", n, a.NNZ())
		}
		dense, err := a.ToDense()
		if err != nil {
			r.Fatal(err)
		}
		all, err := Elements[complex128](a)
		if err != nil || len(all) != dense.Len() {
			r.Fatal(len(all), err)
		}
		for i, v := range all {
			if want := dense.Scalar(i).Convert(Complex128); !goScalar(v).Same(want) {
				r.Fatalf("element %d is %v, not %v", i, v, want)
			}
		}
	})
}

func goScalar(v complex128) Scalar { return Complex(Complex128, v) }

// TestFibres looks at every fibre along the innermost axis.
func TestFibres(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rank := rapid.IntRange(1, 4).Draw(r, "rank")
		shape := make([]int64, rank)
		for k := range shape {
			shape[k] = rapid.Int64Range(0, 4).Draw(r, "size")
		}
		format, coords, values := drawFormat(r, rank, "format"), make([][]int64, rank), []float64{}
		if total, _ := product(shape); total > 0 {
			for k := range rapid.IntRange(0, 20).Draw(r, "entries") {
				for axis := range coords {
					coords[axis] = append(coords[axis], rapid.Int64Range(0, shape[axis]-1).Draw(r, "coordinate"))
				}
				values = append(values, float64(k+1))
			}
		}
		pos := rapid.SampledFrom([]DType{Invalid, Int64, Uint16}).Draw(r, "types")
		a, err := FromCoords(shape, format, coords, ArrayOf(values), WithIndexTypes(pos, pos), WithFill(Float(Float64, -1)))
		if err != nil {
			r.Fatal(err)
		}
		free := a.Format().Order()[rank-1]
		found := 0
		rest := slices.Clone(shape)
		rest[free] = 1
		each(rest, func(at []int64) {
			at = slices.Clone(at)
			at[free] = -1
			f, err := FibreAt[float64](a, at...)
			if err != nil {
				r.Fatal(err)
			}
			last := int64(-1)
			for c, v := range f.All() {
				at[free] = c
				if c <= last || v != a.At(at...).Float64() {
					r.Fatalf("%v at %v after %d", v, at, last)
				}
				last = c
				found++
			}
		})
		if int64(found) != a.NNZ() {
			r.Fatalf("the fibres have %d values, the tensor %d", found, a.NNZ())
		}
	})
}

func TestFibreErrors(t *testing.T) {
	a, _ := FromCoords([]int64{2, 3}, CSR, [][]int{{0, 1}, {1, 2}}, f64(1, 2), WithName("A"))
	multi, _ := CSR.Flag(1, Duplicates)
	relaxed, _ := a.Convert(multi)
	for want, f := range map[string]func() (Fibre[float64], error){
		"stores axis 1 innermost, not axis 0: convert it first, such as to CSC": func() (Fibre[float64], error) { return Column[float64](a, 1) },
		"coordinate 2 is out of range: axis 0 has the size 2":                   func() (Fibre[float64], error) { return Row[float64](a, 2) },
		"1 coordinates are given, of a tensor of rank 2":                        func() (Fibre[float64], error) { return FibreAt[float64](a, -1) },
		"axes 0 and 1 are both -1":                                              func() (Fibre[float64], error) { return FibreAt[float64](a, -1, -1) },
		"no coordinate is -1":                                                   func() (Fibre[float64], error) { return FibreAt[float64](a, 1, 1) },
		"may store a fibre in several places":                                   func() (Fibre[float64], error) { return Row[float64](relaxed, 1) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `tensor "A"`) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Row[float32](a, 0); err == nil || !strings.Contains(err.Error(), "its elements are f64, and f32 is asked for") {
		t.Error(err)
	}
	if _, err := At[float64](a, 2, 0); err == nil || !strings.Contains(err.Error(), "there is no element at [2 0]: the shape is [2 3]") {
		t.Error(err)
	}
}

// TestEntriesAllocateNothing goes over many entries and over few: both allocate the same.
func TestEntriesAllocateNothing(t *testing.T) {
	count := func(n int) float64 {
		i := make([]int, n)
		for k := range i {
			i[k] = k
		}
		a, err := FromCoords([]int64{1 << 20, 1 << 20}, CSR, [][]int{i, i}, ArrayOf(i))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		return testing.AllocsPerRun(3, func() {
			for c, v := range Entries[float64](a) { // converted, too
				sum += float64(c[0]) + v
			}
		})
	}
	if few, many := count(10), count(10000); many > few {
		t.Errorf("%v allocations for 10000 entries, %v for 10", many, few)
	}
}

// TestMakers makes tensors of slices without copying.
func TestMakers(t *testing.T) {
	values := []float32{1, 2, 3}
	csr, err := NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 1}, values)
	if err != nil || &StoredValues[float32](csr)[0] != &values[0] || csr.At(1, 1).Float64() != 3 {
		t.Errorf("%v, %v", csr, err)
	}
	csc, err := NewCSC([]int64{3, 2}, []uint32{0, 2, 3}, []uint32{0, 2, 1}, values)
	if err != nil || csc.At(1, 1).Float64() != 3 || csc.Format() != CSC {
		t.Errorf("%v, %v", csc, err)
	}
	coo, err := NewCOO([]int64{2, 3}, [][]int64{{0, 0, 1}, {0, 2, 1}}, []F16{0x3c00, 0, 0})
	if err != nil || coo.At(0, 0).Float64() != 1 || coo.DType() != Float16 {
		t.Errorf("%v, %v", coo, err)
	}
	v, err := NewVector(1<<40, []int64{5, 1 << 39}, []bool{true, false})
	if err != nil || !v.At(5).Bool() || v.NNZ() != 2 {
		t.Errorf("%v, %v", v, err)
	}
	d, err := NewDense([]uint{7, 8}, 2, 1)
	if err != nil || d.At(1, 0).Uint64() != 8 || d.DType() != Uint64 {
		t.Errorf("%v, %v", d, err)
	}
	for _, c := range []struct {
		indptr, indices []int
		want            string
	}{
		{[]int{0, 2}, []int{0, 2, 1}, "pointers_0 has 2 elements: it must have 3"},
		{[]int{0, 2, 4}, []int{0, 2, 1}, "pointers_0 ends with 4, but indices_1 has 3 elements"},
		{[]int{0, 2, 3}, []int{2, 0, 1}, "coordinates must ascend under one parent"},
		{[]int{0, 2, 3}, []int{2, 2, 1}, "coordinates must be unique"},
		{[]int{0, 2, 3}, []int{2, 3, 1}, "out of range"},
		{[]int{0, 2, 3}, []int{-1, 2, 1}, "follows -1"},
		{[]int{0, 2, 2}, []int{0, 1}, "there are 3 values for 2 stored positions"},
	} {
		_, err := NewCSR([]int64{2, 3}, c.indptr, c.indices, values, WithName("A"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := NewCOO([]int64{2}, [][]int{{0}, {0}}, values[:1]); err == nil {
		t.Error("two lists of coordinates make a vector")
	}
	if _, err := NewCSR([]int64{2, 3, 4}, []int{0, 0, 0}, []int{}, values[:0]); err == nil {
		t.Error("three extents make a matrix")
	}
}
