package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		f := drawFormat(t, len(m.shape), "from")
		g := drawFormat(t, len(m.shape), "to")
		a, err := FromCoords(m.shape, f, m.coords, m.values, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, a)

		b, err := a.Convert(g)
		if err != nil {
			t.Fatal(err)
		}
		sparse := f.SparseRank() == f.Rank()
		sameBlocks := f.SparseRank() == g.SparseRank() && slices.Equal(f.Order()[f.SparseRank():], g.Order()[g.SparseRank():])
		if sparse || sameBlocks || g.IsDense() {
			direct, err := FromCoords(m.shape, g, m.coords, m.values, WithFill(m.fill))
			if err != nil {
				t.Fatal(err)
			}
			if d := Diff(b, direct); d != "" {
				t.Fatalf("%v converted from %v differs from one made directly: %s", b, f, d)
			}
		} else {
			m.withoutFill().check(t, b)
		}

		coords, values, err := b.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		again, err := FromCoords(m.shape, g, coords, values, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(again, b); d != "" {
			t.Fatalf("%v by way of its coordinates: %s", b, d)
		}

		dense, err := a.ToDense()
		if err != nil {
			t.Fatal(err)
		}
		c, err := FromDense(m.shape, g, dense, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		m.withoutFill().check(t, c)
	})
}

// TestIndexTypeOptions converts with explicit index types.
func TestIndexTypeOptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 3)
		f := drawFormat(t, len(m.shape), "format")
		a, err := FromCoords(m.shape, drawFormat(t, len(m.shape), "from"), m.coords, m.values, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		integer := func(label string) DType { return DType(rapid.IntRange(int(Int8), int(Uint64)).Draw(t, label)) }
		pos, crd := integer("pos"), integer("crd")
		b, err := a.Convert(f, WithIndexTypes(pos, crd))
		if err != nil {
			t.Fatal(err)
		}
		for k, l := range b.Levels() {
			root := k == 0 && l.Kind == CompressedLevel && a.Format() == f
			if l.Kind == CompressedLevel && l.Pos.DType() != pos && !root || l.Kind != DenseLevel && l.Crd.DType() != crd {
				t.Fatalf("level %d of %v has index types %v, %v, want %v, %v", k, b, l.Pos.DType(), l.Crd.DType(), pos, crd)
			}
		}
		plain, err := a.Convert(f)
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(b, plain); d != "" {
			t.Fatal(d)
		}
		back, err := b.Convert(a.Format())
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(back); err != nil {
			t.Fatal(err)
		}
	})
}

func TestIndexTypeErrors(t *testing.T) {
	build := func(opts ...Option) error {
		_, err := FromCoords([]int64{300, 2}, CSR, [][]int64{{299}, {1}}, f64(1), opts...)
		return err
	}
	for _, c := range []struct {
		opt  Option
		want string // "" for no error
	}{
		{WithIndexTypes(Uint8, Uint8), ""},
		{WithIndexType(1, Float32), "must be an integer"},
		{WithIndexTypes(Bool, Invalid), "must be an integer"},
	} {
		if err := build(c.opt); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	_, err := FromCoords([]int64{300}, CSF(1), [][]int64{{299}}, f64(1), WithIndexTypes(Invalid, Int8))
	if err == nil || !strings.Contains(err.Error(), "indices go up to 299, which index type i8 cannot hold") {
		t.Errorf("i8 for coordinates up to 299: %v", err)
	}
}

// TestLargeSort sorts enough entries, with coordinates wide enough, for every
// part of the radix sort: several columns in a word, a column that fills one.
func TestLargeSort(t *testing.T) {
	const n = 5000
	shape := []int64{1 << 40, 7, math.MaxInt64, 1000}
	coords := make([][]int64, len(shape))
	state := uint64(1)
	for axis := range coords {
		coords[axis] = make([]int64, n)
		for i := range n {
			state = state*6364136223846793005 + 1442695040888963407
			coords[axis][i] = int64(state >> 20 % uint64(shape[axis]))
			if axis != 3 && i%3 == 0 { // ties
				coords[axis][i] = int64(i % 4)
			}
		}
	}
	values, _ := MakeArray(Int64, n)
	sums := map[[4]int64]int64{}
	for i := range n {
		values.SetScalar(i, Int(Int64, int64(i)))
		sums[[4]int64{coords[0][i], coords[1][i], coords[2][i], coords[3][i]}] += int64(i)
	}
	for _, spelled := range []string{"S-S-S-S", "DC-S-DC-S-C", "DC-DC-DC-S[2,3,0,1]", "S-DC-S-S[3,1,2,0]"} {
		f, err := ParseFormat(spelled, 4)
		if err != nil {
			t.Fatal(err)
		}
		a, err := FromCoords(shape, f, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(a); err != nil {
			t.Errorf("%v: %v", a, err)
		}
		if a.NNZ() != int64(len(sums)) {
			t.Errorf("%v, want %d stored", a, len(sums))
		}
		for at, want := range sums {
			if got := a.At(at[:]...); got.Int64() != want {
				t.Fatalf("%v at %v is %v, want %d", a, at, got, want)
			}
		}
		back, err := a.Convert(Coordinates(4))
		if err != nil {
			t.Fatal(err)
		}
		direct, _ := FromCoords(shape, Coordinates(4), coords, values)
		if d := Diff(back, direct); d != "" {
			t.Errorf("from %v: %s", a, d)
		}
	}
}

func TestUnsortedPrefix(t *testing.T) {
	for _, c := range []struct {
		axes, source []int
		want         int
	}{
		{[]int{0, 1}, []int{0, 1}, 0},
		{[]int{1, 0}, []int{0, 1}, 1},
		{[]int{0}, []int{0, 1}, 0},
		{[]int{1}, []int{0, 1}, 1},
		{[]int{2, 0, 1}, []int{0, 1, 2}, 1},
		{[]int{1, 2, 0}, []int{0, 1, 2}, 2},
		{[]int{2, 1, 0}, []int{0, 1, 2}, 2},
		{[]int{0, 2}, []int{0, 1, 2}, 2},
		{nil, []int{0, 1}, 0},
	} {
		if got := unsortedPrefix(c.axes, c.source, 0); got != c.want {
			t.Errorf("from %v to %v: %d axes to sort by, want %d", c.source, c.axes, got, c.want)
		}
	}
}

func TestDuplicatesSumInOrder(t *testing.T) {
	// 1e16 + 1 - 1e16 is 0 in this order, 1 in another.
	a, err := FromCoords([]int64{2}, CSF(1), [][]int64{{1, 0, 1, 1}}, f64(1e16, 5, 1, -1e16))
	if err != nil {
		t.Fatal(err)
	}
	if got := View[float64](a.Values()); !slices.Equal(got, []float64{5, 0}) {
		t.Errorf("values %v, want [5 0]: the cancelled sum stays stored", got)
	}
	// Half precision: 2048 + 1 + 1 is 2050 when rounded once.
	bits := []uint16{Float16Bits(2048), Float16Bits(1), Float16Bits(1)}
	half, _ := ArrayOfHalf(Float16, bits)
	b, err := FromCoords([]int64{1}, Dense(1), [][]int64{{0, 0, 0}}, half)
	if err != nil || b.At(0).Float64() != 2050 {
		t.Errorf("f16 sum %v, %v, want 2050", b, err)
	}
}

func TestScalars(t *testing.T) {
	a := ScalarTensor(Float(Float32, 1.5))
	if a.Rank() != 0 || a.NNZ() != 1 || a.At() != Float(Float32, 1.5) || a.DType() != Float32 {
		t.Errorf("scalar tensor %v", a)
	}
	b, err := FromCoords[int64](nil, Format{}, nil, f64(1, 2, 3))
	if err != nil || b.At().Float64() != 6 {
		t.Errorf("%v, %v: three entries of a scalar sum to %v, want 6", b, err, b.At())
	}
	c, err := FromCoords[int64](nil, Dense(0), nil, f64(), WithFill(Float(Float64, 7)))
	if err != nil || c.At().Float64() != 7 {
		t.Errorf("%v, %v: a scalar without entries is %v, want its fill 7", c, err, c.At())
	}
	if got := ScalarTensor(Scalar{}).DType(); got != Float64 {
		t.Errorf("no scalar makes a tensor of %v", got)
	}
}

func TestFromCoordsErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		shape    []int64
		format   Format
		coords   [][]int64
		values   Array
		position int64
		want     string
	}{
		{"axes", []int64{2, 2}, CSR, [][]int64{{0}}, f64(1), -1, "coordinates for 1 axes"},
		{"length", []int64{2, 2}, CSR, [][]int64{{0}, {0, 1}}, f64(1), -1, "axis 1 has 2 coordinates"},
		{"range", []int64{2, 2}, CSR, [][]int64{{0, 2}, {0, 1}}, f64(1, 2), 1, "coordinate 2 of entry 1 is out of range: axis 0"},
		{"negative", []int64{2, 2}, CSR, [][]int64{{0, -1}, {0, 1}}, f64(1, 2), 1, "coordinate -1"},
		{"empty axis", []int64{0}, CSF(1), [][]int64{{0}}, f64(1), 0, "size 0"},
		{"rank", []int64{2}, CSR, nil, f64(), -1, "1 dimensions"},
		{"too many pointers", []int64{math.MaxInt64, 2}, CSR, [][]int64{{5}, {1}}, f64(1), -1, "use DC or S instead of C"},
		{"too much memory", []int64{1 << 45, 2}, CSR, [][]int64{{5}, {1}}, f64(1), -1, "use DC or S instead of C"},
		{"positions overflow", []int64{1 << 40, 1 << 40, 2}, mustFormat([]LevelKind{C, C, S}, nil), [][]int64{{5}, {1}, {0}}, f64(1), -1, "use DC or S instead of C"},
		{"block too large", []int64{2, 1 << 50}, mustFormat([]LevelKind{S, D}, nil), [][]int64{{1}, {1}}, f64(1), -1, "available"},
		{"blocks overflow", []int64{2, math.MaxInt64}, mustFormat([]LevelKind{S, D}, nil), [][]int64{{0, 1}, {1, 1}}, f64(1, 1), -1, "more than 2^63-1 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromCoords(c.shape, c.format, c.coords, c.values, WithName("B"))
			var e *FormatError
			if !errors.As(err, &e) || e.Tensor != "B" || e.Position != c.position || !strings.Contains(e.Error(), c.want) {
				t.Errorf("error %v, want position %d, %q", err, c.position, c.want)
			}
		})
	}
}

func TestFromDenseErrors(t *testing.T) {
	for _, c := range []struct {
		shape  []int64
		values Array
		want   string
	}{
		{[]int64{2, 2}, f64(1, 2, 3), "3 values for 4"},
		{[]int64{2}, f64(1, 2), "1 dimensions"},
		{[]int64{1 << 40, 1 << 40}, f64(), "2^63-1"},
	} {
		if _, err := FromDense(c.shape, CSR, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("FromDense(%v): error %v, want %q", c.shape, err, c.want)
		}
	}
}

func TestConvertFill(t *testing.T) {
	inf := WithFill(Float(Float64, math.Inf(1)))
	dense, err := FromDense([]int64{2, 2}, Dense(2), f64(math.Inf(1), 1, 0, math.Inf(1)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := dense.Convert(CSR, inf)
	if err != nil || a.NNZ() != 2 || a.At(0, 0).String() != "inf" || a.At(1, 0).String() != "0" {
		t.Errorf("%v, %v: dense to CSR with fill inf", a, err)
	}
	if _, err := a.Convert(COO, WithFill(Float(Float64, 0))); err == nil || !strings.Contains(err.Error(), "convert to D first") {
		t.Errorf("changing the fill of a sparse tensor: error %v", err)
	}
	if b, err := a.Convert(COO, inf); err != nil || b.Fill() != a.Fill() {
		t.Errorf("the same fill is refused: %v", err)
	}
	zeros, err := FromDense([]int64{3}, CSF(1), f64(0, math.Copysign(0, -1), 1))
	if err != nil || zeros.NNZ() != 2 {
		t.Errorf("%v, %v: -0.0 is not the fill 0 and must be stored", zeros, err)
	}
}

func TestConvertErrors(t *testing.T) {
	huge, err := FromCoords([]int64{1 << 40, 1 << 40}, COO, [][]int64{{1 << 39}, {5}}, f64(1), WithName("H"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{CSR, Dense(2), mustFormat([]LevelKind{S, D}, nil), CSF(3)} {
		if got, err := huge.Convert(f); err == nil || !strings.Contains(err.Error(), `"H"`) {
			t.Errorf("%v: error %v, want one that names the tensor", got, err)
		}
	}
	if _, err := huge.ToDense(); err == nil || !strings.Contains(err.Error(), "no dense form") {
		t.Errorf("dense form of %v: error %v", huge, err)
	}
	if got, err := huge.Convert(DCSC); err != nil || got.At(1<<39, 5).Float64() != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestConvertEmptyBelowPositions converts a tensor whose outer levels have
// positions though nothing is stored under them.
func TestConvertEmptyBelowPositions(t *testing.T) {
	f := mustFormat([]LevelKind{DC, C, S}, nil)
	for _, size := range []int64{0, 2} {
		pos, _ := MakeArray(Uint32, int(2*size)+1)
		a, err := New([]int64{3, size, 2}, f, []Level{{Crd: u32(0, 2)}, {}, {Pos: pos, Crd: u32()}}, f64())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []Format{f, Coordinates(3), CSF(3), Dense(3)} {
			b, err := a.Convert(g)
			if err != nil {
				t.Errorf("size %d to %v: %v", size, g, err)
			} else if err := validate(b); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAtOutside(t *testing.T) {
	a, _ := FromCoords([]int64{2, 2}, CSR, [][]int64{{0}, {0}}, f64(1))
	for _, at := range [][]int64{{}, {0}, {0, 0, 0}, {2, 0}, {0, -1}} {
		if got := a.At(at...); got != (Scalar{}) {
			t.Errorf("at %v: %v, want no value", at, got)
		}
	}
}

func TestConvertShares(t *testing.T) {
	a, _ := FromCoords([]int64{2, 3}, CSR, [][]int64{{0, 1}, {1, 2}}, f64(1, 2))
	same, err := a.Convert(CSR)
	if err != nil || same.Values().Pointer() != a.Values().Pointer() {
		t.Error("conversion to the same format copies")
	}
	coo, err := a.Convert(COO)
	if err != nil || coo.Values().Pointer() != a.Values().Pointer() || coo.Levels()[1].Crd.Pointer() != a.Levels()[1].Crd.Pointer() {
		t.Error("CSR to COO copies columns or values")
	}
}
