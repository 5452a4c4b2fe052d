package emit

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Bisect is the first of the places from first to last-1 that does not stand before what is looked for, or last: those that
// do come first.
func Bisect(b *loop.Builder, first, last loop.Expr, before func(at loop.Expr) loop.Expr) *loop.Ref {
	lo, hi := b.Var("lo", first), b.Var("hi", last)
	one := loop.Number(lo.Type(), 1)
	b.While(b.Lt(lo, hi), func() {
		mid := b.Let("mid", b.Add(lo, loop.NewBinary(loop.Shr, b.Sub(hi, lo), one)))
		b.If(before(mid), func() { b.Assign(lo, b.Add(mid, one)) }, func() { b.Assign(hi, mid) })
	})
	return lo
}
