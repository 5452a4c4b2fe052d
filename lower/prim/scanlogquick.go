package prim

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// While the function that scans logarithms is compiled, a small one stands in for it, which
// computes the same terms and sums in the same order. It goes through a thread's elements in
// loops, twice: their running sums are not kept but computed again.

// fetchQuickly brings the elements of the tile at start into the shared one.
func (w *narrowScan) fetchQuickly(s span, base, start, n loop.Expr) {
	b := w.t.B
	w.eachSingle(func(k, place loop.Expr) {
		v := b.Var("v", loop.Float(loop.F32, math.Inf(-1)))
		b.If(b.Lt(k, n), func() { b.Assign(v, w.x.load(w.t.Func, w.element(s, base, start, k))) }, nil)
		b.Store(w.tile, place, v)
	})
}

// scannedQuickly is scanned, given the thread's first element.
func (w *narrowScan) scannedQuickly(first loop.Expr, done *loop.Ref) {
	b := w.t.B
	zero := loop.Float(loop.F64, 0)
	above, limit := w.limits()
	each := func(body func(at, sum, next loop.Expr)) loop.Expr {
		sum := b.Var("sum", zero)
		w.t.Times(w.x.teams.perThread, func(i loop.Expr) {
			at := b.Let("at", b.Add(w.own, i))
			next := b.Let("next", b.Add(sum, w.term(b.Let("x", b.Load(w.tile, at)), above)))
			body(at, sum, next)
			b.Assign(sum, next)
		})
		return sum
	}
	before, all := w.sumBefore(each(func(_, _, _ loop.Expr) {}))
	b.If(b.Lt(all, limit), func() {
		each(func(at, sum, next loop.Expr) {
			if w.x.step.Exclusive {
				next = sum
			}
			b.Store(w.tile, at, b.Add(w.c, w.log(b.Let("s", b.Add(before, next)))))
		})
		w.endTile(first, all, done)
	}, nil)
}
