package binsparse

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// LevelKind is the kind of a level; the innermost level, "element", is implied.
type LevelKind uint8

const (
	// DenseLevel has every coordinate of its dimensions under each position.
	DenseLevel LevelKind = iota + 1
	// SparseLevel lists the coordinates that occur under each position.
	SparseLevel
)

// Level is a level of a format. It covers Rank dimensions.
type Level struct {
	Kind LevelKind
	Rank int // at least 1

	// Unsorted, of a sparse level, says that coordinates may come in any order
	// under each position ("sorted": false).
	Unsorted bool
	// Duplicates, of a sparse level, says that coordinates may repeat; their
	// values are summed. Binsparse has no such levels, but files of other kinds
	// that are read as binsparse do.
	Duplicates bool
	// Contiguous, of a sparse level, says that its indices are one array of Rank
	// rows ("contiguous": true).
	Contiguous bool
}

// Format is how a tensor is stored: its levels, the outermost first, and the
// logical axis of each dimension that they cover.
type Format struct {
	Levels []Level
	Order  []int // binsparse's transpose; the identity where the descriptor has none
}

// dense and sparse are levels of the predefined formats.
func dense(rank int) Level  { return Level{Kind: DenseLevel, Rank: rank} }
func sparse(rank int) Level { return Level{Kind: SparseLevel, Rank: rank} }

// predefined is the table of formats that have a name. Of several names for
// one format the first is written.
var predefined = []struct {
	name   string
	levels []Level
	order  []int
}{
	{"DVEC", []Level{dense(1)}, []int{0}},
	{"DMATR", []Level{dense(1), dense(1)}, []int{0, 1}},
	{"DMAT", []Level{dense(1), dense(1)}, []int{0, 1}},
	{"DMATC", []Level{dense(1), dense(1)}, []int{1, 0}},
	{"CVEC", []Level{sparse(1)}, []int{0}},
	{"VEC", []Level{sparse(1)}, []int{0}}, // CVEC before it had that name
	{"CSR", []Level{dense(1), sparse(1)}, []int{0, 1}},
	{"CSC", []Level{dense(1), sparse(1)}, []int{1, 0}},
	{"DCSR", []Level{sparse(1), sparse(1)}, []int{0, 1}},
	{"DCSC", []Level{sparse(1), sparse(1)}, []int{1, 0}},
	{"COOR", []Level{sparse(2)}, []int{0, 1}},
	{"COO", []Level{sparse(2)}, []int{0, 1}},
	{"COOC", []Level{sparse(2)}, []int{1, 0}},
}

// formatNames lists the names of the predefined formats for a message.
const formatNames = "DVEC, DMATR, DMATC, CVEC, CSR, CSC, DCSR, DCSC, COOR and COOC, or \"custom\""

// PredefinedFormat returns the format of that name, such as CSR.
func PredefinedFormat(name string) (Format, bool) {
	for _, p := range predefined {
		if p.name == name {
			return Format{slices.Clone(p.levels), slices.Clone(p.order)}, true
		}
	}
	return Format{}, false
}

// Name is the name of a predefined format, or "".
func (f Format) Name() string {
	for _, p := range predefined {
		if slices.Equal(p.order, f.Order) && slices.Equal(p.levels, splitDense(f.Levels)) {
			return p.name
		}
	}
	return ""
}

// splitDense writes dense levels of higher rank as several of rank 1, which is
// the same.
func splitDense(levels []Level) []Level {
	var out []Level
	for _, l := range levels {
		if l.Kind == DenseLevel {
			out = append(out, slices.Repeat([]Level{dense(1)}, l.Rank)...)
		} else {
			out = append(out, l)
		}
	}
	return out
}

// Rank is the number of dimensions.
func (f Format) Rank() int { return len(f.Order) }

// FormatOf is the binsparse format of tensors stored as f.
func FormatOf(f tensor.Format) Format {
	out := Format{Order: f.Order()}
	for _, t := range f.Physical() {
		switch {
		case t.Full():
			out.Levels = append(out.Levels, dense(1))
		case t.Ranges():
			out.Levels = append(out.Levels, sparse(1))
		case t.Branchless():
			out.Levels[len(out.Levels)-1].Rank++
		}
	}
	return out
}

// Tensor is the tensor format with the same arrays. It is an error if the levels do
// not cover as many dimensions as Order has, or Order is no permutation.
func (f Format) Tensor() (tensor.Format, error) {
	var parts []tensor.Format
	rank := 0
	for i, l := range f.Levels {
		if l.Kind != DenseLevel && l.Kind != SparseLevel || l.Rank < 1 || l.Rank > tensor.MaxRank-rank {
			return tensor.Format{}, errorf("level %d is of kind %d and rank %d: expected a dense or sparse level, and at most %d dimensions in all", i, l.Kind, l.Rank, tensor.MaxRank)
		}
		rank += l.Rank
		part := tensor.Dense(l.Rank)
		if l.Kind == SparseLevel {
			part = tensor.Coordinates(l.Rank)
		}
		parts = append(parts, part)
	}
	out, err := tensor.Stack(f.Order, parts...)
	if err != nil {
		return out, tensorError(err)
	}
	return out, nil
}

// pointersTo is the name of the array that groups the positions of a sparse
// level by those of the level before it; dim is the first dimension it covers.
func pointersTo(dim int) string { return fmt.Sprintf("pointers_to_%d", dim) }

// indices is the name of the array of coordinates of a dimension.
func indices(dim int) string { return fmt.Sprintf("indices_%d", dim) }

// contiguousIndices is the name of the array of all coordinates of a sparse
// level that covers the dimensions from dim on.
func contiguousIndices(dim, rank int) string {
	return fmt.Sprintf("%s%d_to%d", contiguousPrefix, dim, dim+rank-1)
}

// contiguousPrefix begins the names of those arrays, and of no others.
const contiguousPrefix = "indices_from"

// The names of the other arrays.
const (
	valuesName = "values"
	fillName   = "fill_value"
)
