package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// meets reports whether the consumer of a masked workspace is one loop over the keys, which may meet the mask's entries in their order.
func (w *gathering) meets(s *ir.Workspace) bool {
	f, ok := s.Consumer.(*ir.Forall)
	if !ok || len(w.Vars) != 1 || w.Vars[0] != f.Index {
		return false
	}
	_, leaf := f.Body.(*ir.Assign)
	return leaf
}

// meet decides, where a loop reads a masked workspace that is still open, how it does. A loop over the mask's entries, all of them and
// nothing else, looks each up by its key and leaves its mark as it was found; for other loops the workspace is drained.
func (w *walk) meet(set ir.SetExpr) {
	for _, it := range w.iters {
		if it.access.Tensor.Work == nil || it.level != 0 {
			continue
		}
		of := w.workspaceOf(it.access.Tensor)
		if !of.open {
			continue
		}
		of.open = false
		alone := w.single(set)
		if _, atom := set.IsAtom(); atom && alone != nil && alone.access == of.mask.access && alone.stride == 1 && alone.unique && !alone.trimmed && w.splitAt(w.f) < 0 &&
			slices.Contains(w.located, it) && it.stride == 1 && it.offset == nil && !it.trimmed {
			it.keyed = true
			continue
		}
		w.drained(of)
		it.end = w.entries[of]
	}
}

// keyedCursor is the cursor of an open workspace at the key i of the mask, which is not wanted any more.
func (w *walk) keyedCursor(it *iterator, i loop.Expr) cursor {
	has := workspace.Take(w.workspaceOf(it.access.Tensor).store, w.Func, it.access.Tensor.Name, i)
	c := it.child(i, nil, has)
	c.keyed = true
	return c
}
