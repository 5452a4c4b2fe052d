package lower

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A logarithm of a sum of exponentials that is folded an element at a time rescales the
// sum whenever the maximum grows, which lanes cannot share. On grids the loops of one run
// twice: for the maximum, and for the sum of the exponentials relative to it. Both are
// plain folds.
//
// Where elements have 32 bits or fewer, and so has the result, the first pass also adds up the
// exponentials themselves, in f64, whose exponents leave room for them. If the maximum is
// near enough to 0, that is the result, and the loops of the second pass have no iterations.

// lsePass is which of these is emitted.
type lsePass uint8

const (
	bothAtOnce lsePass = iota
	largestOnly
	sumOnly
)

// scaledSum is what the first pass folds where it adds up, too.
type scaledSum struct {
	top *loop.Ref // the maximum, in f32
	sum *loop.Ref // of the exponentials
}

// produceFold emits the nest that folds into acc.
func (e *emitter) produceFold(st *state, nest ir.Stmt, acc accumulator) {
	if !e.opts.Grids || acc.reduce.Fold != ir.FoldLogSumExp || e.counting() || !onlyLoops(nest) {
		e.stmt(st, nest)
		return
	}
	b := e.B
	pass := func(which lsePass) {
		acc.pass = which
		e.accs[acc.reduce.Temp] = acc
		e.stmt(st.clone(), nest)
	}
	if !narrowResult(acc.reduce) || computeType(ir.TypeOf(acc.reduce.Body)) != loop.F32 {
		pass(largestOnly)
		pass(sumOnly)
		return
	}
	acc.scaled = &scaledSum{b.Var("top", loop.Float(loop.F32, math.Inf(-1))), b.Var("sum", loop.Float(loop.F64, 0))}
	pass(largestOnly)
	top := b.Let("top", b.Cast(loop.F64, acc.scaled.top))
	// NaN and infinities are not near.
	near := b.Let("near", b.Le(loop.NewUnary(loop.Abs, top), loop.Float(loop.F64, zeroScale)))
	b.Assign(acc.state[0], b.Select(near, loop.Float(loop.F64, 0), top))
	b.Assign(acc.state[1], b.Select(near, acc.scaled.sum, loop.Float(loop.F64, 0)))
	b.Unless(near, func() { pass(sumOnly) })
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

// foldExp folds n copies of exp(x), or does what of that belongs to the pass.
func (e *emitter) foldExp(acc accumulator, x, n loop.Expr) {
	b, m, s := e.B, acc.state[0], acc.state[1]
	if sum := acc.scaled; sum != nil && acc.pass == largestOnly {
		x = b.Let("x", b.Cast(loop.F32, x))
		b.Assign(sum.top, b.Max(sum.top, x))
		b.Assign(sum.sum, b.Add(sum.sum, b.Mul(n, b.Call("_expscaled_f64", loop.F64, x))))
		return
	}
	x = b.Let("x", b.Cast(loop.F64, x))
	switch acc.pass {
	case largestOnly:
		b.Assign(m, b.Max(m, x))
	case sumOnly:
		w := b.Call(e.lseExp(acc.reduce), loop.F64, lseDistance(b, x, m))
		b.Assign(s, b.Add(s, b.Mul(n, w)))
	default:
		e.foldLSE(acc, x, n)
	}
}
