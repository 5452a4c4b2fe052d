package tensor

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/parts"
	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// blocks is the number of blocks of values: the positions of the last sparse level,
// or what it groups; 1 if there is none.
func (t *Tensor) blocks() int {
	last := t.format.SparseRank() - 1
	if t.format.grouped() {
		group := t.levels[last].Group
		return int(group.At64(group.n - 1))
	}
	return int(t.positions(last))
}

// ascend sets coords to the coordinates that a level has at positions, which ascend, and replaces each position by that of its parent. In the
// last sparse level of a multigraph positions are those of the values, or blocks of them, that it groups.
func (t *Tensor) ascend(level int, positions, coords []int64) {
	l := &t.levels[level]
	if t.format.grouped() && level == t.format.SparseRank()-1 {
		parentsUnder(l.Group, positions)
	}
	l.schema().Ascend(l, positions, coords)
}

// listedAtOnce is for how many entries coordinates are found level by level, which stay in the cache meanwhile, and listWorth how
// many are worth a goroutine.
const (
	listedAtOnce = 1 << 11
	listWorth    = 1 << 16
)

// list lists n of what the first levels of the tensor store, all of them or those before the dense blocks: what kept names, which ascends. The values
// are left in place. Coordinates that are stored for every entry are shared where widths allow.
func (t *Tensor) list(levels, n int, kept column.Permutation) (entries, error) {
	order, sparse, unique := t.format.Order(), t.format.SparseRank(), t.format.unique()
	e := entries{n: n, values: t.values, block: blockLen(t.levels[levels:]), distinct: unique, cols: make([]column.Column, t.Rank())}
	if t.format.ascends() && (unique || levels == sparse) {
		e.order = order[:levels]
	}
	top, under := levels, Array{} // the levels to go up through, and the pointers to what is there
	var err error
	if segments := t.format.segments(); kept.Identity() && levels == sparse && levels > 0 && !t.format.grouped() && !t.format.Extended() {
		top = segments[len(segments)-1].first
		under = t.levels[top].Pos
	}
	for k, l := range t.levels[:levels] {
		if k < top {
			e.cols[order[k]], err = column.Make(n, maxCoordinate(l.Size))
		} else {
			e.cols[order[k]], err = widened(l.Crd, maxCoordinate(l.Size))
		}
		if err != nil {
			return entries{}, err
		}
	}
	if top == 0 {
		return e, nil
	}
	parts.Do(n, listWorth, func(_, lo, hi int) {
		var positions, coords [listedAtOnce]int64
		for ; lo < hi; lo += listedAtOnce {
			at := positions[:min(listedAtOnce, hi-lo)]
			for i := range at {
				at[i] = int64(kept.At(lo + i))
			}
			if under.n > 0 {
				parentsUnder(under, at)
			}
			for k := top - 1; k >= 0; k-- {
				t.ascend(k, at, coords[:len(at)])
				e.cols[order[k]].Put(lo, coords[:len(at)])
			}
		}
	})
	return e, nil
}

// blockEntries lists the stored positions, each with its dense block of
// values.
func (t *Tensor) blockEntries() (entries, error) {
	return t.list(t.format.SparseRank(), t.blocks(), column.Permutation{})
}

// allEntries lists the values of the whole tensor, in its canonical form.
func (t *Tensor) allEntries() (entries, error) {
	whole, err := t.Canonical()
	if err != nil {
		return entries{}, err
	}
	e, err := whole.valueEntries()
	if err != nil {
		return e, tensorError("%v", err)
	}
	return e, nil
}

// valueEntries lists stored values one by one. Of the values in dense blocks
// it leaves out those that equal the fill.
func (t *Tensor) valueEntries() (entries, error) {
	if t.block() == 1 && t.format.SparseRank() == t.Rank() {
		return t.blockEntries()
	}
	kept, err := column.Choose(t.values.n, t.differFromFill(1))
	if err != nil {
		return entries{}, err
	}
	e, err := t.list(t.Rank(), kept.Len(), kept)
	if err != nil || kept.Identity() {
		return e, err
	}
	values, err := gather(t.values, kept)
	e.values = values
	return e, err
}

// elementEntries lists all stored values, with coordinates for every axis.
func (t *Tensor) elementEntries() (entries, error) {
	return t.list(t.Rank(), t.values.n, column.Permutation{})
}

// differFromFill returns the test of one block of so many stored values against the fill: whether one of them differs in any
// bit, but for a fill of NaN from every NaN.
func (t *Tensor) differFromFill(block int) func(i int) bool {
	if t.fill.IsNaN() || t.values.dt.Size() > 8 {
		fill := t.fill.canonical()
		return func(i int) bool {
			for j := i * block; j < (i+1)*block; j++ {
				if t.values.Scalar(j).canonical() != fill {
					return true
				}
			}
			return false
		}
	}
	bits := t.fill.storage()
	switch t.values.dt.Size() {
	case 1:
		return someUnequal(View[uint8](t.values), uint8(bits), block)
	case 2:
		return someUnequal(View[uint16](t.values), uint16(bits), block)
	case 4:
		return someUnequal(View[uint32](t.values), uint32(bits), block)
	}
	return someUnequal(View[uint64](t.values), bits, block)
}

func someUnequal[T comparable](values []T, fill T, block int) func(i int) bool {
	if block == 1 {
		return func(i int) bool { return values[i] != fill }
	}
	return func(i int) bool {
		for _, v := range values[i*block : (i+1)*block] {
			if v != fill {
				return true
			}
		}
		return false
	}
}

// gather returns the elements that perm names.
func gather(a Array, perm column.Permutation) (Array, error) {
	out, err := MakeArray(a.dt, perm.Len())
	if err != nil {
		return Array{}, err
	}
	switch a.dt.Size() {
	case 1:
		gatherAs[uint8](out, a, perm)
	case 2:
		gatherAs[uint16](out, a, perm)
	case 4:
		gatherAs[uint32](out, a, perm)
	case 8:
		gatherAs[uint64](out, a, perm)
	case 16:
		gatherAs[complex128](out, a, perm)
	default:
		panic(fmt.Sprintf("BUG: gather of elements of %d bytes", a.dt.Size()))
	}
	return out, nil
}

func gatherAs[T Element](to, from Array, perm column.Permutation) {
	column.Gather(View[T](to), View[T](from), perm)
}

// scatterDense writes the values of tensors, which follow each other along an axis, into a dense array of a shape whose
// axes are in the given order, the last the fastest.
func scatterDense(shape []int64, order []int, memory *memoryLimit, axis int, tensors ...*Tensor) (Array, error) {
	total, ok := product(shape)
	if !ok {
		return Array{}, tensorError("shape %s has more than 2^63-1 elements: it has no dense form", shapeString(shape))
	}
	first := tensors[0]
	if err := memory.admit(total, first.DType().Size()); err != nil {
		return Array{}, tensorError("%v", err)
	}
	out, err := MakeArray(first.DType(), int(total))
	if err != nil {
		return Array{}, tensorError("%v", err)
	}
	if total == 0 {
		return out, nil
	}
	strides := make([]int, len(shape)) // by logical axis
	stride := 1
	for _, axis := range slices.Backward(order) {
		strides[axis] = stride
		stride *= int(shape[axis])
	}
	stored := 0
	for _, t := range tensors {
		stored += t.values.n
	}
	if stored < out.n {
		fillArray(out, first.fill)
	}
	begin := 0
	for k, t := range tensors {
		if k > 0 {
			begin += int(tensors[k-1].shape[axis]) * strides[axis]
		}
		if t.values.n == 0 {
			continue
		}
		e, err := t.blockEntries()
		if err != nil {
			return Array{}, tensorError("%v", err)
		}
		t.scatter(out.Slice(begin, out.n), e, strides)
	}
	return out, nil
}

// scatter writes entries of the tensor, with their blocks, to a dense array with
// the given strides of the axes.
func (t *Tensor) scatter(out Array, e entries, strides []int) {
	switch out.dt.Size() {
	case 1:
		scatterAs[uint8](t, out, e, strides)
	case 2:
		scatterAs[uint16](t, out, e, strides)
	case 4:
		scatterAs[uint32](t, out, e, strides)
	case 8:
		scatterAs[uint64](t, out, e, strides)
	default:
		scatterAs[complex128](t, out, e, strides)
	}
}

// scatterAs is scatter for elements of one width.
func scatterAs[T Element](t *Tensor, out Array, e entries, strides []int) {
	to, from := View[T](out), View[T](e.values)
	sparse := t.format.SparseRank()
	copyBlock := blockCopier(t, to, from, strides)
	for i := range e.n {
		base := 0
		for _, axis := range t.format.order[:sparse] {
			base += int(e.cols[axis].At(i)) * strides[axis]
		}
		if e.block == 1 {
			to[base] = from[i]
		} else {
			copyBlock(0, base, i*e.block)
		}
	}
}

// blockCopier copies a dense block of the tensor, which begins at src, to places from at on that are strides apart: level by level from k on, but for the
// two whose elements stand side by side in the block and there. These go by squares of which both sides stay in the cache.
func blockCopier[T Element](t *Tensor, to, from []T, strides []int) (copyBlock func(k, at, src int)) {
	type dim struct{ size, to, from int }
	var others []dim
	inner, side := dim{size: 1}, dim{size: 1}
	n := 1
	for k := t.Rank() - 1; k >= t.format.SparseRank(); k-- {
		axis := t.format.order[k]
		d := dim{int(t.shape[axis]), strides[axis], n}
		n *= d.size
		switch {
		case k == t.Rank()-1:
			inner = d
		case d.to == 1 && d.size > 1:
			side = d
		default:
			others = append(others, d)
		}
	}
	slices.Reverse(others)
	const square = 32
	copyBlock = func(k, at, src int) {
		if k < len(others) {
			for range others[k].size {
				copyBlock(k+1, at, src)
				at, src = at+others[k].to, src+others[k].from
			}
			return
		}
		if side.size == 1 {
			for j, v := range from[src : src+inner.size] {
				to[at+j*inner.to] = v
			}
			return
		}
		for i0 := 0; i0 < side.size; i0 += square {
			for j0 := 0; j0 < inner.size; j0 += square {
				for j := j0; j < min(j0+square, inner.size); j++ {
					for i := i0; i < min(i0+square, side.size); i++ {
						to[at+j*inner.to+i] = from[src+i*side.from+j]
					}
				}
			}
		}
	}
	return copyBlock
}
