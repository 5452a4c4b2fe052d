package tensor

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"
)

// This file has the model that operations are compared with.

// model is a tensor written out plainly: the reference of the tests here.
type model struct {
	shape  []int64
	coords [][]int64 // by axis, as drawn: unsorted, with duplicates
	values Array
	fill   Scalar
	stored map[string]Scalar // by fmt.Sprint of the coordinate
}

// drawModel draws a tensor; its values are whole numbers (or Bools) whose sums
// are exact in every type.
func drawModel(t *rapid.T, maxRank int) model {
	rank := rapid.IntRange(0, maxRank).Draw(t, "rank")
	dt := drawDType(t)
	m := model{shape: rapid.SliceOfN(rapid.Int64Range(0, 4), rank, rank).Draw(t, "shape"), stored: map[string]Scalar{}}
	m.fill = Zero(dt)
	switch {
	case rapid.Bool().Draw(t, "zero fill"):
	case dt.IsFloat():
		m.fill = Float(dt, rapid.SampledFrom([]float64{1, math.Inf(1), math.NaN(), math.Copysign(0, -1)}).Draw(t, "fill"))
	case dt.IsComplex():
		m.fill = Complex(dt, rapid.SampledFrom([]complex128{1i, complex(math.NaN(), 1)}).Draw(t, "fill"))
	default:
		m.fill = One(dt)
	}
	n := 0
	if size, _ := product(m.shape); size > 0 {
		n = rapid.IntRange(0, 12).Draw(t, "n")
	}
	m.values, _ = MakeArray(dt, n)
	m.coords = make([][]int64, rank)
	for axis := range m.coords {
		m.coords[axis] = make([]int64, n)
	}
	for i := range n {
		at := make([]int64, rank)
		for axis, size := range m.shape {
			at[axis] = rapid.Int64Range(0, size-1).Draw(t, "c")
			m.coords[axis][i] = at[axis]
		}
		m.add(i, at, Int(dt, rapid.Int64Range(0, 4).Draw(t, "v"))) // explicit zeros too
	}
	return m
}

// add sets value i, whose coordinate is at.
func (m model) add(i int, at []int64, x Scalar) {
	m.values.SetScalar(i, x)
	if old, ok := m.stored[fmt.Sprint(at)]; ok {
		if x.dt == Bool {
			x = Truth(old.Bool() || x.Bool())
		} else {
			x = Complex(x.dt, old.Complex128()+x.Complex128())
		}
	}
	m.stored[fmt.Sprint(at)] = x
}

// at is the element at a coordinate.
func (m model) at(at []int64) Scalar {
	if x, ok := m.stored[fmt.Sprint(at)]; ok {
		return x
	}
	return m.fill
}

// each calls visit with every coordinate of the shape in row-major order.
func each(shape []int64, visit func(at []int64)) {
	if slices.Contains(shape, 0) {
		return
	}
	at := make([]int64, len(shape))
	for {
		visit(at)
		axis := len(at) - 1
		for ; axis >= 0; axis-- {
			if at[axis]++; at[axis] < shape[axis] {
				break
			}
			at[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// check compares a tensor with the model, element by element.
func (m model) check(t *rapid.T, a *Tensor) {
	t.Helper()
	m.checkMeaning(t, a)
	if !a.Format().Relaxed() && !a.Format().HasBlocks() && a.Rank() > 0 && a.NNZ() != int64(len(m.stored)) {
		t.Fatalf("%v, want %d stored", a, len(m.stored))
	}
}

// checkMeaning compares a tensor's elements with the model, whatever is stored.
func (m model) checkMeaning(t *rapid.T, a *Tensor) {
	t.Helper()
	if err := validate(a); err != nil {
		t.Fatalf("%v breaks the rules: %v", a, err)
	}
	dense, err := a.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	each(m.shape, func(at []int64) {
		want := m.at(at)
		if got := a.At(at...); !got.Same(want) {
			t.Fatalf("%v at %v is %v, want %v", a, at, got, want)
		}
		if got := dense.Scalar(i); !got.Same(want) {
			t.Fatalf("%v densely at %v is %v, want %v", a, at, got, want)
		}
		i++
	})
	if dense.Len() != i {
		t.Fatalf("%v has %d dense elements, want %d", a, dense.Len(), i)
	}
}

// withoutFill is the model with the values that equal the fill not stored.
func (m model) withoutFill() model {
	kept := map[string]Scalar{}
	for at, x := range m.stored {
		if !x.Same(m.fill) {
			kept[at] = x
		}
	}
	m.stored = kept
	return m
}
