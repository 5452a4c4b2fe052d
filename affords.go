package lacuna

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What is known of results before anything runs, so that those that no memory holds are refused at once.

// affords refuses a run of which a dense result, of the program or of a step on the way, does not fit the
// memory: its size follows from the shapes of the operands. Else the steps before it would run first, for minutes if they are
// large. A GPU has memory of its own, and finds out itself.
func (k *Kernel) affords(b *binding) error {
	if len(k.steps) < 2 || runtime.OnGrids(k.session.engine) {
		return nil // the only step begins with that
	}
	for i, st := range k.plan.Steps {
		c, ok := st.(*ir.Compute)
		if !ok || c.Result.Rank == 0 || !c.Result.Format.IsDense() {
			continue
		}
		if err := runtime.Affords(c.Result.Name, elements(b.steps[i].shape), c.Result.DType, k.options); err != nil {
			return err
		}
	}
	return nil
}

// elements is how many elements a shape has, at most 2^63-1.
func elements(shape []int64) int64 {
	n := int64(1)
	for _, extent := range shape {
		switch {
		case extent == 0:
			return 0
		case n > math.MaxInt64/extent:
			n = math.MaxInt64
		default:
			n *= extent
		}
	}
	return n
}

// least is how many entries the result of a step has at least, as far as operands that are
// broadcast tell, and the bytes that each takes.
func (st *step) least(b *stepBinding, vals values) (entries, bytes int64) {
	for _, bc := range st.broadcasts {
		n, each := int64(1), product(bc.Over, b.indices)
		if bc.Of != nil {
			of := vals[bc.Of.ID]
			if slices.ContainsFunc(bc.Single, func(axis int) bool { return of.Dims()[axis] != 1 }) {
				continue
			}
			n = of.NNZ()
		}
		switch {
		case n == 0:
			continue
		case each < 0 || each > math.MaxInt64/n:
			entries = math.MaxInt64
		default:
			entries = max(entries, n*each)
		}
	}
	if len(st.broadcasts) == 0 {
		return 0, 0
	}
	result := st.plan.(*ir.Compute).Result
	bytes = int64(result.DType.Size())
	if levels := result.Format.Levels(); levels[len(levels)-1] != tensor.D {
		bytes += 4 // a coordinate
	}
	return entries, bytes
}
