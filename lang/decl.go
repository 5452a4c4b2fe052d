package lang

import "github.com/lacuna-sparse/lacuna/tensor"

// Decl declares a tensor of a program: how an operand is stored, or what is wished
// of a result.
type Decl struct {
	// Rank is the number of dimensions, or AnyRank to take it from the program.
	Rank int
	// DType is the element type when HasDType is set. An operand without one is f64;
	// a result without one has the type of its expression.
	DType    tensor.DType
	HasDType bool
	// Format is the storage when HasFormat is set. An operand without one is dense;
	// for a result without one the planner chooses.
	Format    tensor.Format
	HasFormat bool
	// Relaxed, of a result, is Format with flags: what it may be stored as, if that is not the zero Format.
	Relaxed tensor.Format
	// Fill is the value at coordinates that are not stored; nil is zero for an operand
	// and the planner's choice for a result.
	Fill *tensor.Scalar
	// Shape, when not nil, fixes the extents of a result; -1 leaves one open.
	Shape []int64
	// Result says that the program makes the tensor: it has no value before. A
	// tensor that is declared without Result and assigned is updated in place.
	Result bool
}

// AnyRank is the Rank of a declaration that leaves the rank to the program.
const AnyRank = -1
