package lower

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A running log of a sum of exponentials is bound by arithmetic on grids, of which
// double precision has half the rate or less. So where its results are rounded to 32
// bits or fewer, a thread computes the exponentials of its elements once, relative to
// their maximum m, and adds them up for the scan; then it has with the scale R of what
// is before and m, the factors w0 and w1 of both, and no other exponentials,
//
//	y(k) = R + log(w0 + w1 * (e(0) + … + e(k)))
//
// That is as good as folding an element at a time, unless the first of the elements
// are so far below R that they vanish beside it, or there are infinities or NaNs: then
// they are folded so after all.

// narrowResult reports whether a fold's result is rounded to 32 bits or fewer, which
// needs no functions that are right to the last bit of 64.
func narrowResult(r *ir.Reduce) bool {
	t := loopType(r.Typ)
	return t == loop.F32 || t == loop.F16 || t == loop.BF16
}

// lseExp is the exponential of differences from a maximum.
func (e *emitter) lseExp(r *ir.Reduce) string {
	if e.opts.Grids && narrowResult(r) {
		return "_expnarrow_f64"
	}
	return "exp_f64"
}

// logTerms are what threads have of their elements beside them.
type logTerms struct {
	x       *scanner
	t       *gridTeam
	terms   loop.BufID // shared: the exponentials, in F32
	inverse loop.BufID // shared: a table for logarithms, see _lognarrow
	logs    loop.BufID
}

const (
	logSlots = 64
	// nearScale is how far the greatest of the first of some terms may be below their
	// scale.
	nearScale = 64
	// logsAtOnce is how many functions are computed at a time: they do not wait for
	// each other.
	logsAtOnce = 4
)

// newLogTerms prepares for a scan in tiles of room elements; it is nil for other scans
// than those.
func (x *scanner) newLogTerms(t *gridTeam, room int64) *logTerms {
	if x.fold.Fold != ir.FoldLogSumExp || !narrowResult(x.fold) || x.step.Exclusive {
		return nil
	}
	b := t.b
	w := &logTerms{x: x, t: t, terms: b.Shared("terms", loop.F32, room)}
	w.inverse, w.logs = b.Shared("inverse", loop.F64, logSlots), b.Shared("logs", loop.F64, logSlots)
	i := b.Var("slot", b.Special(loop.ThreadIndex))
	b.While(b.Lt(i, loop.Int(logSlots)), func() {
		middle := b.Add(loop.Float(loop.F64, 1+0.5/logSlots), b.Mul(b.Cast(loop.F64, i), loop.Float(loop.F64, 1.0/logSlots)))
		c := b.Let("c", b.Select(b.Eq(i, loop.Int(0)), loop.Float(loop.F64, 1), b.Div(loop.Float(loop.F64, 1), middle)))
		b.Store(w.inverse, i, c)
		b.Store(w.logs, i, b.Sub(loop.Float(loop.F64, 0), b.Call("log_f64", loop.F64, c)))
		b.Assign(i, b.Add(i, loop.Int(int64(t.block*warpSize))))
	})
	b.Barrier(loop.BlockScope)
	return w
}

// each runs body for elements from mine to end, several at a time.
func (w *logTerms) each(mine, end loop.Expr, body func(places []loop.Expr)) {
	b := w.t.b
	k := b.Var("k", mine)
	for _, n := range [...]int64{logsAtOnce, 1} {
		b.While(b.Le(k, b.Let("last", b.Sub(end, loop.Int(n)))), func() {
			var places []loop.Expr
			for u := range n {
				places = append(places, b.Let("at", b.Add(k, loop.Int(u))))
			}
			body(places)
			b.Assign(k, b.Add(k, loop.Int(n)))
		})
	}
}

// fold folds the thread's elements into own and keeps their exponentials. It returns
// their maximum, and whether all are plain numbers.
func (w *logTerms) fold(own accumulator, mine, end loop.Expr, load func(k loop.Expr) loop.Expr, place func(k loop.Expr) loop.Expr) (largest, plain loop.Expr) {
	b := w.t.b
	infinity, minus := loop.Float(loop.F64, math.Inf(1)), loop.Float(loop.F64, math.Inf(-1))
	m, numbers := b.Var("largest", minus), b.Var("plain", loop.Truth(true))
	b.For("k", mine, end, func(k loop.Expr) {
		v := b.Let("v", b.Cast(loop.F64, load(k)))
		b.Assign(m, lseMax(b, v, m))
		b.Assign(numbers, b.And(numbers, b.Eq(v, v)))
	})
	b.Assign(numbers, b.And(numbers, b.And(b.Lt(m, infinity), b.Gt(m, minus))))
	b.If(numbers, func() {
		s := own.state[1]
		w.each(mine, end, func(places []loop.Expr) {
			var terms []loop.Expr
			for _, k := range places {
				d := b.Let("d", b.Sub(b.Cast(loop.F64, load(k)), m))
				terms = append(terms, b.Let("term", b.Cast(loop.F32, b.Call("_expnarrow_f64", loop.F64, d))))
			}
			for i, k := range places {
				b.Store(w.terms, place(k), terms[i])
				b.Assign(s, b.Add(s, b.Cast(loop.F64, terms[i])))
			}
		})
		b.Assign(own.state[0], m)
		b.Assign(own.seen, loop.Truth(true))
	}, func() {
		b.For("k", mine, end, func(k loop.Expr) { w.t.fold(own, b.Let("x", load(k)), nil) })
	})
	return m, numbers
}

// run stores the results of the thread's elements, acc being what is before them; slow
// does so an element at a time.
func (w *logTerms) run(acc accumulator, largest, plain, mine, end loop.Expr, shared loop.BufID, place func(k loop.Expr) loop.Expr, slow func()) {
	b := w.t.b
	before, sum := acc.state[0], acc.state[1]
	scale := b.Let("scale", b.Select(b.Gt(before, largest), before, largest))
	near := b.Var("near", b.And(plain, b.Eq(sum, sum)))
	b.If(near, func() {
		first := b.Let("first", b.Cast(loop.F64, b.Load(shared, place(mine))))
		b.Assign(near, b.And(b.Lt(scale, loop.Float(loop.F64, math.Inf(1))),
			b.Ge(b.Select(b.Gt(before, first), before, first), b.Sub(scale, loop.Float(loop.F64, nearScale)))))
	}, nil)
	b.If(near, func() {
		exp := func(d loop.Expr) loop.Expr { return b.Call("_expnarrow_f64", loop.F64, d) }
		w0 := b.Let("w0", b.Mul(sum, exp(b.Let("d", b.Sub(before, scale)))))
		w1 := b.Let("w1", exp(b.Let("d", b.Sub(largest, scale))))
		c := b.Var("c", loop.Float(loop.F64, 0))
		w.each(mine, end, func(places []loop.Expr) {
			var sums []loop.Expr
			for _, k := range places {
				b.Assign(c, b.Add(c, b.Cast(loop.F64, b.Load(w.terms, place(k)))))
				sums = append(sums, b.Let("sum", b.Add(w0, b.Mul(c, w1))))
			}
			for i, k := range places {
				slot := b.Let("slot", b.Call("_logslot_i64", loop.I64, sums[i]))
				log := b.Call("_lognarrow_f64", loop.F64, sums[i], b.Load(w.inverse, slot), b.Load(w.logs, slot))
				b.Store(shared, place(k), b.Cast(loop.F32, b.Add(scale, log)))
			}
		})
	}, slow)
}
