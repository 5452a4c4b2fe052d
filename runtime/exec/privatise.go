package exec

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scatter"
)

const (
	// termsPerCopy is how many terms there must be for each element of each further copy of a result to which parts of a
	// scatter add. To clear an element and to add it up takes about as long as a term or less, which one thread loses; rowsPerCopy
	// where several terms are added by one instruction.
	termsPerCopy, rowsPerCopy = 8, 64
	// privateElements is how many elements copies may have together, where operands have fewer.
	privateElements = 1 << 22
)

// private is how many copies of a result of floats the parts of a scatter add to, a power of two; 0 if it stays in one part.
// It follows from extents and from how much operands store, so that results do not depend on threads.
func (k *Kernel) private(st *step, b *stepBinding, vals values) int64 {
	c, ok := st.plan.(*ir.Compute)
	if !ok || k.inOrder || k.env.OnGrids() || !scatter.Privatisable(c) {
		return 0
	}
	terms, elements, stored := 1.0, 1.0, int64(0)
	for _, i := range c.Indices {
		terms *= float64(b.indices[i.ID])
	}
	last := c.LHS.Indices[c.Result.Format.Order()[c.Result.Rank-1]].Plain()
	perElement := float64(rowsPerCopy)
	if last == nil {
		perElement = termsPerCopy
	}
	seen := map[*ir.Access]bool{}
	ir.EachAccess(c.Body, func(a *ir.Access) {
		if seen[a] || a.Tensor.Format.IsDense() {
			return
		}
		seen[a] = true
		for _, x := range a.Indices {
			if last != nil && x.Plain() == last {
				perElement = termsPerCopy
			}
		}
		t := vals[a.Tensor.ID]
		if t == nil {
			return
		}
		terms *= float64(t.NNZ())
		for _, n := range t.Dims() {
			terms /= float64(max(n, 1))
		}
		stored += t.NNZ()
	})
	for _, n := range b.shape {
		elements *= float64(n)
	}
	perCopy, grain := elements*perElement, float64(emit.ChunkGrain)
	if g := k.env.Grain; g > 0 {
		perCopy, grain = 1, float64(g)
	}
	copies := int64(1)
	for next := 2 * copies; next <= scatter.MostPrivate && float64(next-1)*perCopy <= terms && float64(next)*grain <= terms &&
		float64(next)*elements <= float64(max(stored, privateElements)); next *= 2 {
		copies = next
	}
	if copies == 1 {
		return 0
	}
	return copies
}
