package exec

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// admit refuses a run of which a dense result, of the program or of a step on the way, does not fit the
// memory: its size follows from the shapes of the operands. Else the steps before it would run first, for minutes if they are
// large. A GPU has memory of its own, and finds out itself.
func (k *Kernel) admit(b *binding) error {
	if len(k.steps) < 2 || k.env.OnGrids() {
		return nil // the only step begins with that
	}
	for i, st := range k.plan.Steps {
		c, ok := st.(*ir.Compute)
		if !ok || c.Result.Rank == 0 || !c.Result.Format.IsDense() {
			continue
		}
		n, _ := product(b.steps[i].shape)
		if err := runtime.Admits(c.Result.Name, n, c.Result.DType, k.env.Options); err != nil {
			return err
		}
	}
	return nil
}

// least is how many entries the result of a step has at least, as far as operands that are
// broadcast tell, and the bytes that each takes.
func (st *step) least(b *stepBinding, vals values) (entries, bytes int64) {
	for _, bc := range st.broadcasts {
		n := int64(1)
		each, fits := product(extentsOf(bc.Over, b.indices))
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
		case !fits || each > math.MaxInt64/n:
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
	if !result.Format.HasBlocks() {
		bytes += 4 // a coordinate
	}
	return entries, bytes
}
