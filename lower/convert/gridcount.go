package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// On grids, a pass goes through tiles of entries, a block for each, by the digit of a word (lower/gpu/coop/multisplit.go).

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
	t      *coop.Team
	e      *emit.Func
	b      *loop.Builder
	digits *coop.Digits
	pack   packing
	keeps  func(entry) loop.Expr // nil if the pass has all entries
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

// begin begins a function.
func (p *countingPass) begin(name string) *tileTeam {
	warps, _ := p.tileSize()
	t, e := coop.NewTeam(p.Builder, name, warps, warps)
	return &tileTeam{t, e}
}

// tileTeam is a function for blocks that take tiles.
type tileTeam struct {
	*coop.Team
	e *emit.Func
}

// tiledFunc makes it one that uses some words, and coordinates of the result.
func (p *countingPass) tiledFunc(t *tileTeam, words []int, coords bool) *tiledPass {
	x := &tiledPass{countingPass: p, t: t.Team, e: t.e, b: t.e.B}
	_, rounds := p.tileSize()
	x.digits = &coop.Digits{Team: t.Team, Bits: int64(p.words[p.digit.word].Bits), Rounds: rounds, Keys: x.keys,
		Of: func(word loop.Expr) loop.Expr { return x.b.Let("digit", x.digitOf(x.b, x.digit, word)) }}
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
		x.keeps = p.keeps(x.e)
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
	switch {
	case x.number > 0:
		buf = x.payload[(x.number-1)%2]
	case x.blocks:
		return func(p loop.Expr) loop.Expr { return x.b.Cast(x.count, p) }
	}
	if x.number == 0 {
		return func(p loop.Expr) loop.Expr { return x.converter.value(x.e, p) }
	}
	id := x.e.Read(buf)
	return func(p loop.Expr) loop.Expr { return x.b.Load(id, p) }
}

// keys gives what reads the words of the digit of entries, and tells which there are: those beyond the end, for which the
// last one is read, and those that are left out are not.
func (x *tiledPass) keys(lo, hi loop.Expr) func(at []loop.Expr) (words []loop.Expr, inside []*loop.Ref) {
	b, word := x.b, x.word(x.digit.word, lo, hi)
	entry := func(p loop.Expr) entry { return entry{pos: p} }
	if x.keeps != nil && x.how.Map.some() {
		entry = x.source.within(x.e, lo, hi, 0)
	}
	return func(at []loop.Expr) (words []loop.Expr, inside []*loop.Ref) {
		last := b.Let("last", b.Sub(hi, loop.Int(1)))
		for _, p := range at { // without a condition, so that all loads are under way at once
			words = append(words, b.Let("word", word(b.Let("read", b.Min(p, last)))))
		}
		for _, p := range at {
			in := b.Var("inside", b.Lt(p, hi))
			if x.keeps != nil {
				b.Assign(in, b.And(in, x.keeps(entry(b.Min(p, last)))))
			}
			inside = append(inside, in)
		}
		return words, inside
	}
}

// countTiles is the stage that counts the digits of every tile.
func (p *countingPass) countTiles() {
	x := p.tiledFunc(p.begin("count"), []int{p.digit.word}, false)
	b := x.b
	counts := x.e.Write(p.counts)
	bins := x.digits.Bins()
	x.eachTile(func(tile, lo, hi loop.Expr) {
		x.digits.Count(bins, lo, hi, func(d, n loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(d, x.e.Scalar(p.chunks)), tile))
			b.Store(counts, at, b.Cast(p.count, n))
		})
	})
	st := x.tileStage("count")
	st.Lets = p.tileLets()
	st.Allocs = []loop.Alloc{{Buffer: p.counts, Len: emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.buckets))}}
	p.AddStage(st)
}
