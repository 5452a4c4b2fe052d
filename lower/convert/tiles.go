package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
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
	t       *gpu.Team
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
func (p *countingPass) tileTeam(name string) (*gpu.Team, *emit.Func) {
	warps, _ := p.tileSize()
	return gpu.NewTeam(p.Builder, name, warps, warps)
}

// tiledFunc makes it one that uses some words, and coordinates of the result.
func (p *countingPass) tiledFunc(t *gpu.Team, e *emit.Func, words []int, coords bool) *tiledPass {
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

// tileMove is the function that moves entries under construction.
type tileMove struct {
	*tiledPass
	moves   []int // the words that are read
	toWords bool  // to the buffers of words; else to the arrays of the result
	to      int   // which of the buffers of words
	prefix  *gpu.Prefix
	// Shared: what goes to its place in the tile, the counters of digits by warp, how far
	// the entries of a digit go from their place in the tile. The first is not in a quick function.
	exchanged, counters, base loop.BufID
	own                       loop.Expr // where the counters of the warp begin
}

// tileMove begins the function.
func (p *countingPass) tileMove(t *gpu.Team, e *emit.Func, words []int, pack bool) *tileMove {
	m := &tileMove{tiledPass: p.tiledFunc(t, e, words, !pack), moves: words, toWords: pack, to: p.number % 2}
	warps, rounds := p.tileSize()
	digits := m.digits()
	if !t.Quick {
		m.b.Resident(tilesResident)
		m.exchanged = m.b.Shared("exchange", loop.U64, int64(warps)*loop.WarpSize*rounds)
	}
	m.counters = m.b.Shared("counters", loop.U32, int64(warps)*digits)
	m.base = m.b.Shared("base", p.count, digits)
	m.prefix = t.PrefixOf(loop.Add, loop.Int(0))
	m.own = m.b.Let("own", m.b.Mul(t.Warp(), loop.Int(digits)))
	return m
}

// digits is how many there are.
func (x *tiledPass) digits() int64 { return int64(1) << x.words[x.digit.word].Bits }

// moveTiles is the stage that moves the entries of every tile to their places.
func (p *countingPass) moveTiles() {
	allocs, words, pack := p.moveAllocs(p.number % 2)
	if !pack { // those of which a coordinate is kept, and that of the digit
		words = nil
		for w := range p.words {
			if w == p.digit.word || len(p.writtenAxes(w)) > 0 {
				words = append(words, w)
			}
		}
	}
	t, e := p.tileTeam("move")
	m := p.tileMove(t, e, words, pack)
	m.eachFullTile(m.moveTile)
	st := m.tileStage("move")
	st.Allocs = allocs
	t, e = p.tileTeam("move")
	t.StandIn(st)
	q := p.tileMove(t, e, words, pack)
	q.eachFullTile(q.moveQuickly)
	t.StandsIn(&st)
	p.AddStage(st)
}

// eachFullTile runs body for the tiles that have entries.
func (x *tiledPass) eachFullTile(body func(tile, lo, hi loop.Expr)) {
	x.eachTile(func(tile, lo, hi loop.Expr) {
		x.b.If(x.b.Lt(lo, hi), func() { body(tile, lo, hi) }, nil)
	})
}

// clearCounters sets the counters of all warps to 0.
func (m *tileMove) clearCounters() {
	b, t := m.b, m.t
	n := int64(t.Warps) * m.digits()
	t.Times((n+t.Threads()-1)/t.Threads(), func(k loop.Expr) {
		at := b.Let("at", b.Add(t.Rank(), b.Mul(k, loop.Int(t.Threads()))))
		b.If(b.Lt(at, loop.Int(n)), func() { b.Store(m.counters, at, loop.Number(loop.U32, 0)) }, nil)
	})
}

// moveTile moves a tile through shared memory.
func (m *tileMove) moveTile(tile, lo, hi loop.Expr) {
	b, t := m.b, m.t
	_, rounds := m.tileSize()
	digit := m.digit.word
	first := m.first(lo)
	var at []loop.Expr
	for k := range rounds {
		at = append(at, b.Let("p", b.Add(first, loop.Int(k*loop.WarpSize))))
	}
	keys, inside := m.load(m.word(digit, lo, hi), hi, at)
	m.clearCounters()
	t.Barrier()
	places, total := m.places(keys, inside, tile)
	targets := make([]*loop.Ref, len(at))
	for k := range targets {
		targets[k] = b.Var("target", loop.Number(m.count, 0))
	}
	storeWord := func(w, k int, v loop.Expr) { m.storeWord(w, b.Cast(loop.I64, targets[k]), v) }
	arrays := []movedArray{{m.words[digit].elem(), func(k int) loop.Expr { return keys[k] }, func(k int, i, v loop.Expr) {
		b.Assign(targets[k], b.Add(b.Load(m.base, m.digitOf(v)), b.Cast(m.count, i)))
		storeWord(digit, k, v)
	}}}
	for _, w := range m.moves {
		if w == digit {
			continue
		}
		word := m.word(w, lo, hi)
		arrays = append(arrays, movedArray{m.words[w].elem(), func(k int) loop.Expr { return word(at[k]) },
			func(k int, _, v loop.Expr) { storeWord(w, k, v) }})
	}
	value := m.value()
	arrays = append(arrays, movedArray{m.elem, func(k int) loop.Expr { return value(at[k]) }, func(k int, _, v loop.Expr) {
		m.storeValue(b.Cast(loop.I64, targets[k]), v)
	}})
	for len(arrays) > 0 {
		n := 1
		if len(arrays) > 1 && arrays[0].elem.Size() <= 4 && arrays[1].elem.Size() <= 4 {
			n = 2
		}
		m.exchange(m.exchanged, arrays[:n], inside, places, total)
		arrays = arrays[n:]
	}
}

// first is the place of the lane's first entry in a tile from lo on.
func (m *tileMove) first(lo loop.Expr) loop.Expr {
	b, t := m.b, m.t
	_, rounds := m.tileSize()
	return b.Let("first", b.Add(b.Add(lo, b.Mul(t.Warp(), loop.Int(rounds*loop.WarpSize))), t.Lane()))
}

// places are where entries go in the tile, of which total are inside.
func (m *tileMove) places(keys []loop.Expr, inside []*loop.Ref, tile loop.Expr) (places []loop.Expr, total loop.Expr) {
	b, t := m.b, m.t
	var ranks []loop.Expr
	for k := range keys {
		ranks = append(ranks, m.rankOf(m.counters, m.own, keys[k], inside[k]))
	}
	t.Barrier()
	total = m.startTile(m.prefix, m.counters, m.base, tile)
	t.Barrier()
	for k := range keys {
		start := b.Var("to", loop.Number(loop.U32, 0))
		b.If(inside[k], func() { b.Assign(start, b.Add(b.Load(m.counters, b.Add(m.own, m.digitOf(keys[k]))), ranks[k])) }, nil)
		places = append(places, start)
	}
	return places, total
}

// storeWord stores a word of an entry, or the coordinates in it, at its target.
func (m *tileMove) storeWord(w int, target, v loop.Expr) {
	b, e, p := m.b, m.e, m.countingPass
	if m.toWords {
		b.Store(e.Write(p.words[w].bufs[m.to]), target, b.Cast(p.words[w].elem(), v))
		return
	}
	for _, axis := range p.writtenAxes(w) {
		out := e.Write(p.out[axis])
		b.Store(out, target, b.Cast(b.Elem(out), m.pack.coordinate(b, b.Cast(loop.U64, v), axis)))
	}
}

// storeValue stores the payload of an entry at its target.
func (m *tileMove) storeValue(target, v loop.Expr) {
	values := m.values
	if m.toWords {
		values = m.payload[m.to]
	}
	m.b.Store(m.e.Write(values), target, v)
}

// moveQuickly moves a tile without shared memory but for the counters: entries are counted,
// and then read again one after another.
func (m *tileMove) moveQuickly(tile, lo, hi loop.Expr) {
	b, t := m.b, m.t
	_, rounds := m.tileSize()
	digit := m.digit.word
	m.clearCounters()
	t.Barrier()
	first := m.first(lo)
	word := m.word(digit, lo, hi)
	each := func(body func(p, key loop.Expr, inside *loop.Ref)) {
		t.Times(rounds, func(k loop.Expr) {
			p := b.Let("p", b.Add(first, b.Mul(k, loop.Int(loop.WarpSize))))
			keys, inside := m.load(word, hi, []loop.Expr{p})
			body(p, keys[0], inside[0])
		})
	}
	each(func(_, key loop.Expr, inside *loop.Ref) {
		b.If(inside, func() {
			b.Atomic(loop.AtomicAdd, m.counters, b.Add(m.own, m.digitOf(key)), loop.Number(loop.U32, 1))
		}, nil)
	})
	t.Barrier()
	m.startTile(m.prefix, m.counters, m.base, tile)
	t.Barrier()
	value := m.value()
	each(func(p, key loop.Expr, inside *loop.Ref) {
		place := m.rankOf(m.counters, m.own, key, inside)
		b.If(inside, func() {
			target := b.Let("target", b.Cast(loop.I64, b.Add(b.Load(m.base, m.digitOf(key)), b.Cast(m.count, place))))
			m.storeWord(digit, target, key)
			for _, w := range m.moves {
				if w != digit {
					m.storeWord(w, target, m.word(w, lo, hi)(p))
				}
			}
			m.storeValue(target, value(p))
		}, nil)
	})
	t.Barrier() // before the counters are cleared again
}

// movedArray is an array of the entries that are moved: how a thread loads its k-th
// entry's element and, as the k-th one that it stores, stores element i of the tile.
type movedArray struct {
	elem  loop.Type
	load  func(k int) loop.Expr
	store func(k int, i, v loop.Expr)
}

// exchange sends an array, or two that are narrow, through shared memory.
func (x *tiledPass) exchange(shared loop.BufID, arrays []movedArray, inside []*loop.Ref, places []loop.Expr, total loop.Expr) {
	b, t := x.b, x.t
	half := loop.Number(loop.U64, 32)
	values := make([]*loop.Ref, len(places))
	for k := range places {
		values[k] = b.Var("v", loop.Number(loop.U64, 0))
		b.If(inside[k], func() {
			v := b.Cast(loop.U64, arrays[0].load(k))
			if len(arrays) == 2 {
				v = b.Or(v, loop.NewBinary(loop.Shl, b.Cast(loop.U64, arrays[1].load(k)), half))
			}
			b.Assign(values[k], v)
		}, nil)
	}
	for k := range places {
		b.If(inside[k], func() { b.Store(shared, b.Cast(loop.I64, places[k]), values[k]) }, nil)
	}
	t.Barrier()
	for k := range places {
		i := b.Let("i", b.Add(t.Rank(), loop.Int(int64(k)*t.Threads())))
		b.If(b.Lt(i, total), func() {
			v := b.Let("v", b.Load(shared, i))
			arrays[0].store(k, i, b.Let("low", b.Cast(arrays[0].elem, v)))
			if len(arrays) == 2 {
				arrays[1].store(k, i, b.Let("high", b.Cast(arrays[1].elem, loop.NewBinary(loop.Shr, v, half))))
			}
		}, nil)
	}
	t.Barrier()
}

// writtenAxes are the axes of a word of which the last pass writes coordinates.
func (p *countingPass) writtenAxes(w int) (axes []int) {
	for _, axis := range p.words[w].axes {
		if _, ok := p.out[axis]; ok {
			axes = append(axes, axis)
		}
	}
	return axes
}

// rankOf is how many entries of a warp stand before that of the lane and have its
// digit. All those before have been counted, and then so are the warp's.
func (x *tiledPass) rankOf(counters loop.BufID, own, word loop.Expr, inside *loop.Ref) loop.Expr {
	b, t := x.b, x.t
	digit := x.digitOf(word)
	same := b.Var("same", b.Ballot("all", inside))
	x.t.Times(int64(x.words[x.digit.word].Bits), func(bit loop.Expr) {
		set := b.Let("set", b.Ne(b.And(digit, loop.NewBinary(loop.Shl, loop.Int(1), bit)), loop.Int(0)))
		with := b.Ballot("with", set)
		b.Assign(same, b.And(same, b.Select(set, with, loop.NewUnary(loop.Not, with))))
	})
	one := loop.Number(loop.U32, 1)
	below := b.Sub(loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, t.Lane())), one)
	among := b.Let("among", b.Cast(loop.U32, loop.NewUnary(loop.OnesCount, b.And(same, below))))
	counter := b.Let("counter", b.Add(own, digit))
	before := b.Let("before", b.Load(counters, counter))
	b.Barrier(loop.WarpScope)
	b.If(b.And(inside, b.Eq(among, loop.Number(loop.U32, 0))), func() {
		b.Store(counters, counter, b.Add(before, b.Cast(loop.U32, loop.NewUnary(loop.OnesCount, same))))
	}, nil)
	b.Barrier(loop.WarpScope)
	return b.Let("rank", b.Add(before, among))
}

// startTile turns the counters of the warps into where their entries of a digit begin
// in the tile. base becomes how far they go from there. It returns the number of entries.
func (x *tiledPass) startTile(prefix *gpu.Prefix, counters, base loop.BufID, tile loop.Expr) loop.Expr {
	b, t := x.b, x.t
	digits := int64(1) << x.words[x.digit.word].Bits
	per := (digits + t.Threads() - 1) / t.Threads()
	first := b.Let("first_digit", b.Min(loop.Int(digits), b.Mul(t.Rank(), loop.Int(per))))
	end := b.Let("end_digit", b.Min(loop.Int(digits), b.Add(first, loop.Int(per))))
	counter := func(w, d loop.Expr) loop.Expr { return b.Let("at", b.Add(d, b.Mul(w, loop.Int(digits)))) }
	own := prefix.Open()
	sum := own[0]
	b.For("d", first, end, func(d loop.Expr) {
		t.Times(int64(t.Warps), func(w loop.Expr) {
			b.Assign(sum, b.Add(sum, b.Cast(loop.I64, b.Load(counters, counter(w, d)))))
		})
	})
	before, total := prefix.Of(own)
	next := b.Var("next", b.Cast(loop.U32, before[0]))
	counts := x.e.Read(x.counts)
	b.For("d", first, end, func(d loop.Expr) {
		at := b.Let("place", b.Load(counts, b.Add(b.Mul(d, x.e.Scalar(x.chunks)), tile)))
		b.Store(base, d, b.Sub(at, b.Cast(x.count, next)))
		t.Times(int64(t.Warps), func(w loop.Expr) {
			at := counter(w, d)
			n := b.Let("n", b.Load(counters, at))
			b.Store(counters, at, next)
			b.Assign(next, b.Add(next, n))
		})
	})
	return b.Let("total", total[0])
}
