package tensor

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// coordinates returns, for each sparse level k (all before the trailing dense
// ones), the coordinate of every block of values. The columns of the last segment
// are the stored arrays where widths allow.
func (t *Tensor) coordinates() ([]column.Column, error) {
	sparse := t.format.SparseRank()
	cols := make([]column.Column, sparse)
	if sparse == 0 {
		return cols, nil
	}
	n := t.blocks()
	if n == 0 {
		return t.noCoordinates(cols)
	}
	// begin holds where the blocks of each level's positions begin among those of
	// all: composed of the Pos arrays from the end.
	var begin column.Column
	var err error
	rest := sparse // the levels still to do
	if t.format.grouped() {
		begin, err = widened(t.levels[sparse-1].Group, uint64(n))
	} else {
		segments := t.format.segments()
		last := segments[len(segments)-1]
		for k := last.first; k <= last.last; k++ {
			if cols[k], err = widened(t.levels[k].Crd, maxCoordinate(t.levels[k].Size)); err != nil {
				return nil, err
			}
		}
		rest = last.first
		begin, err = widened(t.levels[last.first].Pos, uint64(n))
	}
	if err != nil {
		return nil, err
	}
	for k := rest - 1; k >= 0; k-- {
		l := t.levels[k]
		if cols[k], err = t.spread(l, begin, n); err != nil {
			return nil, err
		}
		switch {
		case l.Full():
			begin, err = everyNth(begin, l.Size)
		case l.Ranges():
			begin, err = compose(l.Pos, begin)
		}
		if err != nil {
			return nil, err
		}
	}
	return cols, nil
}

// blocks is the number of blocks of values: the positions of the last sparse level,
// or what it groups; 1 if there is none.
func (t *Tensor) blocks() int {
	last := t.format.SparseRank() - 1
	switch {
	case last < 0:
		return 1
	case t.format.grouped():
		group := t.levels[last].Group
		return int(group.At64(group.n - 1))
	}
	return t.levels[last].Crd.n
}

// noCoordinates sets the columns of a tensor without stored positions. Levels
// above may still have positions, over which there is no need to go.
func (t *Tensor) noCoordinates(cols []column.Column) (_ []column.Column, err error) {
	for k := range cols {
		if cols[k], err = column.Make(0, maxCoordinate(t.levels[k].Size)); err != nil {
			return nil, err
		}
	}
	return cols, nil
}

// spread repeats the coordinate of each position of a level for the entries
// that begin says are under it.
func (t *Tensor) spread(l Level, begin column.Column, n int) (column.Column, error) {
	col, err := column.Make(n, maxCoordinate(l.Size))
	if err != nil {
		return col, err
	}
	for p := range begin.Len() - 1 {
		lo, hi := int(begin.At(p)), int(begin.At(p+1))
		if lo == hi {
			continue
		}
		var c uint64
		if l.Full() {
			c = uint64(p) % uint64(l.Size)
		} else {
			c = uint64(l.Crd.At64(p))
		}
		if col.U32 != nil {
			fillSlice(col.U32[lo:hi], uint32(c))
		} else {
			fillSlice(col.U64[lo:hi], c)
		}
	}
	return col, nil
}

func fillSlice[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// everyNth is begin for the parents of a dense level of the given size, which is
// not 0 where there are entries.
func everyNth(begin column.Column, size int64) (column.Column, error) {
	n := (begin.Len() - 1) / int(size)
	out, err := column.Make(n+1, begin.Maximum())
	if err != nil {
		return column.Column{}, err
	}
	for p := range n + 1 {
		out.Set(p, begin.At(p*int(size)))
	}
	return out, nil
}

// compose maps begin, which has a place for each entry of a compressed level, to the parents of that level: its Pos says
// with which entry each parent begins.
func compose(pos Array, begin column.Column) (column.Column, error) {
	out, err := column.Make(pos.n, begin.At(begin.Len()-1))
	if err != nil {
		return column.Column{}, err
	}
	for p := range pos.n {
		out.Set(p, begin.At(int(pos.At64(p))))
	}
	return out, nil
}

// listed is the tensor with lists in the place of registered levels, and its coordinates.
func (t *Tensor) listed() (*Tensor, []column.Column, error) {
	list, err := t.Listed()
	if err != nil {
		return nil, nil, err
	}
	stored, err := list.coordinates()
	return list, stored, err
}

// blockEntries lists the stored positions, each with its dense block of
// values.
func (t *Tensor) blockEntries() (entries, error) {
	t, stored, err := t.listed()
	if err != nil {
		return entries{}, err
	}
	order := t.format.Order()
	e := entries{n: t.blocks(), values: t.values, block: t.block(), distinct: t.format.unique()}
	if t.format.ascends() {
		e.order = order[:len(stored)]
	}
	e.cols = make([]column.Column, t.Rank())
	for k, col := range stored {
		e.cols[order[k]] = col
	}
	return e, nil
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
	e, err := t.elementEntries(kept, kept.Len())
	if err != nil || kept.Identity() {
		return e, err
	}
	values, err := gather(t.values, kept)
	e.values = values
	return e, err
}

// elementEntries lists the first n of the stored values that kept names, with
// coordinates for every axis. The values are left in place.
func (t *Tensor) elementEntries(kept column.Permutation, n int) (entries, error) {
	t, stored, err := t.listed()
	if err != nil {
		return entries{}, err
	}
	order := t.format.Order()
	e := entries{n: n, values: t.values, block: 1, distinct: t.format.unique()}
	if t.format.ascends() && t.format.unique() {
		e.order = order
	}
	e.cols = make([]column.Column, t.Rank())
	inner := uint64(1) // values of one coordinate of the level
	for k := t.Rank() - 1; k >= 0; k-- {
		size := uint64(t.levels[k].Size)
		col, err := column.Make(n, maxCoordinate(t.levels[k].Size))
		if err != nil {
			return entries{}, err
		}
		if k < len(stored) {
			for i := range n {
				col.Set(i, stored[k].At(int(uint64(kept.At(i))/inner)))
			}
		} else {
			for i := range n {
				col.Set(i, uint64(kept.At(i))/inner%size)
			}
			inner *= size
		}
		e.cols[order[k]] = col
	}
	return e, nil
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

// scatterAs is scatter for elements of one width. The dense levels within
// a block are walked like an odometer, the innermost in a plain loop.
func scatterAs[T Element](t *Tensor, out Array, e entries, strides []int) {
	to, from := View[T](out), View[T](e.values)
	axes := t.format.Order()
	sparse := t.format.SparseRank()
	inner, innerStride := 1, 1
	outer := axes[sparse:]
	if len(outer) > 0 {
		last := outer[len(outer)-1]
		inner, innerStride = int(t.shape[last]), strides[last]
		outer = outer[:len(outer)-1]
	}
	at := make([]int, len(outer))
	for i := range e.n {
		base := 0
		for _, axis := range axes[:sparse] {
			base += int(e.cols[axis].At(i)) * strides[axis]
		}
		row := from[i*e.block : (i+1)*e.block]
		for len(row) > 0 {
			for j := range inner {
				to[base+j*innerStride] = row[j]
			}
			row = row[inner:]
			for d := len(outer) - 1; d >= 0; d-- {
				axis := outer[d]
				at[d]++
				base += strides[axis]
				if at[d] < int(t.shape[axis]) {
					break
				}
				base -= at[d] * strides[axis]
				at[d] = 0
			}
		}
	}
}
