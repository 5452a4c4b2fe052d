package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func u32(v ...uint32) Array  { return ArrayOf(v) }
func f64(v ...float64) Array { return ArrayOf(v) }

func TestNewErrors(t *testing.T) {
	csr := func(pos, crd Array) []Level { return []Level{{}, {Pos: pos, Crd: crd}} }
	coo := func(rows, cols Array) []Level { return []Level{{Crd: rows}, {Crd: cols}} }
	shape := []int64{3, 4}
	for _, c := range []struct {
		name     string
		shape    []int64
		format   Format
		levels   []Level
		values   Array
		level    int
		position int64
		want     string
	}{
		{"rank", []int64{3}, CSR, csr(u32(0, 0, 0, 0), u32()), f64(), -1, -1, "1 dimensions, format CSR has 2 levels"},
		{"negative size", []int64{3, -4}, CSR, csr(u32(0, 0, 0, 0), u32()), f64(), -1, -1, "axis 1 has the size -4"},
		{"level count", shape, CSR, nil, f64(), -1, -1, "0 levels given"},
		{"no pointers", shape, CSR, []Level{{}, {Crd: u32()}}, f64(), 0, -1, "pointers_0 is missing"},
		{"no indices", shape, CSR, []Level{{}, {Pos: u32(0, 0, 0, 0)}}, f64(), 1, -1, "indices_1 is missing"},
		{"indices of C", shape, CSR, []Level{{Crd: u32(0)}, {Pos: u32(0, 0, 0, 0), Crd: u32()}}, f64(), 0, -1, "dense level"},
		{"pointers of a singleton", shape, COO, []Level{{Crd: u32()}, {Pos: u32(0), Crd: u32()}}, f64(), 1, -1, "singleton level"},
		{"float pointers", shape, CSR, csr(f64(0, 0, 0, 0), u32()), f64(), 1, -1, "f64"},
		{"bool values", []int64{2}, Dense(1), []Level{{}}, ArrayAt(Bool, ArrayOf([]uint8{1, 2}).Pointer(), 2), -1, 1, "the byte 2"},
		{"no values", []int64{2}, Dense(1), []Level{{}}, Array{}, -1, -1, "no element type"},
		{"short pointers", shape, CSR, csr(u32(0, 0, 0), u32()), f64(), 0, -1, "has 3 elements: it must have 4"},
		{"empty pointers", shape, CSR, csr(u32(), u32()), f64(), 0, -1, "has 0 elements"},
		{"pointers start at 1", shape, CSR, csr(u32(1, 1, 1, 1), u32(0)), f64(1), 0, 0, "pointers start at 0"},
		{"pointers fall", shape, CSR, csr(u32(0, 2, 1, 2), u32(0, 1)), f64(1, 2), 0, 2, "pointers_0[2] = 1 is below 2"},
		{"pointers too long", shape, CSR, csr(u32(0, 1, 2, 3), u32(0, 1)), f64(1, 2), 0, 3, "indices_1 has 2 elements"},
		{"pointers too short", shape, CSR, csr(u32(0, 1, 1, 1), u32(0, 1)), f64(1, 2), 0, 3, "pointers_0 ends with 1"},
		{"negative pointer", shape, CSR, csr(ArrayOf([]int8{0, -1, 1, 2}), u32(0, 1)), f64(1, 2), 0, 2, "is below -1"},
		{"negative last pointer", shape, CSR, csr(ArrayOf([]int64{0, 1, 2, -1}), u32(0, 1)), f64(1, 2), 0, 3, "ends with -1"},
		{"column out of range", shape, CSR, csr(u32(0, 1, 2, 2), u32(0, 4)), f64(1, 2), 1, 1, "indices_1[1] = 4 is out of range: axis 1 has the size 4"},
		{"negative column", shape, CSR, csr(u32(0, 1, 2, 2), ArrayOf([]int8{0, -1})), f64(1, 2), 1, 1, "indices_1[1] = -1 is out of range"},
		{"unsorted columns", shape, CSR, csr(u32(0, 2, 2, 2), u32(1, 0)), f64(1, 2), 1, 1, "follows 1"},
		{"repeated column", shape, CSR, csr(u32(0, 0, 2, 2), u32(1, 1)), f64(1, 2), 1, 1, "unique"},
		{"values", shape, CSR, csr(u32(0, 1, 1, 1), u32(1)), f64(1, 2), -1, -1, "2 values for 1 stored positions"},
		{"unsorted rows", shape, COO, coo(u32(1, 0), u32(0, 0)), f64(1, 2), 0, 1, "ascend"},
		{"row out of range", shape, COO, coo(u32(0, 3), u32(0, 0)), f64(1, 2), 0, 1, "out of range"},
		{"unsorted in a row", shape, COO, coo(u32(1, 1), u32(2, 0)), f64(1, 2), 1, 1, "ascend"},
		{"repeated entry", shape, COO, coo(u32(1, 1), u32(2, 2)), f64(1, 2), 1, 1, "unique"},
		{"singleton out of range", shape, COO, coo(u32(1, 1), u32(2, 9)), f64(1, 2), 1, 1, "out of range"},
		{"lengths differ", shape, COO, coo(u32(1, 1), u32(2)), f64(1, 2), 1, -1, "the same number"},
		{"root pointers", shape, COO, []Level{{Pos: u32(0, 1), Crd: u32(0, 1)}, {Crd: u32(0, 1)}}, f64(1, 2), 0, 1, "root pointer array"},
		{"dense values", []int64{2, 2}, Dense(2), []Level{{}, {}}, f64(1), -1, -1, "1 values for 4"},
		{"dense overflow", []int64{1 << 40, 1 << 40}, Dense(2), []Level{{}, {}}, f64(), -1, -1, "2^63-1"},
		{"C overflow", []int64{1 << 40, 1 << 40, 2}, mustFormat([]LevelKind{C, C, S}, nil), []Level{{}, {}, {Pos: u32(0), Crd: u32()}}, f64(), 1, -1, "2^63-1"},
		{"C too long", []int64{1 << 62, 4}, CSR, csr(u32(0), u32()), f64(), 0, -1, "it must have 4611686018427387905"},
		{"empty row of DC", shape, DCSR, []Level{{Crd: u32(0, 2)}, {Pos: u32(0, 0, 1), Crd: u32(1)}}, f64(1), 0, 1, "pointers_0[1] = 0 repeats the pointer before it: a level that stores its coordinates has none with nothing under it, so leave out indices_0[0]"},
		{"group of no value", []int64{4}, mustParse(t, "DC(duplicates)", 1), []Level{{Crd: u32(0, 2), Group: u32(0, 2, 2)}}, f64(1, 2), 0, 2, "leave out indices_0[1]"},
		{"entry in an empty axis", []int64{0}, CSF(1), []Level{{Crd: u32(0)}}, f64(1), 0, 0, "out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := New(c.shape, c.format, c.levels, c.values, WithName("A"))
			var e *FormatError
			if !errors.As(err, &e) {
				t.Fatalf("made %v, error %v, want a FormatError", got, err)
			}
			if e.Tensor != "A" || e.Level != c.level || e.Position != c.position || !strings.Contains(e.Error(), c.want) {
				t.Errorf("error %+v, want level %d, position %d, %q", *e, c.level, c.position, c.want)
			}
		})
	}
}

func TestFormatErrorText(t *testing.T) {
	e := &FormatError{Tensor: "A", Level: 1, Position: 4, Msg: "too large"}
	if got, want := e.Error(), `tensor "A", level 1, position 4: too large`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tensorError("bad").Error(), "tensor: bad"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNewIndexTypes makes one matrix with every pair of index types.
func TestNewIndexTypes(t *testing.T) {
	want, err := New([]int64{3, 4}, CSR, []Level{{}, {Pos: u32(0, 2, 2, 3), Crd: u32(0, 3, 1)}}, f64(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	for pos := Int8; pos <= Uint64; pos++ {
		for crd := Int8; crd <= Uint64; crd++ {
			p, _ := u32(0, 2, 2, 3).Convert(pos)
			i, _ := u32(0, 3, 1).Convert(crd)
			got, err := New([]int64{3, 4}, CSR, []Level{{}, {Pos: p, Crd: i}}, f64(1, 2, 3))
			if err != nil {
				t.Fatalf("%v, %v: %v", pos, crd, err)
			}
			if d := Diff(got, want); d != "" {
				t.Errorf("%v, %v: %s", pos, crd, d)
			}
			if got.Levels()[1].Pos.DType() != pos || got.Levels()[1].Crd.DType() != crd {
				t.Error("the arrays were converted")
			}
			back, err := got.Convert(COOC)
			if err != nil {
				t.Fatal(err)
			}
			if back, err = back.Convert(CSR); err != nil || !Equal(back, want) {
				t.Errorf("%v, %v: by way of COOC: %v, %s", pos, crd, err, Diff(back, want))
			}
		}
	}
}

func TestNewShares(t *testing.T) {
	pos, crd, values := u32(0, 1, 1), u32(2), f64(5)
	a, err := New([]int64{2, 3}, CSR, []Level{{}, {Pos: pos, Crd: crd}}, values)
	if err != nil {
		t.Fatal(err)
	}
	gotPos, ok1 := a.Pointers(0)
	gotCrd, ok2 := a.Indices(1)
	if !ok1 || !ok2 || gotPos.Pointer() != pos.Pointer() || gotCrd.Pointer() != crd.Pointer() || a.Values().Pointer() != values.Pointer() {
		t.Error("arrays were copied")
	}
	if _, ok := a.Indices(0); ok {
		t.Error("a C level has indices")
	}
	for _, k := range []int{-1, 1, 2} {
		if _, ok := a.Pointers(k); ok {
			t.Errorf("level %d has pointers", k)
		}
	}
}

func TestNewNamedErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		levels string
		arrays map[string]Array
		level  int
		want   string
	}{
		{"unknown name", "C-S", map[string]Array{"pointers_0": u32(0, 0, 0), "indices_1": u32(), "rows": u32()}, -1, `"rows"`},
		{"leading zero", "C-S", map[string]Array{"indices_01": u32()}, -1, `"indices_01"`},
		{"level too high", "C-S", map[string]Array{"indices_7": u32()}, -1, "k = 0 to 1"},
		{"last pointers", "C-S", map[string]Array{"pointers_0": u32(0, 0, 0), "indices_1": u32(), "pointers_1": u32(0)}, 1, "S before the values"},
		{"pointers before C", "DC-C-S", map[string]Array{"pointers_0": u32(0)}, 0, "DC before C"},
		{"untyped", "C-S", map[string]Array{"indices_1": {}}, 1, "no element type"},
		{"not multiple", "S-C-S", map[string]Array{"indices_0": u32(0), "pointers_1": u32(0, 0), "indices_2": u32()}, 0, "multiple of 3"},
		{"not constant", "S-C-S", map[string]Array{"indices_0": u32(0, 0, 1), "pointers_1": u32(0, 0, 0, 0), "indices_2": u32()}, 0, "group"},
		{"missing expanded", "S-C-S", map[string]Array{"pointers_1": u32(0), "indices_2": u32()}, 0, "indices_0 is missing"},
		{"pointers not multiple", "C-S-C-S", map[string]Array{"pointers_0": u32(0, 1, 3), "indices_1": u32(0, 0, 0), "pointers_2": u32(0, 0, 0, 0), "indices_3": u32()}, 0, "multiple of 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kinds := kindsOf(c.levels)
			shape := []int64{2, 3, 4}[:len(kinds[:min(3, len(kinds))])]
			if len(kinds) == 4 {
				shape = []int64{2, 2, 3, 4}
			}
			_, err := NewNamedLevels(shape, kinds, nil, c.arrays, f64())
			var e *FormatError
			if !errors.As(err, &e) || e.Level != c.level || !strings.Contains(e.Error(), c.want) {
				t.Errorf("error %v, want level %d, %q", err, c.level, c.want)
			}
		})
	}
}

func TestFillOption(t *testing.T) {
	for _, c := range []struct {
		fill Scalar
		dt   DType
		want string // "" for an error
	}{
		{Float(Float64, math.Inf(1)), Float32, "inf"},
		{Float(Float64, 0.1), Float16, "0.1"},
		{Float(Float64, 3), Int8, "3"},
		{Float(Float64, math.NaN()), Float64, "nan"},
		{Int(Int64, 1), Bool, "true"},
		{Float(Float64, 2.5), Int8, ""},
		{Float(Float64, math.Inf(1)), Int64, ""},
		{Int(Int64, 300), Uint8, ""},
		{Int(Int64, 2), Bool, ""},
		{Complex(Complex128, 1i), Float64, ""},
		{Complex(Complex128, 1), Float64, "1"},
	} {
		values, _ := MakeArray(c.dt, 0)
		got, err := FromCoords([]int64{4}, CSF(1), [][]int64{{}}, values, WithFill(c.fill))
		switch {
		case c.want == "" && err == nil:
			t.Errorf("fill %v of %v is accepted as %v", c.fill, c.dt, got.Fill())
		case c.want != "" && (err != nil || got.Fill().String() != c.want || got.Fill().DType() != c.dt):
			t.Errorf("fill %v of %v gives %v, %v", c.fill, c.dt, got, err)
		}
	}
}

// TestNewNeverPanics gives New random arrays: it must refuse them or make a
// tensor that every method can read.
func TestNewNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(0, 3).Draw(t, "rank")
		f := drawFormat(t, rank, "format")
		shape := rapid.SliceOfN(rapid.Int64Range(0, 3), rank, rank).Draw(t, "shape")
		array := func(label string) Array {
			v := rapid.SliceOfN(rapid.Int8Range(-1, 3), 0, 4).Draw(t, label)
			if rapid.Bool().Draw(t, "sort "+label) {
				slices.Sort(v)
			}
			return ArrayOf(v)
		}
		levels := make([]Level, rank)
		for k, p := range f.Physical() {
			if p.Kind != DenseLevel {
				levels[k].Crd = array("crd")
			}
			if p.Kind == CompressedLevel && k > 0 {
				levels[k].Pos = array("pos")
			}
		}
		a, err := New(shape, f, levels, ArrayOf(rapid.SliceOfN(rapid.Float64(), 0, 8).Draw(t, "values")))
		if err != nil {
			return
		}
		coords, _, err := a.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(a.NNZ()) {
			at := make([]int64, rank)
			for axis := range at {
				at[axis] = coords[axis][i]
			}
			if got := a.At(at...); !got.Same(a.Values().Scalar(i)) {
				t.Fatalf("%v at %v is %v, entry %d is %v", a, at, got, i, a.Values().Scalar(i))
			}
		}
		if _, err := a.ToDense(); err != nil {
			t.Fatal(err)
		}
	})
}
