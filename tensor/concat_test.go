package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cut splits a model in parts along an axis, at coordinates that ascend.
func (m model) cut(axis int, at []int64) []model {
	var parts []model
	lo := int64(0)
	for _, hi := range append(at, m.shape[axis]) {
		p := m
		p.shape = append([]int64{}, m.shape...)
		p.shape[axis] = hi - lo
		p.stored = map[string]Scalar{}
		each(p.shape, func(c []int64) {
			from := append([]int64{}, c...)
			from[axis] += lo
			if x, ok := m.stored[fmt.Sprint(from)]; ok {
				p.stored[fmt.Sprint(c)] = x
			}
		})
		parts = append(parts, p)
		lo = hi
	}
	return parts
}

// TestConcat joins the parts of a tensor, each in a format of its own.
func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		rank := len(m.shape)
		if rank == 0 {
			return
		}
		axis := rapid.IntRange(0, rank-1).Draw(t, "axis")
		var at []int64
		for c := int64(0); len(at) < rapid.IntRange(0, 3).Draw(t, "more"); {
			c = rapid.Int64Range(c, m.shape[axis]).Draw(t, "cut")
			at = append(at, c)
		}
		g := drawFormat(t, rank, "format")
		pos, crd := drawIndexTypes(t)
		same := rapid.Bool().Draw(t, "same format")
		var parts []*Tensor
		keepsBlocks := same // explicit zeros in blocks stay
		sparse := g.SparseRank() == rank
		for _, p := range m.cut(axis, at) {
			f := g
			if !same {
				f = drawFormat(t, rank, "part")
			}
			sparse = sparse && f.SparseRank() == rank
			parts = append(parts, p.build(t, f, WithIndexTypes(pos, crd)))
		}
		got, err := Concat(axis, g, parts...)
		if err != nil {
			t.Fatal(err)
		}
		if sparse || keepsBlocks {
			m.check(t, got)
			if d := Diff(got, m.build(t, g)); d != "" {
				t.Fatal(d)
			}
		} else {
			checkElements(t, m, got)
		}
		if keepsBlocks && !g.IsDense() {
			checkIndexTypes(t, got, commonPos(parts[0], pos), crd)
		}
	})
}

// checkElements is check without the number of stored values.
func checkElements(t *rapid.T, m model, a *Tensor) {
	t.Helper()
	if err := validate(a); err != nil {
		t.Fatalf("%v breaks the rules: %v", a, err)
	}
	each(m.shape, func(at []int64) {
		want, ok := m.stored[fmt.Sprint(at)]
		if !ok {
			want = m.fill
		}
		if got := a.At(at...); !got.Same(want) {
			t.Fatalf("%v at %v is %v, want %v", a, at, got, want)
		}
	})
}

// TestConcatLarge joins extents that need wider indices together than alone.
func TestConcatLarge(t *testing.T) {
	const n = int64(1)<<32 - 1
	a, err := FromCoords([]int64{n}, CSF(1), [][]int64{{0, n - 1}}, f64(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Concat(0, CSF(1), a, a, a)
	if err != nil {
		t.Fatal(err)
	}
	crd, _ := b.Indices(0)
	if crd.DType() != Uint64 || b.At(3*n-1).Float64() != 2 || b.At(n).Float64() != 1 || b.NNZ() != 6 {
		t.Errorf("%v with %v indices", b, crd.DType())
	}
	if crd, _ := a.Indices(0); crd.DType() != Uint32 {
		t.Errorf("the parts have %v indices", crd.DType())
	}
}

func TestConcatErrors(t *testing.T) {
	of := func(name string, fill float64, shape ...int64) *Tensor {
		a, err := FromCoords(shape, Coordinates(len(shape)), make([][]int64, len(shape)), f64(), WithFill(Float(Float64, fill)), WithName(name))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := of("A", 0, 2, 3)
	i32, err := FromCoords([]int64{2, 3}, COO, make([][]int64, 2), ArrayOf([]int32{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		axis   int
		format Format
		list   []*Tensor
		want   string
	}{
		{0, COO, nil, "nothing to concatenate"},
		{2, COO, []*Tensor{a}, "axis 2: the tensors have 2 axes, counted from 0"},
		{-1, COO, []*Tensor{a}, "axis -1"},
		{0, COO, []*Tensor{a, nil}, "tensor 1 of those to concatenate is nil"},
		{0, COO, []*Tensor{a, i32}, "tensor 1 has elements of type i32 and the first has f64: convert one of them"},
		{0, COO, []*Tensor{a, of("B", math.Inf(1), 2, 3)}, `tensor "B": tensor 1 has the fill inf and the first has 0`},
		{0, COO, []*Tensor{a, of("B", 0, 2, 4)}, `tensor "B": tensor 1 has the shape 2x4 and the first has 2x3: they must agree but in axis 0`},
		{0, COO, []*Tensor{a, of("B", 0, 6)}, "they must agree but in axis 0"},
		{0, COO, []*Tensor{of("", 0, math.MaxInt64, 2), of("B", 0, 1, 2)}, "more than 2^63-1 coordinates in axis 0"},
		{0, CSF(3), []*Tensor{a, a}, "has 3 levels"},
		{0, Dense(2), []*Tensor{of("", 0, math.MaxInt64, 2)}, "more than 2^63-1 elements"},
		{0, Coordinates(0), []*Tensor{ScalarTensor(One(Float64))}, "the tensors have 0 axes"},
	} {
		if _, err := Concat(c.axis, c.format, c.list...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("axis %d of %v: error %v, want %q", c.axis, c.list, err, c.want)
		}
	}
}

// TestConcatRefusesShapes: tensors that differ in an axis before or after the one that they are joined along, or in rank.
func TestConcatRefusesShapes(t *testing.T) {
	ofShape := func(shape ...int64) *Tensor {
		a, err := FromCoords(shape, Coordinates(3), [][]int64{{0}, {0}, {0}}, ArrayOf([]float64{1}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ofShape(2, 3, 4)
	for _, b := range []*Tensor{ofShape(1, 3, 4), ofShape(2, 3, 1), ofShape(1, 3, 1)} {
		if _, err := ConcatShape(1, []*Tensor{a, b}); err == nil {
			t.Errorf("a tensor of shape %v is joined to one of %v along axis 1", b.Shape(), a.Shape())
		}
	}
	if shape, err := ConcatShape(1, []*Tensor{a, ofShape(2, 5, 4)}); err != nil || shape[1] != 8 {
		t.Error(shape, err)
	}
}
