package tensor

import (
	"fmt"
	"iter"
)

// Indices are the elements of an index array, whatever its type.
type Indices struct {
	narrow []uint32
	wide   []int64 // also the bits of u64
	other  Array
}

func indicesOf(a Array) Indices {
	switch a.dt {
	case Uint32:
		return Indices{narrow: View[uint32](a)}
	case Int64, Uint64:
		return Indices{wide: View[int64](a)}
	}
	return Indices{other: a}
}

// String is the elements as a slice of them prints.
func (x Indices) String() string {
	list := make([]int64, x.Len())
	for k := range list {
		list[k] = x.At(k)
	}
	return fmt.Sprint(list)
}

// Len is the number of elements.
func (x Indices) Len() int { return len(x.narrow) + len(x.wide) + x.other.n }

// At is element k. Like a slice it must be indexed within its length.
func (x Indices) At(k int) int64 {
	switch {
	case x.narrow != nil:
		return int64(x.narrow[k])
	case x.wide != nil:
		return x.wide[k]
	}
	return x.other.At64(k)
}

// Fibre is what a tensor stores along one axis, at fixed coordinates of the others: a row or a column of a matrix.
type Fibre[T Element] struct {
	// Values are the stored values, shared with the tensor: read them, never write them.
	Values []T
	// Coords are the coordinates of the values along the axis, ascending; none if every coordinate is stored.
	Coords Indices
}

// Coord is the coordinate of value k.
func (f Fibre[T]) Coord(k int) int64 {
	if f.Coords.Len() == 0 {
		return int64(k)
	}
	return f.Coords.At(k)
}

// String is the values behind their coordinates, as in [0:2.5 3:1]; package fmt prints it for %v and %+v.
func (f Fibre[T]) String() string {
	text := []byte{'['}
	for c, v := range f.All() {
		if len(text) > 1 {
			text = append(text, ' ')
		}
		text = fmt.Appendf(text, "%d:%v", c, v)
	}
	return string(append(text, ']'))
}

// All goes over the coordinates and the values.
func (f Fibre[T]) All() iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		for k, v := range f.Values {
			if !yield(f.Coord(k), v) {
				return
			}
		}
	}
}

// Row is row i of a matrix, without copying: the matrix is stored by rows, such as CSR or D. See [FibreAt].
func Row[T Element](t *Tensor, i int64) (Fibre[T], error) { return FibreAt[T](t, i, -1) }

// Column is column j of a matrix, without copying: the matrix is stored by columns, such as CSC. See [FibreAt].
func Column[T Element](t *Tensor, j int64) (Fibre[T], error) { return FibreAt[T](t, -1, j) }

// FibreAt is what a tensor stores along the axis for which coord has -1, at the other coordinates. Nothing is copied (but a fibre that an [Update] changed), so
// that must be the axis that the tensor stores innermost, and T its element type: else the error says into
// what to convert first.
func FibreAt[T Element](t *Tensor, coord ...int64) (Fibre[T], error) {
	if err := t.pin(); err != nil {
		return Fibre[T]{}, err
	}
	defer t.Unpin()
	if b := t.overlay.pinnedBase(); b != nil {
		defer b.Unpin()
		f, err := fibreAt[T](b, coord)
		if err == nil {
			f = overlaidFibre(t.overlay, b, f, coord)
		}
		return f, named(err, t.name)
	}
	f, err := fibreAt[T](t, coord)
	return f, named(err, t.name)
}

func fibreAt[T Element](t *Tensor, coord []int64) (Fibre[T], error) {
	var none Fibre[T]
	if err := t.checkFibre(coord); err != nil {
		return none, err
	}
	if dt := dtypeOf[T](); dt != t.DType() {
		return none, tensorError("its elements are %v, and %v is asked for", t.DType(), dt)
	}
	lo, hi := 0, 1 // positions of the level before
	last := len(t.levels) - 1
	for k := range last {
		l := &t.levels[k]
		if lo, hi = l.schema().Locate(l, lo, hi, coord[t.format.order[k]]); lo == hi {
			return none, nil
		}
	}
	l := t.levels[last]
	if !l.HasCrd() {
		lo, hi = lo*int(l.Size), hi*int(l.Size)
		return Fibre[T]{Values: View[T](t.values)[lo:hi:hi]}, nil
	}
	if l.HasPos() {
		lo, hi = int(l.Pos.At64(lo)), int(l.Pos.At64(hi))
	}
	return Fibre[T]{View[T](t.values)[lo:hi:hi], indicesOf(l.Crd.Slice(lo, hi))}, nil
}

// checkFibre reports coordinates that name no fibre which the tensor stores in one piece.
func (t *Tensor) checkFibre(coord []int64) error {
	free := -1
	if len(coord) != t.Rank() {
		return tensorError("%d coordinates are given, of a tensor of rank %d", len(coord), t.Rank())
	}
	for axis, c := range coord {
		switch {
		case c == -1 && free >= 0:
			return tensorError("axes %d and %d are both -1: a fibre goes along one", free, axis)
		case c == -1:
			free = axis
		case c < 0 || c >= t.shape[axis]:
			return tensorError("coordinate %d is out of range: axis %d has the size %d", c, axis, t.shape[axis])
		}
	}
	switch {
	case free < 0:
		return tensorError("no coordinate is -1, which stands for the axis of the fibre")
	case !t.IsCanonical():
		return tensorError("it is %v, which may store a fibre in several places: convert it to %v, and expand its triangle, first", t, t.format.Standard())
	case int(t.format.order[t.Rank()-1]) != free:
		return tensorError("format %v stores axis %d innermost, not axis %d: convert it first, such as to %v", t.format, t.format.order[t.Rank()-1], free, t.format.innermost(free))
	}
	return nil
}

// innermost is the format with an axis as its last level's, and the others in their order.
func (f Format) innermost(axis int) Format {
	var order []int
	for _, a := range f.Order() {
		if a != axis {
			order = append(order, a)
		}
	}
	out, err := f.WithOrder(append(order, axis))
	if err != nil {
		return f
	}
	return out
}
