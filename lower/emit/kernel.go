package emit

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Kernel is a lowered step: the program and what to bind to it.
type Kernel struct {
	Program *loop.Program
	Inputs  []Input
	Scalars []Scalar
	Result  Result
	// Notes say for each loop which set of coordinates it visits and how, for
	// explain --stage lattice.
	Notes []string
	// OnePass says that a sparse result is appended to in one pass, by one thread or
	// several.
	OnePass bool
	// Splits says that chunks could begin and end inside an outermost coordinate, if there
	// are heavy ones (lower.Options.Split).
	Splits bool
	// Mapping is how a schedule maps stages to the threads of a GPU.
	Mapping []ir.Mapping
}

// ArrayKind names one of the arrays of a tensor.
type ArrayKind uint8

// The arrays of a tensor.
const (
	Positions ArrayKind = iota // of a compressed level
	Coordinates
	Values
	FillValue // one element: a fill known at run time
	Words     // packed coordinates of sorted entries, of a conversion
)

// Input says which array of which operand a program buffer holds.
type Input struct {
	Buffer loop.BufferID
	Tensor *ir.Tensor
	Level  int // storage level, for Positions and Coordinates
	Kind   ArrayKind
}

// Scalar says what the caller binds to a program scalar: the extent of an
// index variable, or of an axis of a tensor (the result included); or a number of the text.
type Scalar struct {
	Scalar loop.ScalarID
	Index  *ir.Index
	Tensor *ir.Tensor
	Axis   int
	// Literal, when not 0, is a number of the program's text instead (ir.IndexExpr.Literal).
	Literal int
}

// Result says where the result's arrays are after the run.
type Result struct {
	Tensor *ir.Tensor
	Levels []ResultLevel // in storage order
	Values loop.BufferID
	// Fill is a buffer of one element, -1 when the fill is known.
	Fill loop.BufferID
	// Shared, when not nil, is an operand whose first SharedLevels levels are those
	// of the result too.
	Shared       *ir.Tensor
	SharedLevels int
	// Words and Found are of conversions that only sort or check: see
	// ConvertOptions and CheckCoordinates.
	Words []loop.BufferID
	Found loop.BufferID
}

// ResultLevel holds the buffers of one level; -1 for an array it does not have.
type ResultLevel struct{ Pos, Crd loop.BufferID }

// NoArrays are levels that have none.
func NoArrays(levels int) []ResultLevel {
	return slices.Repeat([]ResultLevel{{Pos: -1, Crd: -1}}, levels)
}

// MaxEntries bounds the entries of a result, far above any memory and far enough
// below 2^63 that counts cannot wrap between two checks.
const MaxEntries = 1 << 56

// OperandTypes gives the element types of the arrays that a kernel is
// specialised for.
type OperandTypes interface {
	// IndexType is the element type of a Positions or Coordinates array.
	IndexType(t *ir.Tensor, level int, kind ArrayKind) tensor.DType
}
