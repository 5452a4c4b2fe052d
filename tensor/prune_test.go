package tensor

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// build stores what the model stores, in a format.
func (m model) build(t *rapid.T, f Format, opts ...Option) *Tensor {
	coords := make([][]int64, len(m.shape))
	var list []Scalar
	each(m.shape, func(at []int64) {
		if x, ok := m.stored[fmt.Sprint(at)]; ok {
			for axis, c := range at {
				coords[axis] = append(coords[axis], c)
			}
			list = append(list, x)
		}
	})
	values, err := MakeArray(m.values.dt, len(list))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		values.SetScalar(i, x)
	}
	a, err := FromCoords(m.shape, f, coords, values, append(opts, WithFill(m.fill))...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// drawIndexTypes draws types of index arrays wide enough for small tensors.
func drawIndexTypes(t *rapid.T) (pos, crd DType) {
	integer := func(label string) DType { return DType(rapid.IntRange(int(Int8), int(Uint64)).Draw(t, label)) }
	return integer("pos"), integer("crd")
}

// checkIndexTypes checks that all index arrays have the given types. Pointers may have any
// if pos is Invalid.
func checkIndexTypes(t *rapid.T, a *Tensor, pos, crd DType) {
	t.Helper()
	for k, l := range a.levels {
		if k > 0 && l.Kind == CompressedLevel && l.Pos.dt != pos && pos != Invalid || l.Kind != DenseLevel && l.Crd.dt != crd {
			t.Fatalf("level %d of %v has index types %v, %v, want %v, %v", k, a, l.Pos.dt, l.Crd.dt, pos, crd)
		}
	}
}

// TestPrune compares a pruned tensor with one that was made without the values that equal
// the fill.
func TestPrune(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		f := drawFormat(t, len(m.shape), "format")
		pos, crd := drawIndexTypes(t)
		a := m.build(t, f, WithIndexTypes(pos, crd))
		got, err := a.Prune()
		if err != nil {
			t.Fatal(err)
		}
		m.withoutFill().check(t, got)
		if d := Diff(got, m.withoutFill().build(t, f)); d != "" {
			t.Fatalf("%v pruned: %s", a, d)
		}
		checkIndexTypes(t, got, pos, crd)
		again, err := got.Prune()
		if err != nil || Diff(again, got) != "" || again.values != got.values {
			t.Fatalf("pruned twice: %v, %v: %s", again, err, Diff(again, got))
		}
	})
}

// TestPruneFills has the values whose equality with the fill has to be decided.
func TestPruneFills(t *testing.T) {
	nan, minus := math.NaN(), math.Copysign(0, -1)
	payload := math.Float64frombits(0x7ff8000000000001)
	for _, c := range []struct {
		fill float64
		kept []float64 // of 0, -0, NaN, a NaN with a payload, 1
	}{
		{0, []float64{minus, nan, payload, 1}},
		{minus, []float64{0, nan, payload, 1}},
		{nan, []float64{0, minus, 1}},
		{1, []float64{0, minus, nan, payload}},
	} {
		a, err := FromCoords([]int64{9}, CSF(1), [][]int64{{0, 2, 4, 6, 8}}, f64(0, minus, nan, payload, 1), WithFill(Float(Float64, c.fill)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Prune(WithName("P"))
		if err != nil {
			t.Fatal(err)
		}
		var got, want []uint64
		for _, x := range View[float64](p.Values()) {
			got = append(got, math.Float64bits(x))
		}
		for _, x := range c.kept {
			want = append(want, math.Float64bits(x))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || p.Name() != "P" {
			t.Errorf("fill %v: kept %x, want %x", c.fill, got, want)
		}
	}
}

// TestPruneEmptyFibres drops coordinates of a DC level that have nothing under them because
// of what was dropped.
func TestPruneEmptyFibres(t *testing.T) {
	levels := []Level{{Crd: u32(1, 7)}, {Pos: u32(0, 2, 3), Crd: u32(0, 5, 3)}}
	a, err := New([]int64{1 << 40, 1 << 40}, DCSR, levels, f64(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Prune()
	if err != nil {
		t.Fatal(err)
	}
	want, err := New(a.shape, DCSR, []Level{{Crd: u32(1)}, {Pos: u32(0, 1), Crd: u32(0)}}, f64(1))
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(p, want); d != "" {
		t.Error(d)
	}
}

// TestPruneShares keeps the arrays of levels from which nothing goes.
func TestPruneShares(t *testing.T) {
	a, err := FromCoords([]int64{2, 3}, CSR, [][]int64{{0, 1}, {1, 2}}, f64(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Prune()
	if err != nil || p.values != a.values || p.levels[1] != a.levels[1] {
		t.Errorf("%v, %v does not share the arrays of a tensor without explicit zeros", p, err)
	}
	if _, err := a.Prune(WithFill(One(Float64))); err == nil {
		t.Error("the fill was changed")
	}
}

// TestPruneSharesOuterLevels: where an entry goes and no row with it, the rows are those of before.
func TestPruneSharesOuterLevels(t *testing.T) {
	a, err := FromCoords([]int64{4, 4}, DCSR, [][]int64{{1, 1, 3}, {0, 2, 1}}, ArrayOf([]float64{5, 0, 7}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.Prune()
	if err != nil {
		t.Fatal(err)
	}
	if out.NNZ() != 2 || out.LevelAt(0).Crd.Pointer() != a.LevelAt(0).Crd.Pointer() || out.LevelAt(0).Pos.Pointer() != a.LevelAt(0).Pos.Pointer() {
		t.Errorf("%d entries; the rows are copied", out.NNZ())
	}
}
