package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
)

// flatten makes one fold of a fold whose whole body is another one of the same
// kind, as in sum_i sum_k f: the loops of both may then stand in any order, and
// what is planned for sum_{i,k} f is planned for it. The order of sums allows it
// (docs/numerics.md). A fold that does not depend on all variables of the outer one
// stays: it is computed once for many of them.
func (nf *normalForm) flatten() {
	reads := map[*ir.Reduce]int{}
	count := func(e ir.Expr) {
		ir.Walk(e, func(x ir.Expr) {
			if t, ok := x.(*ir.TempRef); ok {
				reads[t.Temp.Reduce]++
			}
		})
	}
	count(nf.value)
	for _, r := range nf.reduces {
		count(r.Body)
	}
	merged := map[*ir.Reduce]bool{}
	// Inner folds come first, so that a chain of them collapses into its outermost.
	for _, r := range nf.reduces {
		t, ok := r.Body.(*ir.TempRef)
		if !ok {
			continue
		}
		inner := t.Temp.Reduce
		if inner.Fold != r.Fold || inner.Typ != r.Typ || r.Fold.Facts().Pair ||
			inner.In != nil || r.In != nil || reads[inner] != 1 || !within(r.Vars, inner.FreeVars()) {
			continue
		}
		r.Vars = slices.Concat(r.Vars, inner.Vars)
		r.Body = inner.Body
		merged[inner] = true
	}
	if len(merged) == 0 {
		return
	}
	nf.reduces = slices.DeleteFunc(nf.reduces, func(r *ir.Reduce) bool { return merged[r] })
	for i, r := range nf.reduces {
		r.Temp.ID = i
	}
}
