package prim

import "github.com/lacuna-sparse/lacuna/ir/loop"

// A counting sort has a counter for each bucket, which first counts what falls into it, then says where the next of that goes
// (D. E. Knuth, The Art of Computer Programming, vol. 3, §5.2, algorithm D). What is counted and moved is the
// caller's, so that radix sorts, transposes and lists that become rows are made of the same three steps.

// ClearCounters sets the counters from first to last-1 to 0.
func ClearCounters(b *loop.Builder, counters loop.BufID, first, last loop.Expr) {
	b.ForIndependent("bucket", first, last, func(i loop.Expr) { b.Store(counters, i, loop.Number(b.Elem(counters), 0)) })
}

// Count counts one more in the counter at a place.
func Count(b *loop.Builder, counters loop.BufID, at loop.Expr) {
	b.Store(counters, at, b.Add(b.Load(counters, at), loop.Number(b.Elem(counters), 1)))
}

// Starts turns the counts from first to last-1 into where each one's elements begin, the first at begin: exclusive
// sums. Each, if it is not nil, is told them. The end of the last is returned.
func Starts(b *loop.Builder, counters loop.BufID, first, last, begin loop.Expr, each func(i, start loop.Expr)) *loop.Ref {
	sum := b.Var("sum", b.Cast(b.Elem(counters), begin))
	b.For("bucket", first, last, func(i loop.Expr) {
		n := b.Let("n", b.Load(counters, i))
		b.Store(counters, i, sum)
		if each != nil {
			each(i, sum)
		}
		b.Assign(sum, b.Add(sum, n))
	})
	return sum
}

// Take is where an element of the counter at a place goes. The next one goes behind it.
func Take(b *loop.Builder, counters loop.BufID, at loop.Expr) loop.Expr {
	to := b.Let("to", b.LoadIndex(counters, at))
	b.Store(counters, at, b.Cast(b.Elem(counters), b.Add(to, loop.Int(1))))
	return to
}
