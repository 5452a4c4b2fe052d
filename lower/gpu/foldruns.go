package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Updates that are sorted by their elements are folded by tiles. The block brings their
// keys and what they fold into shared memory, and finds where groups begin: the updates of
// elements that differ in the lowest bits only, by which they need not have been sorted.
// Then a team of lanes takes a group, each lane an element, whose updates it folds in their
// order. The team of a group that goes past the end of the tile keeps what it has, and
// the block goes on with the next tile, for this group only, as long as it lasts; the block
// of that tile leaves alone what begins before it.

const (
	// foldRounds is how many updates of a tile there are for each thread.
	foldRounds = 4
	// foldUnroll is how many updates a lane reads from shared memory at a time.
	foldUnroll = 4
)

// runFolder is the function that folds, under construction.
type runFolder struct {
	*gridFunc
	x        *scatter
	keys     loop.BufID   // shared, of the tile
	operands []loop.BufID // shared, of the tile
	rounded  loop.BufID   // shared: what an element is, stored, where that rounds; -1 else
	vals     loop.BufID   // the elements
}

// foldTile is how many updates are folded together.
func (x *scatter) foldTile() int64 { return int64(x.m.opts.Threads) * foldRounds }

// foldRuns is the stage that folds the sorted updates into the elements.
func (x *scatter) foldRuns() loop.Stage {
	f := &runFolder{gridFunc: x.m.newFunc(x.s.Func.Name), x: x, rounded: -1}
	in := f.onlyCall(x.s)
	if x.listed {
		f.vals = in.Bufs[x.fold.store.Buf]
		var from []loop.BufID
		for _, id := range x.operands {
			from = append(from, f.buffer(id, loop.ReadOnly))
		}
		f.tiles(func(at loop.Expr) []loop.Expr {
			var list []loop.Expr
			for _, id := range from {
				list = append(list, f.Builder.Let("operand", f.Builder.Load(id, at)))
			}
			return list
		})
	} else {
		f.inlined(in)
	}
	return f.stage(x.s, "runs")
}

// inlined computes what is folded by the iterations of the loop.
func (f *runFolder) inlined(in loop.Inlining) {
	b, x := f.Builder, f.x
	f.vals = in.Bufs[x.fold.store.Buf]
	var vals []*loop.Ref
	body := withoutFails(x.l.Body)
	in.Loop = instead(x.l, func(n *loop.Inliner) {
		lo := b.Let("from", n.Expr(x.l.Lo))
		f.tiles(func(at loop.Expr) []loop.Expr {
			vals = nil
			var list []loop.Expr
			for _, e := range x.fold.operands {
				v := b.Var("operand", loop.Number(e.Type(), 0))
				vals, list = append(vals, v), append(list, v)
			}
			n.Bind(x.l.Var, b.Let("i", b.Add(lo, at)))
			n.Block(body)
			return list
		})
	})
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		for k, e := range x.fold.operands {
			b.Assign(vals[k], n.Expr(e))
		}
		return true
	}
	b.Inline(x.s.Func, in)
}

// tiles emits the loop over the tiles of the block. operandsAt computes what an update
// folds, given its number.
func (f *runFolder) tiles(operandsAt func(at loop.Expr) []loop.Expr) {
	b, x := f.Builder, f.x
	p := &x.sort
	threads := int64(f.m.opts.Threads)
	tile, warps := x.foldTile(), threads/warp
	keys, numbers := f.buffer(p.keys[0], loop.ReadOnly), f.buffer(p.numbers[0], loop.ReadOnly)
	n, tiles, elements := f.scalar(p.n), f.scalar(x.foldTiles), f.scalar(x.elements)
	passes, group := f.scalar(p.passCount), b.Cast(loop.U32, f.scalar(p.group))
	b.Resident(sortResident)
	f.keys = b.Shared("keys", loop.U32, tile)
	for _, e := range x.fold.operands {
		f.operands = append(f.operands, b.Shared("operands", e.Type(), tile))
	}
	if elem := b.Elem(f.vals); elem != elem.Compute() {
		f.rounded = b.Shared("rounded", elem, threads)
	}
	flags := b.Shared("flags", loop.U32, warps*foldRounds)
	heads := b.Shared("heads", loop.U32, tile+1)
	zero, one := loop.Int(0), loop.Int(1)
	lanes := b.Let("lanes", loop.NewBinary(loop.Shl, one, b.Cast(loop.I64, group)))
	rank := b.Let("rank", b.And(f.thread(), b.Sub(lanes, one)))
	team := b.Let("team", coop.Shr(f.thread(), b.Cast(loop.I64, group)))
	teams := b.Let("teams", coop.Shr(loop.Int(threads), b.Cast(loop.I64, group)))

	f.inTurns(f.block(), tiles, f.blocks(), func(t loop.Expr) {
		lo := b.Var("lo", b.Mul(t, loop.Int(tile)))
		// Most groups that go past the end have few updates there.
		length := b.Var("length", loop.Int(tile))
		going, rest := b.Var("going", loop.Truth(true)), b.Var("rest", loop.Truth(false))
		mine, any := b.Var("mine", loop.Truth(false)), b.Var("any", loop.Truth(false))
		element := b.Var("element", zero)
		acc := b.Var("acc", loop.Number(b.Elem(f.vals).Compute(), 0))
		b.While(going, func() {
			hi := b.Let("hi", b.Min(n, b.Add(lo, length)))
			count := f.load(operandsAt, keys, numbers, passes, group, lo, hi, flags, heads)
			size := b.Let("size", b.Sub(hi, lo))
			// Whether the last group goes on behind the tile, and is the block's.
			more := b.Var("more", b.And(b.Lt(hi, n), b.Select(rest, b.Eq(count, zero), b.Gt(count, zero))))
			b.If(more, func() {
				b.Assign(more, b.Eq(coop.Shr(b.Load(keys, hi), group), coop.Shr(b.Load(f.keys, b.Sub(size, one)), group)))
			}, nil)
			h := b.Var("h", b.Select(rest, b.Select(mine, loop.Int(-1), count), team))
			b.While(b.Lt(h, b.Select(rest, zero, count)), func() {
				start := b.Var("start", zero)
				b.If(b.Ge(h, zero), func() {
					b.Assign(start, b.Cast(loop.I64, b.Load(heads, h)))
					first := loop.NewBinary(loop.Shl, coop.Shr(b.Load(f.keys, start), group), group)
					b.Assign(element, b.Add(b.Cast(loop.I64, first), rank))
					b.Assign(any, loop.Truth(false))
					b.If(b.Lt(element, elements), func() { b.Assign(acc, b.Load(f.vals, element)) }, nil)
				}, nil)
				end := b.Let("end", b.Cast(loop.I64, b.Load(heads, b.Add(h, one))))
				f.scan(acc, any, b.Let("key", b.Cast(loop.U32, element)), start, end)
				b.Assign(mine, b.And(more, b.Eq(end, size)))
				b.If(b.And(any, b.And(b.Not(mine), b.Lt(element, elements))), func() { b.Store(f.vals, element, acc) }, nil)
				b.Assign(h, b.Add(h, teams))
			})
			b.Assign(length, b.Select(rest, loop.Int(tile), loop.Int(threads)))
			b.Assign(going, more)
			b.Assign(rest, more)
			b.Assign(lo, hi)
			b.Barrier(loop.BlockScope) // the tile's arrays have been read
		})
	})
}

// load brings the updates from lo to hi into shared memory, lists where groups begin, and
// behind the last where the tile ends. It returns how many begin.
func (f *runFolder) load(operandsAt func(at loop.Expr) []loop.Expr, keys, numbers loop.BufID, passes, group, lo, hi loop.Expr, flags, heads loop.BufID) loop.Expr {
	b := f.Builder
	threads := int64(f.m.opts.Threads)
	warps := threads / warp
	zero, one := loop.Int(0), loop.Int(1)
	last := b.Let("last", b.Sub(hi, one))
	sorted := b.Let("sorted", b.Gt(passes, zero))
	places, at, words := make([]loop.Expr, foldRounds), make([]loop.Expr, foldRounds), make([]loop.Expr, foldRounds)
	before := make([]loop.Expr, foldRounds)
	for k := range places {
		places[k] = b.Let("p", b.Add(lo, b.Add(f.thread(), loop.Int(int64(k)*threads))))
		at[k] = b.Let("at", b.Min(places[k], last))
		words[k] = b.Let("key", b.Load(keys, at[k]))
		before[k] = b.Let("before", b.Load(keys, b.Max(zero, b.Sub(at[k], one))))
	}
	numbered := make([]*loop.Ref, foldRounds)
	for k := range places {
		numbered[k] = b.Var("number", at[k])
	}
	b.If(sorted, func() {
		for k := range places {
			b.Assign(numbered[k], b.Cast(loop.I64, b.Load(numbers, at[k])))
		}
	}, nil)
	var operands [][]loop.Expr
	for k := range places {
		operands = append(operands, operandsAt(numbered[k]))
	}
	ballots, begins := make([]loop.Expr, foldRounds), make([]loop.Expr, foldRounds)
	for k, p := range places {
		inside := b.Let("inside", b.Lt(p, hi))
		slot := b.Let("slot", b.Sub(p, lo))
		b.If(inside, func() {
			b.Store(f.keys, slot, words[k])
			for j, v := range operands[k] {
				b.Store(f.operands[j], slot, v)
			}
		}, nil)
		begins[k] = b.Let("begins", b.And(inside, b.Or(b.Eq(p, zero), b.Ne(coop.Shr(words[k], group), coop.Shr(before[k], group)))))
		ballots[k] = b.Ballot("ballot", begins[k])
		b.If(b.Eq(f.Lane(), zero), func() {
			b.Store(flags, b.Add(loop.Int(int64(k)*warps), f.Warp()), ballots[k])
		}, nil)
	}
	b.Barrier(loop.BlockScope)
	// Every thread finds how many begin in the parts before its own.
	count := b.Var("count", zero)
	mineBefore := make([]*loop.Ref, foldRounds)
	for k := range mineBefore {
		mineBefore[k] = b.Var("earlier", zero)
	}
	for k := range int64(foldRounds) {
		f.Times(warps, func(w loop.Expr) {
			b.If(b.Eq(f.Warp(), w), func() { b.Assign(mineBefore[k], count) }, nil)
			b.Assign(count, b.Add(count, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, b.Load(flags, b.Add(w, loop.Int(k*warps)))))))
		})
	}
	oneBit := loop.Number(loop.U32, 1)
	below := b.Let("below", b.Sub(loop.NewBinary(loop.Shl, oneBit, b.Cast(loop.U32, f.Lane())), oneBit))
	for k, p := range places {
		b.If(begins[k], func() {
			place := b.Add(mineBefore[k], b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, b.And(ballots[k], below))))
			b.Store(heads, place, b.Cast(loop.U32, b.Sub(p, lo)))
		}, nil)
	}
	b.If(b.Eq(f.thread(), zero), func() { b.Store(heads, count, b.Cast(loop.U32, b.Sub(hi, lo))) }, nil)
	b.Barrier(loop.BlockScope)
	return b.Let("heads", count)
}

// scan folds the updates of an element that stand from start to end of the tile.
func (f *runFolder) scan(acc, any *loop.Ref, element loop.Expr, start, end loop.Expr) {
	b := f.Builder
	p := b.Var("p", start)
	steps := func(count int64) {
		keys := make([]loop.Expr, count)
		operands := make([][]loop.Expr, count)
		for k := range count {
			at := b.Let("at", b.Add(p, loop.Int(k)))
			keys[k] = b.Let("key", b.Load(f.keys, at))
			for _, id := range f.operands {
				operands[k] = append(operands[k], b.Let("operand", b.Load(id, at)))
			}
		}
		for k := range count {
			b.If(b.Eq(keys[k], element), func() {
				b.Assign(acc, f.x.fold.value(acc, operands[k]))
				if f.rounded >= 0 {
					b.Store(f.rounded, f.thread(), acc)
					b.Assign(acc, b.Load(f.rounded, f.thread()))
				}
				b.Assign(any, loop.Truth(true))
			}, nil)
		}
		b.Assign(p, b.Add(p, loop.Int(count)))
	}
	if !f.Quick {
		b.While(b.Le(b.Add(p, loop.Int(foldUnroll)), end), func() { steps(foldUnroll) })
	}
	b.While(b.Lt(p, end), func() { steps(1) })
}
