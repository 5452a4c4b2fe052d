package lower

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// A logarithm of a sum of exponentials that is folded an element at a time rescales the
// sum whenever the maximum grows, which lanes cannot share. On grids the loops of one run
// twice: for the maximum, and for the sum of the exponentials relative to it. Both are
// plain folds.
//
// Where elements have 32 bits or fewer, and so has the result, the first pass also adds up the
// exponentials themselves, in f64, whose exponents leave room for them. If the maximum is
// near enough to 0, that is the result, and the loops of the second pass have no iterations.

// produceFold emits the nest that folds into acc.
func (e *emitter) produceFold(st *state, nest ir.Stmt, acc fold.State) {
	if !e.opts.Grids || acc.Reduce.Fold != ir.FoldLogSumExp || e.counting() || !onlyLoops(nest) {
		e.stmt(st, nest)
		return
	}
	b := e.B
	pass := func(which fold.Pass) {
		acc.Pass = which
		e.accs[acc.Reduce.Temp] = acc
		e.stmt(st.clone(), nest)
	}
	if !fold.Narrow(acc.Reduce) || emit.ComputeType(ir.TypeOf(acc.Reduce.Body)) != loop.F32 {
		pass(fold.LargestOnly)
		pass(fold.SumOnly)
		return
	}
	acc.Scaled = &fold.Scaled{Top: b.Var("top", loop.Float(loop.F32, math.Inf(-1))), Sum: b.Var("sum", loop.Float(loop.F64, 0))}
	pass(fold.LargestOnly)
	top := b.Let("top", b.Cast(loop.F64, acc.Scaled.Top))
	// NaN and infinities are not near.
	near := b.Let("near", b.Le(loop.NewUnary(loop.Abs, top), loop.Float(loop.F64, fold.ZeroScale)))
	b.Assign(acc.Vars[0], b.Select(near, loop.Float(loop.F64, 0), top))
	b.Assign(acc.Vars[1], b.Select(near, acc.Scaled.Sum, loop.Float(loop.F64, 0)))
	b.Unless(near, func() { pass(fold.SumOnly) })
}

// onlyLoops reports whether a nest is loops around a statement, which may run again.
func onlyLoops(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Forall:
		return onlyLoops(s.Body)
	case *ir.Assign:
		return true
	}
	return false
}
