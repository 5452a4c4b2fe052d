package gpu

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

var _ = register(mapping{of: ofElements, place: 2, word: "positions", take: (*mapper).positions, says: map[string]string{
	"starts_of_tiles": "notes the row in which each 2048 entries begin",
	"positions":       "a block for each 2048 entries, whatever their rows, since entries say where to read",
	"few_rows":        "a team of lanes for each row, in one launch, since entries are few",
	"long_rows":       "a block for each row that is too long for a team",
}})

// positions maps a stage over rows whose entries are folded, such as a sparse matrix
// times a vector, by the entries: a block takes a tile of so many entries, whatever
// rows they are of, so that rows of all lengths cost the same. Its threads compute what
// is folded of neighbouring entries into shared memory, all that they read being under
// way at once, and then teams of lanes fold the rows that start in the tile. What a row
// has in later tiles is kept apart and added by a last grid, in order. (Splitting by
// entries: D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector
// multiplication", SC 2016; rows folded from shared memory: J. L. Greathouse and M. Daga,
// "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format",
// SC 2014.)
//
// It is for loops that read something at a place that an entry tells, which is what
// threads wait for. It reports whether that could be done.
func (m *mapper) positions(s *loop.Stage) bool {
	row, entries, ok := onlyRowLoop(s.Func)
	if !ok || readsOwnStores(s.Func) {
		return false
	}
	p := &positions{m: m, s: s, row: row, entries: s.Bufs[entries], n: m.cuts[s.Partition].n}
	p.pos, _ = pointersOf(s.Func, p.row)
	p.folds, _ = foldsOf(s.Func, p.row)
	bytes := 0
	for _, d := range p.folds {
		bytes += d.typ.Size()
	}
	if bytes > tileBytes || !gathers(p.row) || !knowsPositionOnly(s.Func, p.row, p.folds) {
		return false
	}
	p.tiles = m.scalar(s.Name + "_tiles")
	p.starts = m.temp(s.Name+"_starts", loop.I64)
	for _, d := range p.folds {
		p.heads = append(p.heads, m.temp(s.Name+"_heads", d.typ))
		p.tails = append(p.tails, m.temp(s.Name+"_tails", d.typ))
	}
	tilewise, _ := m.withQuick(p.foldTiles)
	stages := []loop.Stage{p.findStarts(), tilewise, p.foldLongRows()}
	for i := range stages {
		if !verified(stages[i]) {
			return false
		}
	}
	tiles := loop.SizeExpr(loop.SizeScalar(p.tiles))
	one := loop.SizeConst(1)
	allocs := []loop.Alloc{{Buffer: p.starts, Len: sizeOp(loop.Add, tiles, one)}}
	for i := range p.folds {
		allocs = append(allocs, loop.Alloc{Buffer: p.heads[i], Len: tiles}, loop.Alloc{Buffer: p.tails[i], Len: tiles})
	}
	m.sizes(s.Name+"_tiles", []loop.ScalarLet{{
		// One more than there are full ones: rows may start behind the last entry.
		Scalar: p.tiles, Value: sizeOp(loop.Add, sizeOp(loop.Div, loop.SizeLen{Buffer: p.entries}, loop.SizeConst(p.tile())), one),
	}}, nil, allocs)
	some := sizeOp(loop.Min, tiles, loop.SizeConst(coop.MaxBlocks))
	blocks := []loop.SizeExpr{m.blocksFor(sizeOp(loop.Add, loop.SizeScalar(p.n), one)), some, m.blocksFor(sizeOp(loop.Mul, some, loop.SizeConst(warp)))}
	many, symbolic := m.fewRows(s, p.entries, p.n, m.longest(s, s.Bufs[p.pos], p.entries, p.n))
	for i, stage := range stages {
		factor := many
		if stage.Symbolic {
			factor = symbolic
		}
		m.run(stage, sizeOp(loop.Mul, factor, blocks[i]))
	}
	return true
}

const (
	// perThread is how many entries of a tile there are for each thread.
	perThread = 8
	// tileBytes bounds what is folded of an entry.
	tileBytes = 16
	// skewLog2 is the binary logarithm of the number of elements of the shared arrays after
	// which one is not used: else lanes that each read a row would want the same bank of the memory, as
	// rows often have a power of two of entries.
	skewLog2 = 4
	// tileResident is for how many blocks a processor should have room: while the threads
	// of some wait for each other, others read.
	tileResident = 6
	// patience is how many entries of a row there are for each lane of a team before
	// the row is left to a warp.
	patience = 16
)

// positions is a stage on its way.
type positions struct {
	m       *mapper
	s       *loop.Stage
	row     *loop.For // over the entries of a row
	folds   []fold
	pos     loop.BufID    // of the function
	entries loop.BufferID // an array with an element for each entry
	n       loop.ScalarID // rows
	tiles   loop.ScalarID
	// starts has for each tile the first row that starts in it or later, and n at
	// the end. heads and tails, for each fold, have what is folded of the last row
	// that starts in a tile if it ends in a later one; and of the row at the tile's
	// beginning that starts in an earlier one.
	starts       loop.BufferID
	heads, tails []loop.BufferID
}

// tile is how many entries a tile has.
func (p *positions) tile() int64 { return int64(p.m.opts.Threads) * perThread }

// tileOf is the tile of an entry.
func (p *positions) tileOf(entry loop.Expr) loop.Expr {
	if log := bits.TrailingZeros64(uint64(p.tile())); p.tile() == 1<<log {
		return coop.Shr(entry, loop.Int(int64(log))) // cheaper than the division of a number that might be negative
	}
	return loop.NewBinary(loop.Div, entry, loop.Int(p.tile()))
}

// gathers reports whether a loop reads something at a place that it has read.
func gathers(row *loop.For) bool {
	read := map[loop.VarID]bool{} // declared with something read
	found := false
	depends := func(e loop.Expr) bool { return loop.Reads(e, read) || loop.HasLoad(e) }
	loop.WalkStmts(row.Body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			found = found || loop.HasExpr(e, func(e loop.Expr) bool {
				l, ok := e.(*loop.Load)
				return ok && depends(l.Index)
			})
		}
		if l, ok := s.(*loop.Let); ok && depends(l.Value) {
			read[l.Var] = true
		}
	})
	return found
}

// knowsPositionOnly reports whether what a loop folds of an entry can be computed
// without knowing the row: it has no other variables than parameters, its own, and those
// that it folds into.
func knowsPositionOnly(f *loop.Func, row *loop.For, folds []fold) bool {
	known := loop.DeclaredIn(row.Body)
	maps.Copy(known, parameters(f))
	known[row.Var] = true
	for _, d := range folds {
		known[d.variable] = true
	}
	for e := range loop.AllExprs(row.Body) {
		if r, is := e.(*loop.Ref); is && !known[r.Var] {
			return false
		}
	}
	return true
}

// readOnce lists the buffers of which a loop reads only the elements of its entries.
func readOnce(f *loop.Func, row *loop.For) []loop.BufID {
	others := make([]int, len(f.Bufs)) // reads of other elements
	for l := range loop.Loads(f.Body) {
		others[l.Buf]++
	}
	var list []loop.BufID
	for l := range loop.Loads(row.Body) {
		if isRef(l.Index, row.Var) {
			others[l.Buf]--
			if others[l.Buf] == 0 && f.Bufs[l.Buf].ReadOnly {
				list = append(list, l.Buf)
			}
		}
	}
	slices.Sort(list)
	return list
}

// findStarts is the stage that finds the first row of each tile: a thread for each row
// looks which tiles begin between the one before and it.
func (p *positions) findStarts() loop.Stage {
	g := p.m.newFunc(p.s.Func.Name + "_starts")
	b := g.Builder
	pos, starts := g.buffer(p.s.Bufs[p.pos], loop.ReadOnly), g.buffer(p.starts, loop.ReadWrite)
	n, tiles := g.scalar(p.n), g.scalar(p.tiles)
	at := func(i loop.Expr) loop.Expr { return loop.NewCast(loop.I64, b.Load(pos, i)) }
	g.strided(b.Let("rows", b.Add(n, loop.Int(1))), func(i loop.Expr) {
		from := b.Var("from", loop.Int(0))
		b.If(b.Gt(i, loop.Int(0)), func() {
			b.Assign(from, b.Add(p.tileOf(at(b.Sub(i, loop.Int(1)))), loop.Int(1)))
		}, nil)
		last := b.Let("last", b.Select(b.Eq(i, n), tiles, p.tileOf(at(i))))
		b.While(b.Le(from, last), func() {
			b.Store(starts, from, i)
			b.Assign(from, b.Add(from, loop.Int(1)))
		})
	})
	s := g.stage(p.s, "starts_of_tiles")
	s.Symbolic = true
	return s
}

// finish emits the rest of a row's work, what was folded of its entries being known.
func (p *positions) finish(g *gridFunc, in loop.Inlining, row loop.Expr, sums []loop.Expr) {
	b := g.Builder
	in.Loop = instead(p.row, func(n *loop.Inliner) {
		for i, d := range p.folds {
			whole := n.Value(d.variable).(*loop.Ref)
			b.Assign(whole, loop.NewBinary(d.op, whole, sums[i]))
		}
	})
	g.element(p.s, in, row)
}

// foldTiles is the stage in which blocks take tiles.
func (p *positions) foldTiles() loop.Stage {
	m := p.m
	g, in := m.begin(p.s, "")
	for _, id := range readOnce(p.s.Func, p.row) {
		g.Builder.Once(in.Bufs[id])
	}
	b := g.Builder
	b.Resident(tileResident)
	pos, starts := in.Bufs[p.pos], g.buffer(p.starts, loop.ReadOnly)
	var heads, tails, shared []loop.BufID
	slots := p.tile() + p.tile()>>skewLog2
	for i, d := range p.folds {
		heads, tails = append(heads, g.buffer(p.heads[i], loop.ReadWrite)), append(tails, g.buffer(p.tails[i], loop.ReadWrite))
		shared = append(shared, b.Shared("terms", d.typ, slots))
	}
	list, count := b.Shared("long", loop.I64, p.tile()/patience), b.Shared("longs", loop.I64, 1)
	n, tiles := g.scalar(p.n), g.scalar(p.tiles)
	threads := loop.Int(int64(m.opts.Threads))
	at := func(i loop.Expr) loop.Expr { return loop.NewCast(loop.I64, b.Load(pos, i)) }
	slot := func(i loop.Expr) loop.Expr { return b.Add(i, coop.Shr(i, loop.Int(skewLog2))) }
	all := b.Let("entries", at(n))
	g.inTurns(g.block(), tiles, g.blocks(), func(tile loop.Expr) {
		t0 := b.Let("begin", b.Mul(tile, loop.Int(p.tile())))
		t1 := b.Let("end", b.Min(b.Add(t0, loop.Int(p.tile())), all))
		first := b.Let("first", b.Load(starts, tile))
		// The rows that start here, and before them what belongs to an earlier one.
		rows := b.Let("rows", b.Add(b.Sub(b.Load(starts, b.Add(tile, loop.Int(1))), first), loop.Int(1)))
		log := b.Var("lanes_log2", loop.Int(0))
		b.While(b.And(b.Lt(log, loop.Int(maxDoublings)), b.Le(coop.Shl(rows, b.Add(log, loop.Int(1))), threads)), func() {
			b.Assign(log, b.Add(log, loop.Int(1)))
		})
		width := b.Let("width", coop.Shl(loop.Int(1), log))
		teams := &lanes{g: g, width: width, own: b.Let("rank", b.And(g.thread(), b.Sub(width, loop.Int(1))))}
		team := b.Let("team", coop.Shr(g.thread(), log))
		// Where rows begin and end is read a turn ahead.
		item := func(base loop.Expr) loop.Expr {
			return b.Let("item", b.Min(b.Add(base, team), b.Sub(rows, loop.Int(1))))
		}
		bounds := func(k loop.Expr) (lo, end loop.Expr) {
			r := b.Let("row", b.Sub(b.Add(first, k), loop.Int(1)))
			return b.Select(b.Eq(k, loop.Int(0)), t0, at(b.Max(r, loop.Int(0)))), at(b.Add(r, loop.Int(1)))
		}
		lo, rowEnd := bounds(item(loop.Int(0)))
		nextLo, nextEnd := b.Var("next_lo", lo), b.Var("next_end", rowEnd)
		b.If(b.Eq(g.thread(), loop.Int(0)), func() { b.Store(count, loop.Int(0), loop.Int(0)) }, nil)
		b.If(b.Lt(t0, t1), func() {
			g.Times(perThread, func(e loop.Expr) {
				k := b.Let("k", b.Add(g.thread(), b.Mul(threads, e)))
				i := b.Let("p", b.Min(b.Add(t0, k), b.Sub(t1, loop.Int(1))))
				for j, v := range p.terms(g, in, i) {
					b.Store(shared[j], slot(k), v)
				}
			})
		}, nil)
		b.Barrier(loop.BlockScope)
		fold := func(t *lanes, k, lo, end, valid, limit loop.Expr) loop.Expr {
			r := b.Let("row", b.Sub(b.Add(first, k), loop.Int(1)))
			earlier := b.Let("earlier", b.Eq(k, loop.Int(0)))
			hi := b.Let("hi", b.Min(end, t1))
			var long loop.Expr = loop.Truth(false)
			if limit != nil {
				long = b.Let("long", b.Gt(b.Sub(hi, lo), limit))
				hi = b.Let("hi", b.Select(long, lo, hi))
			}
			parts := g.parts(p.folds)
			g.inTurns(b.Let("from", b.Add(b.Sub(lo, t0), t.own)), b.Let("to", b.Sub(hi, t0)), t.width, func(i loop.Expr) {
				place := b.Let("place", slot(i))
				for j, d := range p.folds {
					b.Assign(parts[j], loop.NewBinary(d.op, parts[j], b.Load(shared[j], place)))
				}
			})
			sums := make([]loop.Expr, len(p.folds))
			for i, d := range p.folds {
				sums[i] = t.combine(d, parts[i])
			}
			b.If(b.And(b.And(valid, b.Eq(t.own, loop.Int(0))), b.Not(long)), func() {
				b.If(earlier, func() {
					for i := range sums {
						b.Store(tails[i], tile, sums[i])
					}
				}, func() {
					b.If(b.Gt(end, t1), func() {
						for i := range sums {
							b.Store(heads[i], tile, sums[i])
						}
					}, func() { p.finish(g, in, r, sums) })
				})
			}, nil)
			return long
		}
		g.inTurns(loop.Int(0), rows, b.Let("teams", coop.Shr(threads, log)), func(base loop.Expr) {
			valid := b.Let("valid", b.Lt(b.Add(base, team), rows))
			place := item(base)
			lo, end := b.Let("lo", nextLo), b.Let("row_end", nextEnd)
			following, followingEnd := bounds(item(b.Add(base, b.Let("teams", coop.Shr(threads, log)))))
			b.Assign(nextLo, following)
			b.Assign(nextEnd, followingEnd)
			long := fold(teams, place, lo, end, valid, b.Mul(width, loop.Int(patience)))
			b.If(b.And(b.And(valid, long), b.Eq(teams.own, loop.Int(0))), func() {
				b.Store(list, b.AtomicOld("at", loop.AtomicAdd, count, loop.Int(0), loop.Int(1)), place)
			}, nil)
		})
		b.Barrier(loop.BlockScope)
		whole := &lanes{g: g, width: loop.Int(warp), own: g.Lane()}
		g.inTurns(g.Warp(), b.Let("longs", b.Load(count, loop.Int(0))), loop.Int(int64(m.opts.Threads/warp)), func(i loop.Expr) {
			k := b.Let("item", b.Load(list, i))
			lo, end := bounds(k)
			fold(whole, k, b.Let("lo", lo), b.Let("row_end", end), loop.Truth(true), nil)
		})
		b.Barrier(loop.BlockScope)
	})
	return g.stage(p.s, "positions")
}

// terms emits what is folded of an entry.
func (p *positions) terms(g *gridFunc, in loop.Inlining, entry loop.Expr) []*loop.Ref {
	in.Loop = nil
	n, parts := g.Builder.Inliner(p.s.Func, in), g.parts(p.folds)
	for i, d := range p.folds {
		n.Bind(d.variable, parts[i])
	}
	iteration(n, p.row, entry)
	return parts
}

// foldLongRows is the stage in which a warp for each tile adds up what the row that
// starts in it and does not end there has in later tiles.
func (p *positions) foldLongRows() loop.Stage {
	m := p.m
	g, in := m.begin(p.s, "_long")
	b := g.Builder
	pos, starts := in.Bufs[p.pos], g.buffer(p.starts, loop.ReadOnly)
	var heads, tails []loop.BufID
	for i := range p.folds {
		heads, tails = append(heads, g.buffer(p.heads[i], loop.ReadOnly)), append(tails, g.buffer(p.tails[i], loop.ReadOnly))
	}
	tiles := g.scalar(p.tiles)
	warps := loop.Int(int64(m.opts.Threads / warp))
	g.inTurns(b.Let("first", b.Add(b.Mul(g.block(), warps), g.Warp())), tiles, b.Let("all", b.Mul(g.blocks(), warps)), func(tile loop.Expr) {
		row := b.Let("row", b.Sub(b.Load(starts, b.Add(tile, loop.Int(1))), loop.Int(1)))
		next := b.Let("next_tile", b.Mul(b.Add(tile, loop.Int(1)), loop.Int(p.tile())))
		end := b.Let("end", loop.NewCast(loop.I64, b.Load(pos, b.Add(row, loop.Int(1)))))
		b.If(b.And(b.Ge(row, b.Load(starts, tile)), b.Gt(end, next)), func() {
			parts := g.parts(p.folds)
			last := b.Let("last", p.tileOf(b.Sub(end, loop.Int(1))))
			g.inTurns(b.Let("from", b.Add(b.Add(tile, loop.Int(1)), g.Lane())), b.Let("to", b.Add(last, loop.Int(1))), loop.Int(warp), func(u loop.Expr) {
				for i, d := range p.folds {
					b.Assign(parts[i], loop.NewBinary(d.op, parts[i], b.Load(tails[i], u)))
				}
			})
			t := &lanes{g: g, width: loop.Int(warp), own: g.Lane()}
			sums := make([]loop.Expr, len(p.folds))
			for i, d := range p.folds {
				sums[i] = b.Let("sum", loop.NewBinary(d.op, b.Load(heads[i], tile), t.combine(d, parts[i])))
			}
			b.If(b.Eq(g.Lane(), loop.Int(0)), func() { p.finish(g, in, row, sums) }, nil)
		}, nil)
	})
	return g.stage(p.s, "long_rows")
}
