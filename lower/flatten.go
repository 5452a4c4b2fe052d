package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// A fold over all elements of one tensor, of a value in which no coordinate occurs, does
// not need the coordinates: it is a loop over the positions of the last level. The threads
// of grids share that loop evenly, however long rows are, and read neighbouring elements.

// flattened is the access whose positions a fold outside all loops may go through in
// place of its loops, and the leaf of these.
func (e *emitter) flattened(w *ir.Where) (*ir.Access, *ir.Assign) {
	r := w.Temp.Reduce
	if !e.opts.Grids || e.counting() || r.In != nil || fold.IsArg(r.Fold) {
		return nil, nil
	}
	var loops []*ir.Index
	body := w.Producer
	for f, ok := body.(*ir.Forall); ok; f, ok = body.(*ir.Forall) {
		loops, body = append(loops, f.Index), f.Body
	}
	leaf, ok := body.(*ir.Assign)
	reads := e.accessesIn(w.Producer)
	if !ok || len(reads) != 1 || len(loops) == 0 {
		return nil, nil
	}
	a := reads[0]
	levels := a.Tensor.Format.Physical()
	if a.Tensor.Work != nil || len(levels) != len(loops) || len(a.Indices) != len(loops) || !levels[len(levels)-1].Unique {
		return nil, nil
	}
	for i, x := range a.Indices {
		v := x.Plain()
		again := slices.ContainsFunc(a.Indices[:i], func(y ir.IndexExpr) bool { return y.Plain() == v })
		if v == nil || x.Padded() || again || !slices.Contains(loops, v) {
			return nil, nil
		}
	}
	simple := true
	ir.Walk(leaf.Value, func(x ir.Expr) {
		switch x.(type) {
		case *ir.IndexValue, *ir.TempRef:
			simple = false
		}
	})
	if !simple {
		return nil, nil
	}
	if !a.Tensor.Format.IsDense() {
		background, known := ir.ConstValue(e.alg.Of(leaf.Value, gapLeaves{e}).Background)
		if !known || !r.Fold.IsIdentity(background) {
			return nil, nil
		}
	}
	return a, leaf
}

// positions emits a fold as a loop over the positions of an access.
func (e *emitter) positions(st *state, a *ir.Access, leaf *ir.Assign) {
	n := level.Count(e, a.Tensor, 0, a.Tensor.Rank, loop.SizeConst(1))
	e.root = rootLoop{cut: true, n: n, weight: -1}
	e.B.For("p", e.B.Lo(), e.B.Hi(), func(p loop.Expr) {
		inner := st.clone()
		inner.cursors[a] = cursor{access: a, level: len(a.Tensor.Format.Physical()), pos: p, exact: true}
		e.stmt(inner, leaf)
	})
}
