package lacuna

import (
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Option declares something about a program. The order of options does not
// matter, but that of two that say the same thing of one tensor: the later holds.
type Option = declare.Option

// Format declares how an operand is stored and its element type. For a tensor
// that the program assigns, see Result.
func Format(name string, f tensor.Format, dt tensor.DType) Option { return declare.Format(name, f, dt) }

// FormatTriangle declares an operand that is a square matrix of which one triangle is
// stored ([tensor.Tensor.WithStructure]), how that is stored, and its element type.
func FormatTriangle(name string, f tensor.Format, dt tensor.DType, s tensor.Structure) Option {
	return declare.FormatTriangle(name, f, dt, s)
}

// FormatParts declares an operand that is stored in parts ([tensor.Parts]): the
// format of each, and the element type of all. Where the operand is needed as one
// tensor it is stored as CSF, in the order of the first part.
func FormatParts(name string, dt tensor.DType, formats ...tensor.Format) Option {
	return declare.FormatParts(name, dt, formats...)
}

// Operand declares an operand by example: its format, or those of its parts, the triangle
// that it stores of a symmetric matrix, its type and fill.
func Operand(name string, t tensor.Operand) Option { return declare.Operand(name, t) }

// Result declares how a result is stored. A name that is also passed as an
// operand is updated: its old value is read, and it keeps its format, type and
// fill.
func Result(name string, f tensor.Format) Option { return declare.Result(name, f) }

// ResultType declares the element type of a result.
func ResultType(name string, dt tensor.DType) Option { return declare.ResultType(name, dt) }

// Shape declares the extents of a result that its operands do not fix; -1
// leaves one open.
func Shape(name string, extents ...int64) Option { return declare.Shape(name, extents...) }

// Fill declares the fill value of an operand or a result.
func Fill(name string, v tensor.Scalar) Option { return declare.Fill(name, v) }

// StrictIEEE makes products with an implicit zero honest: 0*inf and 0*nan are
// nan, as in dense arithmetic, at the cost of visiting every coordinate.
// Without it an implicit zero annihilates.
func StrictIEEE() Option { return declare.StrictIEEE() }

// Schedule says how statements run: in what order their loops stand, what is kept in workspaces, what threads share. A line
// is a list of commands, behind the name of what the statement assigns where the program has several statements:
//
//	y: order(i, j), parallel(i)
//
// What it leaves out is chosen as without it. It changes no result but for the order of sums; one that cannot hold is an
// error. The program runs as it is written ([AsWritten]). docs/schedule.md has the commands.
func Schedule(text string) Option { return declare.Schedule(text) }

// Tuned has the program run as [Tuning.Save] has kept it for operands like these, on this machine, if it has.
func Tuned() Option { return declare.Tuned() }

// AsWritten keeps the order of computing in which the program is written. Without it sums and products may be computed in
// another order that costs less, where that means the same but for rounding: see docs/optimiser.md.
func AsWritten() Option { return declare.AsWritten() }

// Assume says what an operand will store that is not there yet ([tensor.ParseStatistics], or the statistics of a sample), for choices that else wait for data: [Compile] with formats
// alone chooses the order of computing by it until it is run, and what is compiled ahead of time keeps that order. Then values must be finite, and no larger than
// is assumed, where an order could overflow that the written one does not.
func Assume(name string, s *tensor.Statistics) Option { return declare.Assume(name, s) }

// Only names the results that are wanted; without names, that of the last statement. The kernel returns these only: [Kernel.Run] the last of them, what
// none follows from is not computed, and other results become parts of what reads them where that costs less. What is compiled ahead of time
// computes all results.
func Only(names ...string) Option { return declare.Only(names...) }
