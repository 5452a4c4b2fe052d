package aot

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Program is a program of all steps of a plan.
type Program struct {
	Name    string
	Source  string
	Tensors []Tensor // the operands, then the results
	// Operands is how many of them are operands.
	Operands int
	// Loops has the stages of all steps. Buffers that a step sees as integers, to
	// move values, have the type of the tensor, so the verifier would not pass it; each
	// step's own program has been verified.
	Loops *loop.Program
	// Constants are the contents of input buffers that are no operand's.
	Constants map[loop.BufferID]tensor.Scalar
	// Extents are the lets that come before all stages, and Checks what must hold then.
	Extents []loop.ScalarLet
	Checks  []Check
	// Counted are the buffers of coordinates that must not have more elements than pointers of
	// 32 bits count, and the tensors that they are of.
	Counted map[loop.BufferID]string
	// Notes are those of lowering.
	Notes []string
	// StateWords is the length of the state that a call needs; 0 with Grids.
	StateWords int
	// Grids says that the functions of all stages are grid functions.
	Grids bool
}

// Tensor is an operand or a result of a program.
type Tensor struct {
	Name    string
	Format  tensor.Format
	DType   tensor.DType
	Extents []loop.SizeExpr // by axis
	Dims    []loop.ScalarID // of an operand: the scalars of its extents
	Levels  []Level
	Values  Array
	// Fill is the value of elements that are not stored, where FillKnown. Of other
	// results it is in FillBuffer, which is -1 if there is none.
	Fill       tensor.Scalar
	FillKnown  bool
	FillBuffer loop.BufferID
}

// Level is a level of a tensor.
type Level struct{ Pointers, Indices Array }

// Array is an array of a tensor.
type Array struct {
	Type   loop.Type     // Invalid: there is none
	Buffer loop.BufferID // -1: there is none
	Len    loop.SizeExpr // of an operand: how many elements it must have
}

// UnsupportedError is a program that cannot be compiled ahead of time.
type UnsupportedError struct{ What, Hint string }

// Error says what is not supported and what to do instead.
func (e *UnsupportedError) Error() string {
	return "cannot be compiled ahead of time: " + e.What + "; " + e.Hint
}
