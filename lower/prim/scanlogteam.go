package prim

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// A running log of a sum of exponentials is bound by arithmetic on grids. Where its
// results are rounded to 32 bits or fewer, the sums are not kept beside a maximum that
// grows with them, but at a scale c that stays as long as it does:
//
//	y(k) = c + log(s + e^(x(0)-c) + … + e^(x(k)-c))
//
// in f64, whose exponents leave room for hundreds of powers of e above and below. So a
// tile is a plain scan, with one exponential and one logarithm for each element, which
// are cheap as they need not be right to the last bit of f64; their tables lie in the
// lanes of each warp. c is 0 where the first sum of a tile is near enough to 1, so that
// y is rounded once.
//
// A tile with elements too far above the first one, or with NaN or infinity, or without
// a scale as nothing but -infinity came before, is folded in pairs of a maximum and a
// sum like any other scan, an element at a time.

// narrowLogs reports whether teams scan so.
func (x *scanner) narrowLogs() bool {
	return x.fold.Fold == ir.FoldLogSumExp && fold.Narrow(x.fold)
}

const (
	// quadSize is how many elements a vector has.
	quadSize = 4
	// fold.ZeroScale is how far from 0 the logarithm of the first sum of a tile may be for
	// the scale 0. Beyond, the scale is that logarithm or near it, and then x-c is exact
	// by Sterbenz's lemma for x from c/2 to 2c, or so far below that it does not count.

	// aboveZero is how far elements may be above a scale of 0, and aboveOther above
	// another: less than half of what that may be. The sums of fewer terms than there
	// are addresses stay finite.
	aboveZero, aboveOther = 512, 128
	// below is where elements count no longer, as the first sum is at least
	// e^-fold.ZeroScale.
	below = -600
)

// A narrowScan is the function of a team for such a scan.
type narrowScan struct {
	x      *scanner
	t      *team
	prefix *fold.Prefix
	quads  int64       // of each thread
	tile   loop.BufID  // shared: the elements, then the results; see place
	totals loop.BufID  // shared: the sums of the warps, twice by turns; of blocks only
	kept   loop.BufID  // shared: a state, as all threads of a block see it; of blocks only
	origin loop.Expr   // of the warp in tile
	own    loop.Expr   // where the thread's elements are in tile
	lane   loop.Expr   // number of the lane
	tables logTables   // of the lane
	wide   *loop.Ref   // the tile came in vectors
	ahead  *loop.Ref   // the next tile was read, which comes in vectors, too
	next   []*loop.Ref // what of it is the thread's
	carry  fold.State  // what is before the tile, in pairs, unless there is a scale
	c, sum *loop.Ref   // what is before the tile, at a scale
	scaled *loop.Ref   // there is a scale
	turn   *loop.Ref   // which half of totals is next
}

// logTables are slots of tables; see the functions that use them.
type logTables struct {
	high, low loop.Expr // of an _expslot
	part      loop.Expr // of _logpart
	// inverseHigh and inverseLow are of _loginverse.
	inverseHigh, inverseLow loop.Expr
}

// teamLogs writes the result.
func (x *scanner) teamLogs(t *team) {
	b, e := t.B, t.Func
	w := &narrowScan{x: x, t: t, quads: x.teams.perThread / quadSize, prefix: x.newPrefix(t)}
	w.tile = b.Shared("tile", x.scanned(), w.region()*int64(t.Block))
	if !t.Single() {
		w.totals, w.kept = b.Shared("sums", loop.F64, 2*int64(t.Warps)), b.Shared("kept", loop.F64, 2)
	}
	b.Resident(logResident)
	w.lane = b.Let("lane", t.Lane())
	w.origin = b.Let("origin", b.Mul(t.Warp(), loop.Int(w.region())))
	w.own = b.Let("own", b.Add(w.origin, padded(b, b.Mul(w.lane, loop.Int(w.quads)))))
	w.fillTables()
	w.wide, w.turn = b.Var("wide", loop.Truth(false)), b.Var("turn", loop.Int(0))
	w.ahead = b.Var("ahead", loop.Truth(false))
	for range x.teams.perThread {
		if !t.Quick {
			w.next = append(w.next, b.Var("next", loop.Number(x.scanned(), 0)))
		}
	}
	x.teamSpans(t, func(s span, first, item loop.Expr) {
		base := x.base(e, s)
		w.carry = x.fresh(e)
		if x.blocked() && !t.Single() {
			b.If(b.Gt(e.Scalar(x.some), loop.Int(0)), func() {
				earlier := x.fresh(e)
				x.teamCarry(t, w.prefix, earlier, first, item)
				w.carryOn(earlier)
			}, nil)
		}
		w.c, w.sum = b.Var("c", loop.Number(loop.F32, 0)), b.Var("sum", loop.Float(loop.F64, 0))
		w.scaled = b.Var("scaled", loop.Truth(false))
		start := b.Var("start", s.from)
		b.Assign(w.ahead, loop.Truth(false))
		b.While(b.Lt(start, s.until), func() { w.step(s, base, start) })
	})
}

// logResident is how many blocks of such a scan a processor has room for. That leaves a thread
// the registers for its sums and for the tile that it reads ahead, so that the memory works
// while the processor computes: more blocks and no reading ahead takes a third longer.
const logResident = 4

// logBlocks is how many blocks there are at most, as each computes its tables; few in tests,
// whose blocks are to take several lines.
func (x *scanner) logBlocks() loop.SizeConst {
	if x.opts.Grain > 0 {
		return 2
	}
	return 1 << 13
}

// fillTables computes the slots of the lane.
func (w *narrowScan) fillTables() {
	b := w.t.B
	halves := func(name, fn string) (high, low loop.Expr) {
		bits := b.Let(name, b.Call(fn, loop.U64, w.lane))
		high = b.Let("high", b.Cast(loop.U32, loop.NewBinary(loop.Shr, bits, loop.Number(loop.U64, 32))))
		return high, b.Let("low", b.Cast(loop.U32, bits))
	}
	w.tables.high, w.tables.low = halves("power", "_expslot_u64")
	w.tables.part = b.Let("part", b.Call("_logpart_f32", loop.F32, w.lane))
	w.tables.inverseHigh, w.tables.inverseLow = halves("inverse", "_loginverse_u64")
}

// carryOn makes a state what is before the next tile. The threads of a block take that of
// the first one, which is plainly the same for all.
func (w *narrowScan) carryOn(acc fold.State) {
	b, t := w.t.B, w.t
	if t.Single() {
		w.prefix.Assign(w.carry, acc.Values())
		return
	}
	t.Barrier()
	b.If(b.Eq(t.Rank(), loop.Int(0)), func() {
		for i, v := range acc.Vars {
			b.Store(w.kept, loop.Int(int64(i)), v)
		}
	}, nil)
	t.Barrier()
	var state []loop.Expr
	for i := range acc.Vars {
		state = append(state, b.Load(w.kept, loop.Int(int64(i))))
	}
	w.prefix.Assign(w.carry, state)
}

// perTile is the number of elements of a tile.
func (w *narrowScan) perTile() int64 { return w.x.teams.perThread * w.t.Threads() }

// firstOf is the number of the warp's first element in a tile.
func (w *narrowScan) firstOf() loop.Expr {
	if w.t.Single() {
		return loop.Int(0)
	}
	return w.t.B.Mul(w.t.Warp(), loop.Int(w.x.teams.perThread*warpSize))
}

// Elements are read and written one behind the other by the lanes of a warp: as vectors
// where a whole tile begins at a multiple of their size, else one at a time. Values r of a
// lane are then in vector r/4 · 32 + lane of the warp's elements, or are element r · 32 + lane.

// step runs a tile.
func (w *narrowScan) step(s span, base loop.Expr, start *loop.Ref) {
	b, x, t := w.t.B, w.x, w.t
	n := w.count(s, start)
	b.If(b.Not(w.scaled), func() {
		w.scale(x.load(t.Func, w.element(s, base, start, loop.Int(0))))
	}, nil)
	w.fetch(s, base, start, n)
	b.Barrier(loop.WarpScope)
	done := w.scanAtScale()
	b.If(b.Not(done), func() { w.inPairs(n) }, nil)
	b.Barrier(loop.WarpScope)
	w.write(s, base, start, n)
	b.Barrier(loop.WarpScope)
	b.Assign(start, b.Add(start, loop.Int(w.perTile())))
}

// scale finds a scale for what is before the tile, or for its first element where that
// is nothing.
func (w *narrowScan) scale(first loop.Expr) {
	b := w.t.B
	m, sum := w.carry.Vars[0], w.carry.Vars[1]
	inf := loop.Float(loop.F64, math.Inf(1))
	near := func(v loop.Expr) loop.Expr {
		return b.Le(loop.NewUnary(loop.Abs, v), loop.Float(loop.F64, fold.ZeroScale))
	}
	// Where only -infinity came before, m is that.
	empty := b.Let("empty", b.And(b.Eq(sum, sum), b.Eq(m, loop.NewUnary(loop.Neg, inf))))
	of := b.Let("of", b.Select(empty, b.Cast(loop.F64, first), m))
	b.If(b.And(b.Eq(sum, sum), b.Lt(loop.NewUnary(loop.Abs, of), inf)), func() {
		b.Assign(w.scaled, loop.Truth(true))
		b.Assign(w.c, b.Select(near(of), loop.Number(loop.F32, 0), b.Cast(loop.F32, of)))
		b.Assign(w.sum, b.Select(empty, loop.Float(loop.F64, 0), sum))
		b.If(b.And(near(of), b.Not(empty)), func() { b.Assign(w.sum, b.Mul(sum, b.Call("exp_f64", loop.F64, m))) }, nil)
	}, nil)
}

// scanAtScale stores the results of the tile if there is a scale for it. It returns whether it did.
func (w *narrowScan) scanAtScale() (done *loop.Ref) {
	b := w.t.B
	var values []loop.Expr
	for i := range w.x.teams.perThread {
		if !w.t.Quick || i == 0 { // a quick function reads the others twice
			values = append(values, b.Let("x", b.Load(w.tile, b.Add(w.own, loop.Int(i)))))
		}
	}
	done = b.Var("done", loop.Truth(false))
	b.If(w.scaled, func() {
		if w.t.Quick {
			w.scannedQuickly(values[0], done)
			return
		}
		w.scanned(values, done)
	}, nil)
	return done
}

// limits are how far above the scale elements may be, and the sum that is not reached then.
func (w *narrowScan) limits() (above, limit loop.Expr) {
	b := w.t.B
	atZero := b.Eq(w.c, loop.Number(loop.F32, 0))
	above = b.Let("above", b.Select(atZero, loop.Float(loop.F32, aboveZero), loop.Float(loop.F32, aboveOther)))
	limit = b.Let("limit", b.Select(atZero, loop.Float(loop.F64, math.Ldexp(1, 738)), loop.Float(loop.F64, math.Ldexp(1, 184))))
	return above, limit
}

// scanned stores the results of the tile, unless it has elements too far above.
func (w *narrowScan) scanned(values []loop.Expr, done *loop.Ref) {
	b := w.t.B
	above, limit := w.limits()
	sums := make([]loop.Expr, len(values))
	var sum loop.Expr
	for i, v := range values {
		term := w.term(v, above)
		if i > 0 {
			term = b.Add(sum, term)
		}
		sum = b.Let("sum", term)
		sums[i] = sum
	}
	before, all := w.sumBefore(sum)
	b.If(b.Lt(all, limit), func() {
		for i := range sums {
			s := before
			if !w.x.step.Exclusive {
				s = b.Let("s", b.Add(before, sums[i]))
			} else if i > 0 {
				s = b.Let("s", b.Add(before, sums[i-1]))
			}
			b.Store(w.tile, b.Add(w.own, loop.Int(int64(i))), b.Add(w.c, w.log(s)))
		}
		w.endTile(values[0], all, done)
	}, nil)
}

// endTile stores the first result of a line, which is exact, and what is before the next tile.
func (w *narrowScan) endTile(first, all loop.Expr, done *loop.Ref) {
	b := w.t.B
	b.If(b.And(b.Eq(w.sum, loop.Float(loop.F64, 0)), b.Eq(w.t.Rank(), loop.Int(0))), func() {
		y := loop.Expr(loop.Float(loop.F32, math.Inf(-1)))
		if !w.x.step.Exclusive {
			y = first
		}
		b.Store(w.tile, w.own, y)
	}, nil)
	b.Assign(w.sum, all)
	b.Assign(done, loop.Truth(true))
}

// term is e^(v-c). A NaN and what is too far above give so much that the limit is
// reached.
func (w *narrowScan) term(v, above loop.Expr) loop.Expr {
	b := w.t.B
	d := b.Let("d", loop.NewBinary(loop.MaxNum, loop.NewBinary(loop.MinNum, b.Sub(v, w.c), above), loop.Float(loop.F32, below)))
	count := b.Let("count", b.Call("_expcount_f32", loop.F32, d))
	slot := b.Let("slot", b.Cast(loop.I64, loop.NewUnary(loop.Bits, count)))
	high := b.Shuffle("high", loop.ShuffleIndex, w.tables.high, slot, warpSize)
	low := b.Shuffle("low", loop.ShuffleIndex, w.tables.low, slot, warpSize)
	return b.Let("term", b.Call("_expjoin_f64", loop.F64, b.Call("_exprest_f32", loop.F32, d, count), count, high, low))
}

// log is the logarithm of a sum.
func (w *narrowScan) log(s loop.Expr) loop.Expr {
	b := w.t.B
	slot := b.Let("slot", b.Cast(loop.I64, b.Call("_logslot_u32", loop.U32, s)))
	part := b.Shuffle("part", loop.ShuffleIndex, w.tables.part, slot, warpSize)
	high := b.Shuffle("high", loop.ShuffleIndex, w.tables.inverseHigh, slot, warpSize)
	low := b.Shuffle("low", loop.ShuffleIndex, w.tables.inverseLow, slot, warpSize)
	return b.Let("log", b.Call("_lognarrow_f32", loop.F32, s, part, high, low))
}

// sumBefore is what comes before the thread's elements, of which it has the sum, and the
// sum of all to the tile's end.
func (w *narrowScan) sumBefore(own loop.Expr) (before, all loop.Expr) {
	b, t := w.t.B, w.t
	zero := loop.Float(loop.F64, 0)
	sum := b.Var("sum", own)
	t.Times(warpLog, func(k loop.Expr) {
		d := loop.NewBinary(loop.Shl, loop.Int(1), k)
		other := b.Shuffle("other", loop.ShuffleUp, sum, d, warpSize)
		b.If(b.Ge(w.lane, d), func() { b.Assign(sum, b.Add(sum, other)) }, nil)
	})
	other := b.Shuffle("other", loop.ShuffleUp, sum, loop.Int(1), warpSize)
	lanes := b.Let("lanes", b.Select(b.Eq(w.lane, loop.Int(0)), zero, other))
	if t.Single() {
		total := b.Shuffle("total", loop.ShuffleIndex, sum, loop.Int(warpSize-1), warpSize)
		return b.Let("before", b.Add(w.sum, lanes)), b.Let("all", b.Add(w.sum, total))
	}
	half := b.Let("half", b.Mul(w.turn, loop.Int(int64(t.Warps))))
	b.If(b.Eq(w.lane, loop.Int(warpSize-1)), func() { b.Store(w.totals, b.Add(half, t.Warp()), sum) }, nil)
	t.Barrier()
	b.Assign(w.turn, b.Sub(loop.Int(1), w.turn))
	start := b.Var("before", w.sum)
	all = w.sum
	for k := range int64(t.Warps) {
		total := b.Let("total", b.Load(w.totals, b.Add(half, loop.Int(k))))
		if k < int64(t.Warps)-1 {
			b.If(b.Lt(loop.Int(k), t.Warp()), func() { b.Assign(start, b.Add(start, total)) }, nil)
		}
		all = b.Let("all", b.Add(all, total))
	}
	return b.Let("before", b.Add(start, lanes)), all
}

// inPairs stores the results of the tile by pairs of a maximum and a sum.
func (w *narrowScan) inPairs(n loop.Expr) {
	b, x, t := w.t.B, w.x, w.t
	b.If(w.scaled, func() {
		minus := loop.Float(loop.F64, math.Inf(-1))
		b.Assign(w.carry.Vars[0], b.Select(b.Gt(w.sum, loop.Float(loop.F64, 0)), b.Cast(loop.F64, w.c), minus))
		b.Assign(w.carry.Vars[1], w.sum)
		b.Assign(w.scaled, loop.Truth(false))
	}, nil)
	t.Barrier() // the totals of a tile before have been read
	mine := b.Let("mine", b.Add(w.firstOf(), b.Mul(w.lane, loop.Int(x.teams.perThread))))
	rest := b.Let("rest", b.Min(loop.Int(x.teams.perThread), b.Sub(n, mine)))
	end := b.Let("end", b.Add(w.own, b.Max(rest, loop.Int(0))))
	own := x.fresh(t.Func)
	b.For("k", w.own, end, func(k loop.Expr) { own.Fold(b.Let("x", b.Load(w.tile, k)), nil) })
	before, total := w.prefix.Of(own)
	acc := x.fresh(t.Func)
	w.prefix.Assign(acc, w.carry.Values())
	acc.Absorb(before.Values(), loop.Truth(true))
	b.For("k", w.own, end, func(k loop.Expr) { x.foldAndStore(t.Func, acc, w.tile, k) })
	next := x.fresh(t.Func)
	w.prefix.Assign(next, w.carry.Values())
	next.Absorb(total.Values(), loop.Truth(true))
	w.carryOn(next)
}
