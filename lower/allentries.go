package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// flat emits the loops of f and the one inside it as a single loop over all entries of
// a matrix stored by rows, if f runs through the rows of it and nothing else depends on
// the row. It reports whether it did.
func (e *emitter) flat(st *state, f *ir.Forall) bool {
	inner, ok := f.Body.(*ir.Forall)
	if !ok || e.depth > 0 || !e.step.Scatter || !e.step.Result.Format.IsDense() {
		return false
	}
	leaf, ok := inner.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil || leaf.LHS.Tensor.Work != nil || ir.DependsOn(leaf.LHS, f.Index) {
		return false
	}
	var rows *ir.Access
	only := true
	ir.Walk(leaf.Value, func(x ir.Expr) {
		switch x := x.(type) {
		case *ir.Access:
			switch {
			case rowsAlong(x, f.Index, inner.Index) && (rows == nil || rows == x):
				rows = x
			case !x.Tensor.Format.IsDense() || ir.DependsOn(x, f.Index):
				only = false
			}
		case *ir.IndexValue:
			only = only && x.Var != f.Index
		case *ir.TempRef:
			only = false
		}
	})
	if rows == nil || !only {
		return false
	}
	all := e.allEntries(rows, f.Index)
	if e.root.wanted {
		lo, hi := e.private.Bounds(e.Func, e.B.Let("entries", e.B.Sub(all[1], all[0])), -1)
		all = &[2]loop.Expr{e.B.Add(all[0], lo), e.B.Add(all[0], hi)}
	}
	st = st.clone()
	st.cursors[rows] = cursor{access: rows, level: 1, pos: loop.Int(0), all: all}
	its := e.iterators(st, inner.Index, inner.Body)
	if len(its) != 1 || !e.need(inner.Body, leaves{e: e, st: st, v: inner.Index, iters: map[*ir.Access]*iterator{rows: its[0]}}).IsOnly(its[0].atom) {
		return false
	}
	if e.step.Gap != nil && e.step.Base == nil && !e.opts.Grids && e.step.Over == f.Index && e.step.Fold.Facts().Idempotent {
		e.gapRows = rows
	}
	if e.root.wanted {
		e.root = rootLoop{cut: true, n: e.countEntries(rows, f.Index), weight: -1}
	}
	e.forall(st, inner)
	return true
}

// allEntries is the range of positions of the entries of a matrix stored by rows, along
// which i runs.
func (e *emitter) allEntries(rows *ir.Access, i *ir.Index) *[2]loop.Expr {
	if rows.Tensor.Format.Physical()[0].Full() {
		pos := e.Read(e.Input(rows.Tensor, 1, emit.Positions))
		return &[2]loop.Expr{e.B.LoadIndex(pos, loop.Int(0)), e.B.LoadIndex(pos, e.Scalar(e.extent(i)))}
	}
	pos := e.Read(e.Input(rows.Tensor, 0, emit.Positions))
	return &[2]loop.Expr{e.B.LoadIndex(pos, loop.Int(0)), e.B.LoadIndex(pos, loop.Int(1))}
}

// countEntries is how many entries allEntries goes through.
func (k *kernel) countEntries(rows *ir.Access, i *ir.Index) loop.SizeExpr {
	level, end := 0, loop.SizeExpr(loop.SizeConst(1))
	if rows.Tensor.Format.Physical()[0].Full() {
		level, end = 1, loop.SizeScalar(k.extent(i))
	}
	pos := k.Input(rows.Tensor, level, emit.Positions)
	return &loop.SizeOp{Op: loop.Sub, X: &loop.SizeLoad{Buffer: pos, Index: end}, Y: &loop.SizeLoad{Buffer: pos, Index: loop.SizeConst(0)}}
}

// rowsAlong reports whether a is an element of a matrix stored by rows like CSR or as
// coordinates, with row i and column j.
func rowsAlong(a *ir.Access, i, j *ir.Index) bool {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	if a.Tensor.Work != nil || len(levels) != 2 || a.Indices[order[0]].Plain() != i || a.Indices[order[1]].Plain() != j {
		return false
	}
	if !levels[1].Ordered || !levels[1].Unique {
		return false
	}
	return levels[0].Full() && levels[1].Ranges() ||
		levels[0].Ranges() && !levels[0].Unique && levels[1].Branchless()
}
