package tensor

import (
	"fmt"
)

// MaxRank is the largest number of dimensions of a tensor, NumPy's limit.
const MaxRank = 64

// Format is how a tensor is stored: one level kind per dimension, the order
// in which levels store the logical axes, and [LevelFlags], which most formats do
// without. A Format is immutable and always
// canonical, so formats that store the same arrays are == . The zero Format is
// that of scalars (rank 0).
type Format struct {
	levels string // one LevelKind per byte
	order  string // one logical axis per byte
	flags  string // one LevelFlags per byte, without trailing zeros
}

// mustFormat is FormatOf for formats known to be valid.
func mustFormat(levels []LevelKind, order []int) Format {
	f, err := FormatOf(levels, order)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// mustStack is Stack for formats known to be valid.
func mustStack(order []int, parts ...Format) Format {
	f, err := Stack(order, parts...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// FormatOf makes a format from its levels and the logical axis that each level
// stores; a nil order is 0, 1, 2, …. "S directly before C", an expanded
// spelling of "DC before C", becomes the latter. It is an error if order is not
// a permutation, if a D level stands before another kind, or if the last level
// before the D levels is not S: see [FormatWith].
func FormatOf(levels []LevelKind, order []int) (Format, error) {
	return FormatWith(levels, order, nil)
}

// formatOf is the format without its flags, of which it looks at that which a
// last C or DC level needs.
func formatOf(levels []LevelKind, order []int, flags []LevelFlags) (Format, error) {
	rank := len(levels)
	if rank > MaxRank {
		return Format{}, fmt.Errorf("a format of %d levels: a tensor has at most %d dimensions", rank, MaxRank)
	}
	if order == nil {
		order = identity(rank)
	}
	if err := checkOrder(order, rank); err != nil {
		return Format{}, err
	}
	axes := make([]byte, rank)
	for k, axis := range order {
		axes[k] = byte(axis)
	}
	kinds, err := canonicalLevels(levels, flags)
	return Format{levels: string(kinds), order: string(axes)}, err
}

// identity is the order 0, 1, …, rank-1.
func identity(rank int) []int {
	order := make([]int, rank)
	for k := range order {
		order[k] = k
	}
	return order
}

// checkOrder reports an order that is not a permutation of 0…rank-1.
func checkOrder(order []int, rank int) error {
	if len(order) != rank {
		return fmt.Errorf("axis order %v has %d axes for %d levels", order, len(order), rank)
	}
	var seen [MaxRank]bool
	for _, axis := range order {
		if axis < 0 || axis >= rank || seen[axis] {
			return fmt.Errorf("axis order %v is not a permutation of 0 to %d", order, rank-1)
		}
		seen[axis] = true
	}
	return nil
}

// Rank is the number of levels, one for each dimension.
func (f Format) Rank() int { return len(f.levels) }

// Levels returns the level kinds in storage order.
func (f Format) Levels() []LevelKind {
	levels := make([]LevelKind, len(f.levels))
	for k := range levels {
		levels[k] = LevelKind(f.levels[k])
	}
	return levels
}

// Order returns the logical axis that each level stores.
func (f Format) Order() []int {
	order := make([]int, len(f.order))
	for k := range order {
		order[k] = int(f.order[k])
	}
	return order
}

// IsDense reports whether every level is D; rank 0 is dense.
func (f Format) IsDense() bool { return f.SparseRank() == 0 }

// HasBlocks reports whether the last levels are D: each entry of the levels before is a block, and a dense tensor is all one.
func (f Format) HasBlocks() bool { return f.SparseRank() < f.Rank() }

// AllRows reports whether the outermost of several sparse levels has every coordinate, as in [CSR]: each row has a place.
func (f Format) AllRows() bool { return f.SparseRank() > 1 && f.Physical()[0].Full() }

// Equal reports whether f and g are the same format; it is the same as f == g.
func (f Format) Equal(g Format) bool { return f == g }

// WithOrder returns the format with the same levels, and flags, storing the axes
// in another order.
func (f Format) WithOrder(order []int) (Format, error) {
	return FormatWith(f.Levels(), order, f.Flags())
}

// segment is a run of physical levels that share positions: one compressed
// level and its singletons.
type segment struct{ first, last int }

// segments returns the sparse segments in storage order.
func (f Format) segments() []segment {
	var out []segment
	for k, t := range f.Physical() {
		switch {
		case t.Ranges():
			out = append(out, segment{k, k})
		case t.Branchless():
			out[len(out)-1].last = k
		}
	}
	return out
}
