package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Of a line of which only the first k elements in the order are wanted, most are looked at once and never moved. A
// list has the first k of those seen, in order, and behind them candidates: those seen since that come before the k-th.
// When the list is full, the candidates are sorted and merged with the others, and k stay. Of elements in random order
// about k ln(n/k) become candidates; in the worst order all of them do, and are sorted in parts, which costs less than at
// once. Candidates come later in the line than what they are merged with, so equal elements stay in their order.

// roomForFirst is the length of such a list of k: with room for k candidates, so that a merge is worth it, and for a run of insertions.
func (x *lineSort) roomForFirst(k int64) loop.SizeExpr {
	candidates := max(k, sortedRun)
	if x.opts.Grain > 0 { // tests of small data
		candidates = k
	}
	return &loop.SizeOp{Op: loop.Add, X: loop.SizeConst(k), Y: loop.SizeConst(candidates)}
}

// gather brings the elements of a line into order, or as many as the result keeps: into the sorter's buffers, from list
// on. element calls put, where element p is one to be sorted, with its key and its coordinate.
func (x *lineSort) gather(e *emit.Func, list, begin, end loop.Expr, element func(p loop.Expr, put func(v, place loop.Expr))) {
	b := e.B
	held := b.Var("held", loop.Int(0))
	if x.step.First == 0 {
		b.For("p", begin, end, func(p loop.Expr) {
			element(p, func(v, place loop.Expr) { x.put(e, list, held, v, place) })
		})
		x.sorter.Sort(e, list, held)
		return
	}
	room, kept := e.Scalar(x.room), e.Scalar(x.kept)
	sorted := b.Var("sorted", loop.Int(0)) // how many of them are: none at first, then as many as are kept
	last := b.Var("last", emit.Constant(tensor.Zero(tensor.DType(x.typ))))
	p := b.Var("p", begin)
	b.While(b.Lt(p, end), func() {
		b.While(b.And(b.Lt(p, end), b.Lt(held, room)), func() {
			element(p, func(v, place loop.Expr) {
				b.If(b.Or(b.Eq(sorted, loop.Int(0)), x.before(b, v, last)), func() { x.put(e, list, held, v, place) }, nil)
			})
			b.Assign(p, b.Add(p, loop.Int(1)))
		})
		x.sorter.Sort(e, b.Let("candidates", b.Add(list, sorted)), b.Var("new", b.Sub(held, sorted)))
		b.If(b.Gt(sorted, loop.Int(0)), func() { x.sorter.mergeFirst(e, list, sorted, held) }, nil)
		b.Assign(held, b.Min(held, kept))
		b.Assign(sorted, held)
		b.If(b.Lt(p, end), func() {
			b.Assign(last, b.Load(e.Write(x.sorter.Keys[0]), b.Sub(b.Add(list, sorted), loop.Int(1))))
		}, nil)
	})
}
