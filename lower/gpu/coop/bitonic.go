package coop

import "github.com/lacuna-sparse/lacuna/ir/loop"

// SortLanes sorts the keys that the lanes of a warp have: so many each, a power of two,
// in the order of lanes. It is a bitonic sort (K. Batcher, "Sorting networks and their
// applications", 1968) whose merges begin by turning one of two runs round, so that all
// comparisons put the lesser key first.
func (t *Team) SortLanes(keys []loop.Expr) []loop.Expr {
	per := int64(len(keys))
	for run := int64(2); run <= per*loop.WarpSize; run *= 2 {
		keys = t.compareKeys(keys, run-1, run/2)
		for d := run / 4; d > 0; d /= 2 {
			keys = t.compareKeys(keys, d, d)
		}
	}
	return keys
}

// compareKeys compares each key with the one whose number differs in the bits of flip;
// the one without the bit first becomes the lesser.
func (t *Team) compareKeys(keys []loop.Expr, flip, first int64) []loop.Expr {
	b, per := t.Builder, int64(len(keys))
	out := make([]loop.Expr, per)
	lanes, own := flip/per, flip%per
	lesser := func(x, y loop.Expr) loop.Expr { return b.Let("key", b.Min(x, y)) }
	greater := func(x, y loop.Expr) loop.Expr { return b.Let("key", b.Max(x, y)) }
	if lanes == 0 {
		for e := range per {
			if e&first == 0 {
				out[e], out[e^own] = lesser(keys[e], keys[e^own]), greater(keys[e], keys[e^own])
			}
		}
		return out
	}
	low := b.Let("low", b.Eq(b.And(t.Lane(), loop.Int(first/per)), loop.Int(0)))
	for e := range per {
		other := b.Shuffle("other", loop.ShuffleXor, keys[e^own], loop.Int(lanes), loop.WarpSize)
		out[e] = b.Let("key", b.Select(low, b.Min(keys[e], other), b.Max(keys[e], other)))
	}
	return out
}

// SortShared sorts the first n of the keys in a shared array, of which the team has the elements
// that place tells, a power of two; last is at least as great as any key. Barriers stand around it.
func (t *Team) SortShared(keys loop.BufID, n, last loop.Expr, place func(i loop.Expr) loop.Expr) {
	b := t.Builder
	size := b.Var("size", loop.Int(2))
	b.While(b.Lt(size, n), func() { b.Assign(size, b.Add(size, size)) })
	inTurns := func(first, end loop.Expr, body func(i loop.Expr)) {
		t.InTurns("i", b.Add(first, t.Rank()), end, loop.Int(t.Threads()), body)
	}
	inTurns(n, size, func(i loop.Expr) { b.Store(keys, place(i), last) })
	t.Barrier()
	// compare compares keys whose numbers differ in the bits of flip, of which first is
	// the uppermost.
	compare := func(flip, first loop.Expr) {
		inTurns(loop.Int(0), b.Let("half", Shr(size, loop.Int(1))), func(i loop.Expr) {
			x := b.Let("x", b.Add(i, b.And(i, b.Sub(loop.Int(0), first)))) // i with a 0 put in at the bit
			y := b.Let("y", loop.NewBinary(loop.Xor, x, flip))
			kx, ky := b.Let("key", b.Load(keys, place(x))), b.Let("key", b.Load(keys, place(y)))
			b.If(b.Gt(kx, ky), func() {
				b.Store(keys, place(x), ky)
				b.Store(keys, place(y), kx)
			}, nil)
		})
		t.Barrier()
	}
	run := b.Var("run", loop.Int(2))
	b.While(b.Le(run, size), func() {
		compare(b.Let("flip", b.Sub(run, loop.Int(1))), b.Let("first", Shr(run, loop.Int(1))))
		d := b.Var("distance", Shr(run, loop.Int(2)))
		b.While(b.Gt(d, loop.Int(0)), func() {
			apart := b.Let("apart", d)
			compare(apart, apart)
			b.Assign(d, Shr(d, loop.Int(1)))
		})
		b.Assign(run, b.Add(run, run))
	})
}
