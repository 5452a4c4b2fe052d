package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Form says how an operand is stored: as the disjoint union of pieces, all of its
// shape, element type and fill. No coordinate is stored by two of them.
type Form struct {
	Pieces []Piece
}

// Piece is one tensor of a Form.
type Piece struct {
	Format tensor.Format
	Mirror Mirror
}

// Mirror says which elements of a square matrix a piece stands for beside those
// that it stores.
type Mirror struct {
	Kind MirrorKind
	// Upper says that the triangle above the diagonal is stored, not that below it.
	Upper bool
}

// MirrorKind says how the elements across the diagonal follow from those stored.
type MirrorKind uint8

// The ways in which a triangle stands for a whole matrix.
const (
	NoMirror  MirrorKind = iota
	Symmetric            // a(j,i) = a(i,j)
	Skew                 // a(j,i) = -a(i,j)
	Hermitian            // a(j,i) = conj(a(i,j))
)

// Operand is an operand of a plan with the tensors that it is stored as.
type Operand struct {
	Source *lang.Tensor
	Pieces []*Tensor // one, unless it has a Form of several
}

// Mirrored reports whether a piece is a triangle.
func (f Form) Mirrored() bool {
	return slices.ContainsFunc(f.Pieces, func(p Piece) bool { return p.Mirror.Kind != NoMirror })
}
