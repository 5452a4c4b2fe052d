package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A logarithm of a sum of exponentials that is folded an element at a time rescales the
// sum whenever the maximum grows, which lanes cannot share. On grids the loops of one run
// twice: for the maximum, and for the sum of the exponentials relative to it. Both are
// plain folds.

// lsePass is which of these is emitted.
type lsePass uint8

const (
	bothAtOnce lsePass = iota
	largestOnly
	sumOnly
)

// produceFold emits the nest that folds into acc.
func (e *emitter) produceFold(st *state, nest ir.Stmt, acc accumulator) {
	if !e.opts.Grids || acc.reduce.Fold != ir.FoldLogSumExp || e.counting() || !onlyLoops(nest) {
		e.stmt(st, nest)
		return
	}
	for _, pass := range [...]lsePass{largestOnly, sumOnly} {
		acc.pass = pass
		e.accs[acc.reduce.Temp] = acc
		e.stmt(st.clone(), nest)
	}
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
	b, m, s := e.b, acc.state[0], acc.state[1]
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
