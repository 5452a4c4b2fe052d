package prim

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// values are those of the two ranks. At most one of them has to be selected: of two
// stored values the second is then the least behind the first. done becomes false,
// and the values mean nothing, if selection gives up.
func (x *selector) values(e *emit.Func, l line, r rank, done *loop.Ref) (low, high loop.Expr) {
	b := e.B
	work := e.Write(x.work[0])
	at := func(i loop.Expr) loop.Expr { return b.Load(work, b.Add(l.begin, i)) }
	stored := func(rank loop.Expr) (index, gap loop.Expr) {
		if x.gapless() {
			return rank, loop.Truth(false)
		}
		behind := b.Let("behind", b.Sub(rank, l.gaps))
		before := b.Let("before", b.Lt(rank, l.split))
		return b.Let("index", b.Select(before, rank, behind)), b.Let("gap", b.Not(b.Or(before, b.Ge(behind, l.split))))
	}
	first, firstGap := stored(r.low)
	second, secondGap := stored(r.high)
	target := b.Let("target", b.Select(firstGap, second, first))
	x.pick(e, l, target, b.And(b.Not(l.sorted), b.Not(b.And(firstGap, secondGap))), done)
	lowVar, highVar := b.Var("low", l.fill), b.Var("high", l.fill)
	b.If(done, func() {
		b.If(b.Not(firstGap), func() { b.Assign(lowVar, at(first)) }, nil)
		b.If(b.Not(secondGap), func() {
			b.Assign(highVar, at(target))
			b.If(b.Ne(second, target), func() {
				b.If(l.sorted, func() { b.Assign(highVar, at(second)) }, func() {
					least := b.Var("least", loop.Float(loop.F64, math.Inf(1)))
					b.For("i", second, l.count, func(i loop.Expr) { b.Assign(least, b.Min(least, at(i))) })
					b.Assign(highVar, least)
				})
			}, nil)
		}, nil)
	}, nil)
	return b.Let("a", lowVar), b.Let("b", highVar)
}

// mostRounds is how often selection may part the values; less in tests, so that they
// get there.
func (x *selector) mostRounds() int64 {
	if x.opts.Grain > 0 {
		return 2
	}
	return selectRounds
}

// pick brings the value of rank k among a line's values to place k, smaller ones before
// it and larger ones behind it, if that is wanted: C. A. R. Hoare, "Algorithm 65: Find", 1961,
// with the median of three as pivot. After mostRounds it gives up.
func (x *selector) pick(e *emit.Func, l line, k, wanted loop.Expr, done *loop.Ref) {
	b := e.B
	work := e.Write(x.work[0])
	at := func(i loop.Expr) loop.Expr { return b.Load(work, b.Add(l.begin, i)) }
	one := loop.Int(1)
	low, high := b.Var("first", loop.Int(0)), b.Var("last", b.Select(wanted, b.Sub(l.count, one), loop.Int(0)))
	rounds := b.Var("rounds", loop.Int(0))
	b.While(b.Lt(low, high), func() {
		mid := b.Let("mid", b.Add(low, loop.NewBinary(loop.Shr, b.Sub(high, low), one)))
		x1, x2, x3 := b.Let("x", at(low)), b.Let("y", at(mid)), b.Let("z", at(high))
		pivot := b.Let("pivot", b.Max(b.Min(x1, x2), b.Min(b.Max(x1, x2), x3)))
		i, j := b.Var("i", low), b.Var("j", high)
		b.While(b.Le(i, j), func() {
			// Both stop at the pivot at the latest, or at what was swapped.
			b.While(b.Lt(at(i), pivot), func() { b.Assign(i, b.Add(i, one)) })
			b.While(b.Gt(at(j), pivot), func() { b.Assign(j, b.Sub(j, one)) })
			b.If(b.Le(i, j), func() {
				v, w := b.Let("v", at(i)), b.Let("w", at(j))
				b.Store(work, b.Add(l.begin, i), w)
				b.Store(work, b.Add(l.begin, j), v)
				b.Assign(i, b.Add(i, one))
				b.Assign(j, b.Sub(j, one))
			}, nil)
		})
		b.If(b.Le(k, j), func() { b.Assign(high, j) }, func() {
			b.If(b.Ge(k, i), func() { b.Assign(low, i) }, func() { b.Assign(high, low) })
		})
		b.Assign(rounds, b.Add(rounds, one))
		b.If(b.And(b.Ge(rounds, loop.Int(x.mostRounds())), b.Lt(low, high)), func() {
			b.Assign(done, loop.Truth(false))
			b.Assign(high, low)
		}, nil)
	})
}
