package from

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// OnDuplicate is what a [Builder] does with an entry at coordinates that it was given before.
type OnDuplicate uint8

const (
	// Sum adds the values in the order in which they come; for Bool: or.
	Sum OnDuplicate = iota
	// Refuse makes Build fail, with the coordinates.
	Refuse
	// KeepLast keeps the value that came last.
	KeepLast
)

// Builder makes a tensor of entries that come one by one, in any order. Only [NewBuilder] makes one that is ready: Build of another is an error. It
// is used by one goroutine at a time.
type Builder[T tensor.Element] struct {
	format    tensor.Format
	duplicate OnDuplicate
	shape     []int64 // that the entries have so far
	coords    [][]int64
	values    []T
	spill     spill[T]
	err       error // the first
}

// NewBuilder returns a builder of a tensor in a format.
func NewBuilder[T tensor.Element](format tensor.Format, on OnDuplicate) *Builder[T] {
	b := &Builder[T]{format: format, duplicate: on}
	b.shape, b.coords = make([]int64, format.Rank()), make([][]int64, format.Rank())
	return b
}

// notMade is the error of builders that [NewBuilder] has not made.
var notMade = tensor.Errorf(-1, "the Builder is none that NewBuilder has made")

// made reports whether NewBuilder has made the builder.
func (b *Builder[T]) made() bool { return b != nil && b.coords != nil }

// Add adds an entry. What is wrong with it is the error of Build.
func (b *Builder[T]) Add(v T, coord ...int64) {
	if !b.made() {
		return
	}
	if len(coord) != len(b.shape) {
		b.failf("entry %d has %d coordinates, and format %v as many as %d levels", b.Len(), len(coord), b.format, len(b.shape))
		return
	}
	for axis, c := range coord {
		if c < 0 || c == math.MaxInt64 {
			b.failf("entry %d has the coordinate %d on axis %d: coordinates are 0 or more, and below 2^63-1", b.Len(), c, axis)
			return
		}
	}
	for axis, c := range coord {
		b.shape[axis] = max(b.shape[axis], c+1)
		b.coords[axis] = append(b.coords[axis], c)
	}
	b.values = append(b.values, v)
	if b.spill.after > 0 && len(b.values) >= b.spill.after {
		b.keep(b.write())
	}
}

// failf keeps the first error.
func (b *Builder[T]) failf(format string, args ...any) { b.keep(tensor.Errorf(-1, format, args...)) }

func (b *Builder[T]) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Len is the number of entries added, duplicates among them.
func (b *Builder[T]) Len() int {
	if b == nil {
		return 0
	}
	return b.spill.written + len(b.values)
}

// SpillTo makes the builder write its entries to a temporary file in a directory ("" for the usual one) whenever it holds
// as many of them as given, so that what it needs is the memory of the tensor and of that many entries, however many
// repeat. The file is gone after Build.
func (b *Builder[T]) SpillTo(dir string, entries int) {
	if !b.made() {
		return
	}
	if entries < 1 {
		b.failf("SpillTo(%q, %d): the number of entries to hold is 1 or more", dir, entries)
		return
	}
	b.spill.dir, b.spill.after = dir, entries
}

// Build makes the tensor and leaves the builder empty. A nil shape is the smallest that has room for all entries. Options
// are those of [tensor.FromCoords].
func (b *Builder[T]) Build(shape []int64, opts ...tensor.Option) (*tensor.Tensor, error) {
	if !b.made() {
		return nil, tensor.Named(notMade, opts...)
	}
	t, err := b.build(shape, opts)
	b.spill.remove()
	*b = *NewBuilder[T](b.format, b.duplicate)
	return t, tensor.Named(err, opts...)
}

func (b *Builder[T]) build(shape []int64, opts []tensor.Option) (*tensor.Tensor, error) {
	if b.err != nil {
		return nil, b.err
	}
	if shape == nil {
		shape = b.shape
	}
	if len(shape) != len(b.shape) || len(shape) > 0 && slices.Min(shape) < 0 {
		return tensor.FromCoords(shape, b.format, b.coords, tensor.ArrayOf(b.values)) // which says so
	}
	for axis, n := range b.shape {
		if n > shape[axis] {
			return nil, tensor.Errorf(-1, "an entry has the coordinate %d: axis %d has the size %d", n-1, axis, shape[axis])
		}
	}
	if b.spill.written > 0 {
		if err := b.merge(); err != nil {
			return nil, err
		}
	} else if b.duplicate != Sum {
		perm, err := b.sorted()
		if err != nil {
			return nil, tensor.Errorf(-1, "%v", err)
		}
		out := &distinct[T]{on: b.duplicate, coords: make([][]int64, len(b.coords))}
		at := make([]int64, len(b.coords))
		for i := range b.values {
			for axis, list := range b.coords {
				at[axis] = list[perm.At(i)]
			}
			if err := out.add(at, b.values[perm.At(i)]); err != nil {
				return nil, err
			}
		}
		b.coords, b.values = out.coords, out.values
	}
	return tensor.FromCoords(shape, b.format, b.coords, tensor.ArrayOf(b.values), opts...)
}

// sorted is the stable order of the entries held by their coordinates, in the order of the levels.
func (b *Builder[T]) sorted() (column.Permutation, error) {
	var keys []column.Column
	for _, axis := range b.format.Order() {
		keys = append(keys, column.Column{U64: tensor.View[uint64](tensor.ArrayOf(b.coords[axis]))})
	}
	perm, _, err := column.Sort(len(b.values), keys)
	return perm, err
}
