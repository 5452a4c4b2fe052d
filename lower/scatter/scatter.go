// Package scatter emits what a dense result needs whose loops do not run as its own do, so that one element is updated in many
// places of a nest: copies that threads update (copies.go), sums of floats in a fixed order (privatise.go), and the gaps of
// reductions, which nobody can tell before all is visited (gap.go).
package scatter

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Result is a dense result that a step updates, in a program under construction.
type Result struct {
	*emit.Builder
	Step   *ir.Compute
	Extent func(*ir.Index) loop.ScalarID
	Grids  bool           // for engines that share loops among threads
	visits *loop.BufferID // to each element of the result, where its gap is counted
}
