package prim

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// On grids, a team of threads goes through a line whose elements lie one behind the
// other, tile by tile: the tile comes into shared memory in the order of addresses,
// each thread folds some neighbouring elements of it, the threads' folds are scanned by
// shuffles, and each thread runs its elements from there (D. Merrill and A. Grimshaw,
// "Parallel Scan for Stream Architectures", 2009). Every element is read and written
// once; lines that are cut into blocks are read twice.
//
// Which team goes through a line, a block, a warp or a single thread, depends on the
// length of lines, on average: there is a stage for each, and two of them have no blocks.

// gridScan are the sizes of teams and tiles.
type gridScan struct {
	warps     int   // of a block
	perThread int64 // elements of a tile for each thread
	byWarp    int64 // the least mean length for which a warp takes a line
	byBlock   int64 // the least for which a block does
}

// gridScanSizes are smaller in tests, whose lines are short.
func (x *scanner) gridScanSizes() gridScan {
	if x.opts.Grain > 0 {
		if x.narrowLogs() {
			return gridScan{warps: 2, perThread: quadSize, byWarp: 2, byBlock: 5}
		}
		return gridScan{warps: 2, perThread: 3, byWarp: 2, byBlock: 5}
	}
	per := int64(64) / max(4, int64(x.scanned().Size()))
	if x.narrowLogs() {
		// Fewer threads wait for each other.
		return gridScan{warps: 4, perThread: per, byWarp: 16, byBlock: 1 << 10}
	}
	return gridScan{warps: 8, perThread: per, byWarp: 16, byBlock: 1 << 10}
}

const (
	// gridBlocks is how many blocks of lines there are to be at least for teams, and
	// for threads.
	gridBlocks       = 1 << 11
	gridThreadBlocks = 1 << 16
	// gridLeast is the least length of a block that one thread runs.
	gridLeast = 1 << 8
)

// scanned is the type of elements that are folded.
func (x *scanner) scanned() loop.Type {
	if x.step.Cast.Valid() {
		return emit.ComputeType(x.step.Cast)
	}
	return emit.ComputeType(x.from.DType)
}

// inTeams reports whether teams of threads share lines: the elements are all there, one
// behind the other, and have the type of the result.
func (x *scanner) inTeams() bool {
	return x.opts.Grids && !x.planar() && (x.how == ir.Planes || x.step.Stored) &&
		x.scanned() == emit.ComputeType(x.fold.Typ)
}

// choice are scalars of which one is 1 and the others are 0: who takes a line.
type choice struct{ thread, warp, block loop.ScalarID }

// choose defines who takes lines of a mean length.
func (l *lines) choose(length loop.SizeExpr, byWarp, byBlock int64) choice {
	atLeast := func(n int64) loop.SizeExpr {
		return emit.Min(loop.SizeConst(1), &loop.SizeOp{Op: loop.Div, X: length, Y: loop.SizeConst(n)})
	}
	less := func(x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Sub, X: x, Y: y} }
	var c choice
	c.block = l.define("by_block", atLeast(byBlock))
	c.warp = l.define("by_warp", less(atLeast(byWarp), loop.SizeScalar(c.block)))
	c.thread = l.define("by_thread", less(loop.SizeConst(1), atLeast(byWarp)))
	return c
}

// teamStages adds the stages in which teams run lines.
func (x *scanner) teamStages() {
	items := loop.SizeExpr(loop.SizeScalar(x.groups))
	if x.blocked() {
		items = loop.SizeScalar(x.cut.items)
		t := x.team("fold_blocks", x.teams.warps, x.teams.warps)
		x.teamFold(t)
		x.AddStage(t.Launch("blocks", t.BlocksFor(emit.Product(items, loop.SizeScalar(x.some)))))
	}
	write, most := x.teamRun, loop.SizeConst(coop.MaxBlocks)
	if x.narrowLogs() {
		write, most = x.teamLogs, x.logBlocks()
	}
	run := func(name string, warps int, some loop.ScalarID) {
		x.teamStage(name, name, warps, x.teams.warps, write, func(t *team) loop.SizeExpr {
			return emit.Min(t.BlocksFor(emit.Product(items, loop.SizeScalar(some))), most)
		})
	}
	run("run_by_block", x.teams.warps, x.who.block)
	run("run_by_warp", 1, x.who.warp)
}

// teamSpans runs body for the blocks of lines, of which each team takes one at a time.
func (x *scanner) teamSpans(t *team, body func(s span, line, block loop.Expr)) {
	b, e := t.B, t.Func
	if x.ragged() {
		t.Each(e.Scalar(x.groups), func(g loop.Expr) {
			begin, end := x.segment(e, g)
			n := b.Let("n", b.Sub(end, begin))
			body(span{group: g, length: n, from: loop.Int(0), until: n}, nil, nil)
		})
		return
	}
	blocks, size, n := e.Scalar(x.blocks), e.Scalar(x.block), e.Scalar(x.length)
	t.Each(e.Scalar(x.cut.items), func(item loop.Expr) {
		g := b.Let("line", b.Div(item, blocks))
		first := b.Let("first_block", b.Mul(g, blocks))
		from := b.Let("from", b.Min(n, b.Mul(b.Sub(item, first), size)))
		body(span{group: g, length: n, from: from, until: b.Let("until", b.Min(n, b.Add(from, size))), slot: item}, first, item)
	})
}

// teamFold folds every block of lines that have several.
func (x *scanner) teamFold(t *team) {
	b, e := t.B, t.Func
	prefix := x.newPrefix(t)
	x.teamSpans(t, func(s span, _, _ loop.Expr) {
		t.Barrier()
		base := x.base(e, s)
		own := x.fresh(e)
		// Several loads are on their way before the first is waited for.
		const ahead = 4
		at := b.Var("step", b.Add(s.from, t.Rank()))
		threads := t.Threads()
		element := func(k loop.Expr) loop.Expr { return b.Add(base, x.at(e, s, k)) }
		b.While(b.Lt(b.Add(at, loop.Int((ahead-1)*threads)), s.until), func() {
			var values [ahead]loop.Expr
			for r := range values {
				values[r] = x.load(e, b.Let("p", element(b.Add(at, loop.Int(int64(r)*threads)))))
			}
			for _, v := range values {
				own.Fold(v, nil)
			}
			b.Assign(at, b.Add(at, loop.Int(ahead*threads)))
		})
		b.While(b.Lt(at, s.until), func() {
			own.Fold(x.load(e, b.Let("p", element(at))), nil)
			b.Assign(at, b.Add(at, loop.Int(threads)))
		})
		_, total := prefix.Of(own)
		b.If(b.Eq(t.Rank(), loop.Int(0)), func() { x.keep(e, total, s.slot) }, nil)
	})
}

// teamRun writes the result.
func (x *scanner) teamRun(t *team) {
	b, e := t.B, t.Func
	per := x.teams.perThread
	tile := per * t.Threads()
	elem := x.scanned()
	prefix := x.newPrefix(t)
	// A gap behind every 128 bytes: the threads' elements lie in different banks.
	shift := int64(0)
	for int64(elem.Size())<<shift < 128 {
		shift++
	}
	padded := func(k loop.Expr) loop.Expr { return b.Add(k, loop.NewBinary(loop.Shr, k, loop.Int(shift))) }
	room := tile + tile>>shift + 1
	teams := int64(t.Block / t.Warps)
	shared := b.Shared("tile", elem, room*teams)
	place := func(k loop.Expr) loop.Expr { return padded(k) }
	if t.Single() {
		origin := b.Let("origin", b.Mul(t.Warp(), loop.Int(room)))
		place = func(k loop.Expr) loop.Expr { return b.Add(origin, padded(k)) }
	}
	out := e.Write(x.out)
	rank := b.Let("rank", t.Rank())
	x.teamSpans(t, func(s span, first, item loop.Expr) {
		base := x.base(e, s)
		carry := x.fresh(e)
		if x.blocked() && !t.Single() {
			x.teamCarry(t, prefix, carry, first, item)
		}
		start := b.Var("start", s.from)
		b.While(b.Lt(start, s.until), func() {
			n := b.Let("count", b.Min(loop.Int(tile), b.Sub(s.until, start)))
			element := func(k loop.Expr) loop.Expr { return b.Let("p", b.Add(base, x.at(e, s, b.Add(start, k)))) }
			turn := func(r loop.Expr) loop.Expr { return b.Let("k", b.Add(rank, b.Mul(r, loop.Int(t.Threads())))) }
			load := func(r loop.Expr) *loop.Ref {
				v := b.Var("v", loop.Number(elem, 0))
				k := turn(r)
				b.If(b.Lt(k, n), func() { b.Assign(v, x.load(e, element(k))) }, nil)
				return v
			}
			var loaded []*loop.Ref
			if !t.Quick {
				for r := range per { // all are under way at once
					loaded = append(loaded, load(loop.Int(r)))
				}
			}
			t.Barrier() // the tile before has been written
			if t.Quick {
				t.Times(per, func(r loop.Expr) { b.Store(shared, place(turn(r)), load(r)) })
			}
			for r, v := range loaded {
				b.Store(shared, place(turn(loop.Int(int64(r)))), v)
			}
			t.Barrier()
			mine := b.Let("mine", b.Mul(rank, loop.Int(per)))
			end := b.Let("end", b.Min(n, b.Add(mine, loop.Int(per))))
			own := x.fresh(e)
			b.For("k", mine, end, func(k loop.Expr) { own.Fold(b.Let("x", b.Load(shared, place(k))), nil) })
			before, total := prefix.Of(own)
			acc := x.fresh(e)
			prefix.Assign(acc, carry.Values())
			acc.Absorb(before.Values(), loop.Truth(true))
			b.For("k", mine, end, func(k loop.Expr) { x.foldAndStore(e, acc, shared, b.Let("at", place(k))) })
			t.Barrier()
			t.Times(per, func(r loop.Expr) {
				k := turn(r)
				b.If(b.Lt(k, n), func() { b.Store(out, element(k), b.Load(shared, place(k))) }, nil)
			})
			carry.Absorb(total.Values(), loop.Truth(true))
			b.Assign(start, b.Add(start, loop.Int(tile)))
		})
	})
}

// foldAndStore folds the element of a shared array at a place and puts the running value there.
func (x *scanner) foldAndStore(e *emit.Func, acc fold.State, shared loop.BufID, at loop.Expr) {
	b := e.B
	v := b.Let("x", b.Load(shared, at))
	if x.step.Exclusive {
		b.Store(shared, at, acc.Finish())
	}
	acc.Fold(v, nil)
	if !x.step.Exclusive {
		b.Store(shared, at, acc.Finish())
	}
}

// teamCarry folds the blocks of a line before an item.
func (x *scanner) teamCarry(t *team, prefix *fold.Prefix, carry fold.State, first, item loop.Expr) {
	b, e := t.B, t.Func
	b.If(b.Gt(e.Scalar(x.some), loop.Int(0)), func() {
		t.Barrier()
		own := x.fresh(e)
		at := b.Var("slot", b.Add(first, t.Rank()))
		b.While(b.Lt(at, item), func() {
			var state []loop.Expr
			for _, id := range x.states {
				state = append(state, b.Let("part", b.Load(e.Read(id), at)))
			}
			own.Absorb(state, loop.Truth(true))
			b.Assign(at, b.Add(at, loop.Int(t.Threads())))
		})
		_, total := prefix.Of(own)
		prefix.Assign(carry, total.Values())
	}, nil)
}
