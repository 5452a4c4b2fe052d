package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// On grids, a pass by a digit of a word goes through tiles of entries, a block for each
// (N. Satish, M. Harris and M. Garland, "Designing Efficient Sorting Algorithms for
// Manycore GPUs", 2009). One stage counts the digits of every tile; the running sum over
// digits, and tiles within each, is where a tile's entries of a digit go. In the other
// stage every warp ranks its entries among those of the same digit, in their order, by
// ballots; sums over the warps and digits of the block then are where entries go in the
// tile, in which the arrays of the entries are brought into that order in shared memory,
// one after another, so that what neighbouring threads store lies side by side.

const (
	// tileWarps is the size of a block, tileRounds how many entries a thread has.
	tileWarps  = 8
	tileRounds = 12
	// tilesResident is how many blocks a processor has room for: while some wait at a
	// barrier, others load and store.
	tilesResident = 3
)

// tiledPass is a function of a pass by tiles under construction.
type tiledPass struct {
	*countingPass
	t       *coop.Team
	e       *emit.Func
	b       *loop.Builder
	pack    packing
	differs func(loop.Expr) loop.Expr // nil without a filter in the pass
}

// tiled reports whether the pass goes by tiles.
func (p *countingPass) tiled() bool {
	return p.how.Grids && !p.how.Path.Alone && !p.blocks && p.digit.word >= 0 &&
		p.words[p.digit.word].Bits <= gridDigitBits && !p.elem.IsComplex()
}

// tileSize is how many warps a block has, and how many entries each thread.
func (p *countingPass) tileSize() (warps int, rounds int64) {
	if p.how.Grain > 0 { // tests of small data
		return 2, 2
	}
	return tileWarps, tileRounds
}

// tileLets are the scalars of a pass by tiles.
func (p *countingPass) tileLets() []loop.ScalarLet {
	warps, rounds := p.tileSize()
	tile := loop.SizeConst(int64(warps) * loop.WarpSize * rounds)
	return []loop.ScalarLet{
		{Scalar: p.buckets, Value: p.bucketCount()},
		{Scalar: p.per, Value: tile},
		{Scalar: p.chunks, Value: &loop.SizeOp{Op: loop.Max, X: loop.SizeConst(1), Y: emit.CeilDiv(loop.SizeScalar(p.n), tile)}},
	}
}

// tileTeam begins a function.
func (p *countingPass) tileTeam(name string) (*coop.Team, *emit.Func) {
	warps, _ := p.tileSize()
	return coop.NewTeam(p.Builder, name, warps, warps)
}

// tiledFunc makes it one that uses some words, and coordinates of the result.
func (p *countingPass) tiledFunc(t *coop.Team, e *emit.Func, words []int, coords bool) *tiledPass {
	x := &tiledPass{countingPass: p, t: t, e: e, b: e.B}
	var want axisSet
	if p.number == 0 {
		for _, w := range words {
			want |= axesOf(p.words[w].axes)
		}
	}
	if coords {
		for axis := range p.out {
			want |= 1 << axis
		}
	}
	x.pack = p.packing(x.e, p.words, want)
	if p.number == 0 && p.filter {
		x.differs = p.differs(x.e)
	}
	return x
}

// tileStage finishes the function.
func (x *tiledPass) tileStage(name string) loop.Stage {
	return x.t.Launch(name, x.t.BlocksFor(loop.SizeScalar(x.chunks)))
}

// eachTile runs body for the tiles, which have the entries from lo to hi.
func (x *tiledPass) eachTile(body func(tile, lo, hi loop.Expr)) {
	b := x.b
	warps, rounds := x.tileSize()
	size := loop.Int(int64(warps) * loop.WarpSize * rounds)
	x.t.Each(x.e.Scalar(x.chunks), func(tile loop.Expr) {
		lo := b.Let("begin", b.Mul(tile, size))
		body(tile, lo, b.Let("end", b.Min(x.e.Scalar(x.n), b.Add(lo, size))))
	})
}

// word gives a word of the entries from lo to hi.
func (x *tiledPass) word(w int, lo, hi loop.Expr) func(p loop.Expr) loop.Expr {
	b, e := x.b, x.e
	if x.number > 0 {
		// Not as what is only read: such loads are moved behind barriers, to where they
		// are waited for one by one.
		buf := e.Write(x.words[w].bufs[(x.number-1)%2])
		return func(p loop.Expr) loop.Expr { return b.Load(buf, p) }
	}
	at := x.source.within(e, lo, hi, axesOf(x.words[w].axes))
	return func(p loop.Expr) loop.Expr {
		return b.Cast(x.words[w].elem(), x.pack.word(b, x.words[w].axes, at(p)))
	}
}

// value gives the payload of entries.
func (x *tiledPass) value() func(p loop.Expr) loop.Expr {
	buf := x.vals
	if x.number > 0 {
		buf = x.payload[(x.number-1)%2]
	}
	id := x.e.Read(buf)
	return func(p loop.Expr) loop.Expr { return x.b.Load(id, p) }
}

// digitOf is the digit of a word that the pass sorts by.
func (x *tiledPass) digitOf(word loop.Expr) loop.Expr {
	elem := word.Type()
	down := loop.NewBinary(loop.Shr, word, loop.Number(elem, int64(x.digit.shift)))
	mask := loop.Number(elem, 1<<x.words[x.digit.word].Bits-1)
	return x.b.Let("digit", x.b.Cast(loop.I64, x.b.And(down, mask)))
}

// load reads the words of entries of a tile that has some. It returns which there are:
// those beyond the end, for which the last one is read, and those that are left out are
// not.
func (x *tiledPass) load(word func(p loop.Expr) loop.Expr, hi loop.Expr, at []loop.Expr) (words []loop.Expr, inside []*loop.Ref) {
	b := x.b
	last := b.Let("last", b.Sub(hi, loop.Int(1)))
	for _, p := range at { // without a condition, so that all loads are under way at once
		words = append(words, b.Let("word", word(b.Let("read", b.Min(p, last)))))
	}
	for _, p := range at {
		in := b.Var("inside", b.Lt(p, hi))
		if x.differs != nil {
			b.Assign(in, b.And(in, x.differs(b.Let("v", b.Load(x.e.Read(x.vals), b.Min(p, last))))))
		}
		inside = append(inside, in)
	}
	return words, inside
}

// countTiles is the stage that counts the digits of every tile.
func (p *countingPass) countTiles() {
	t, e := p.tileTeam("count")
	x := p.tiledFunc(t, e, []int{p.digit.word}, false)
	b := x.b
	counts := e.Write(p.counts)
	_, rounds := p.tileSize()
	bins := b.Shared("bins", loop.U32, 1<<p.words[p.digit.word].Bits)
	x.eachTile(func(tile, lo, hi loop.Expr) {
		x.eachDigit(func(d loop.Expr) { b.Store(bins, d, loop.Number(loop.U32, 0)) })
		t.Barrier()
		word := x.word(p.digit.word, lo, hi)
		var at []loop.Expr
		for k := range rounds {
			at = append(at, b.Let("p", b.Add(b.Add(lo, loop.Int(k*t.Threads())), t.Rank())))
		}
		b.If(b.Lt(lo, hi), func() {
			words, inside := x.load(word, hi, at)
			for k := range at {
				b.If(inside[k], func() { b.Atomic(loop.AtomicAdd, bins, x.digitOf(words[k]), loop.Number(loop.U32, 1)) }, nil)
			}
		}, nil)
		t.Barrier()
		x.eachDigit(func(d loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(d, e.Scalar(p.chunks)), tile))
			b.Store(counts, at, b.Cast(p.count, b.Load(bins, d)))
		})
	})
	st := x.tileStage("count")
	st.Lets = p.tileLets()
	st.Allocs = []loop.Alloc{{Buffer: p.counts, Len: emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.buckets))}}
	p.AddStage(st)
}

// eachDigit runs body for every digit, each of which is a thread's.
func (x *tiledPass) eachDigit(body func(d loop.Expr)) {
	b := x.b
	digits, threads := int64(1)<<x.words[x.digit.word].Bits, x.t.Threads()
	for first := int64(0); first < digits; first += threads {
		d := b.Let("d", b.Add(x.t.Rank(), loop.Int(first)))
		if first+threads <= digits {
			body(d)
			continue
		}
		b.If(b.Lt(d, loop.Int(digits)), func() { body(d) }, nil)
	}
}

// digits is how many there are.
func (x *tiledPass) digits() int64 { return int64(1) << x.words[x.digit.word].Bits }
