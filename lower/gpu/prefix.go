package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// A running sum of N elements takes three grids (reduce, scan, apply: Sengupta et
// al., Scan Primitives for GPU Computing, 2007): each block sums a tile of elements,
// one block sums the tiles' sums, and each block goes through its tile again. All
// are integers, so the sums are those of one thread.

// tileRounds is how many elements of a tile there are for each thread.
const tileRounds = 8

// prefixes maps a stage that does nothing but running sums.
func (m *mapper) prefixes(s *loop.Stage) {
	for i := range s.Prefixes {
		m.prefix(s, &s.Prefixes[i])
	}
}

// prefixParts is what the three grids of a running sum share.
type prefixParts struct {
	*loop.Prefix
	elem    loop.Type
	fails   []string
	n       loop.ScalarID
	tiles   loop.ScalarID
	sums    loop.BufferID
	tile    int64
	threads int
}

func (m *mapper) prefix(s *loop.Stage, x *loop.Prefix) {
	p := prefixParts{Prefix: x, elem: m.out.Buffers[x.Buffer].Elem, fails: s.Func.Fails, threads: m.opts.Threads}
	p.tile = int64(p.threads) * tileRounds
	p.n, p.tiles = m.scalar(s.Name+"_n"), m.scalar(s.Name+"_tiles")
	p.sums = m.temp(s.Name+"_sums", p.elem)
	n, tiles := loop.SizeScalar(p.n), loop.SizeScalar(p.tiles)
	m.sizes(s.Name+"_tiles", []loop.ScalarLet{
		{Scalar: p.n, Value: x.N}, {Scalar: p.tiles, Value: emit.CeilDiv(n, loop.SizeConst(p.tile))},
	}, nil, []loop.Alloc{{Buffer: p.sums, Len: tiles}})
	m.launch(s, "tile_sums", m.tileSums(&p), tiles)
	m.launch(s, "sums_of_tiles", m.sumsOfTiles(&p), loop.SizeConst(1))
	m.launch(s, "tiles", m.tilePrefixes(&p), tiles)
}

// element is the place of element k of the sum.
func (p *prefixParts) element(b *loop.Builder, k loop.Expr) loop.Expr {
	return b.Add(loop.Int(p.First), b.Mul(k, loop.Int(p.Stride)))
}

// add is x + y, or the least sum that is too great.
func (p *prefixParts) add(b *loop.Builder, x, y loop.Expr) loop.Expr {
	if p.Limit > 0 {
		return b.Min(b.Add(x, y), loop.Number(p.elem, p.Limit+1))
	}
	return b.Add(x, y)
}

func (p *prefixParts) zero() loop.Expr { return loop.Number(p.elem, 0) }

// load is element k, or 0 from n on.
func (p *prefixParts) load(b *loop.Builder, data loop.BufID, k, n loop.Expr) *loop.Ref {
	v := b.Var("v", p.zero())
	b.If(b.Lt(k, n), func() { b.Assign(v, p.add(b, b.Load(data, p.element(b, k)), p.zero())) }, nil)
	return v
}

func (m *mapper) tileSums(p *prefixParts) *gridFunc {
	g := m.newFunc("tile_sums")
	b := g.Builder
	data, sums := g.buffer(p.Buffer, loop.ReadOnly), g.buffer(p.sums, loop.ReadWrite)
	n := g.scalar(p.n)
	first := b.Let("first", b.Add(b.Mul(g.block(), loop.Int(p.tile)), g.thread()))
	sum := b.Var("sum", p.zero())
	b.For("round", loop.Int(0), loop.Int(tileRounds), func(round loop.Expr) {
		k := b.Let("k", b.Add(first, b.Mul(round, loop.Int(int64(p.threads)))))
		b.Assign(sum, p.add(b, sum, p.load(b, data, k, n)))
	})
	_, total := g.blockPrefix(p, sum)
	b.If(b.Eq(g.thread(), loop.Int(0)), func() { b.Store(sums, g.block(), total) }, nil)
	return g
}

func (m *mapper) sumsOfTiles(p *prefixParts) *gridFunc {
	g := m.newFunc("sums_of_tiles")
	b := g.Builder
	sums := g.buffer(p.sums, loop.ReadWrite)
	tiles := g.scalar(p.tiles)
	carry := b.Var("carry", p.zero())
	threads := loop.Int(int64(p.threads))
	rounds := b.Let("rounds", b.Div(b.Add(tiles, loop.Int(int64(p.threads)-1)), threads))
	b.For("round", loop.Int(0), rounds, func(round loop.Expr) {
		k := b.Let("k", b.Add(b.Mul(round, threads), g.thread()))
		v := b.Var("v", p.zero())
		b.If(b.Lt(k, tiles), func() { b.Assign(v, b.Load(sums, k)) }, nil)
		before, total := g.blockPrefix(p, v)
		b.If(b.Lt(k, tiles), func() { b.Store(sums, k, p.add(b, carry, before)) }, nil)
		b.Assign(carry, p.add(b, carry, total))
	})
	b.If(b.Eq(g.thread(), loop.Int(0)), func() {
		if p.Limit > 0 {
			b.If(b.Gt(carry, loop.Number(p.elem, p.Limit)), func() { b.Fail("%s", p.fails[0]) }, nil)
		}
		if p.Total >= 0 {
			b.Store(g.buffer(p.Total, loop.ReadWrite), loop.Int(p.At), carry)
		}
	}, nil)
	return g
}

func (m *mapper) tilePrefixes(p *prefixParts) *gridFunc {
	g := m.newFunc("tiles")
	b := g.Builder
	data, sums := g.buffer(p.Buffer, loop.ReadWrite), g.buffer(p.sums, loop.ReadOnly)
	n := g.scalar(p.n)
	first := b.Let("first", b.Add(b.Mul(g.block(), loop.Int(p.tile)), g.thread()))
	carry := b.Var("carry", b.Load(sums, g.block()))
	b.For("round", loop.Int(0), loop.Int(tileRounds), func(round loop.Expr) {
		k := b.Let("k", b.Add(first, b.Mul(round, loop.Int(int64(p.threads)))))
		v := p.load(b, data, k, n)
		before, total := g.blockPrefix(p, v)
		sum := p.add(b, carry, before)
		if p.Inclusive {
			sum = p.add(b, sum, v)
		}
		b.If(b.Lt(k, n), func() { b.Store(data, p.element(b, k), sum) }, nil)
		b.Assign(carry, p.add(b, carry, total))
	})
	return g
}

// blockPrefix gives each thread the sum of what the threads of its block before it
// have, and of all. All threads of the block come here.
func (g *gridFunc) blockPrefix(p *prefixParts, v loop.Expr) (before, total loop.Expr) {
	b := g.Builder
	warps := p.threads / warp
	if g.totals == nil {
		id := b.Shared("warp_totals", p.elem, int64(warps))
		g.totals = &id
	}
	sum := b.Var("sum", v)
	for d := int64(1); d < warp; d *= 2 {
		from := b.Shuffle("from", loop.ShuffleUp, sum, loop.Int(d), warp)
		b.If(b.Ge(g.Lane(), loop.Int(d)), func() { b.Assign(sum, p.add(b, from, sum)) }, nil)
	}
	b.Barrier(loop.BlockScope) // the totals of the last time have been read
	b.If(b.Eq(g.Lane(), loop.Int(warp-1)), func() { b.Store(*g.totals, g.Warp(), sum) }, nil)
	b.Barrier(loop.BlockScope)
	earlier, all := b.Var("earlier", p.zero()), b.Var("all", p.zero())
	b.For("w", loop.Int(0), loop.Int(int64(warps)), func(w loop.Expr) {
		b.If(b.Eq(w, g.Warp()), func() { b.Assign(earlier, all) }, nil)
		b.Assign(all, p.add(b, all, b.Load(*g.totals, w)))
	})
	// The sum before the thread is that with it of the lane below.
	below := b.Shuffle("below", loop.ShuffleUp, sum, loop.Int(1), warp)
	before = b.Let("before", p.add(b, earlier, b.Select(b.Eq(g.Lane(), loop.Int(0)), p.zero(), below)))
	return before, b.Let("total", all)
}
