package lacuna

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime"
)

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
