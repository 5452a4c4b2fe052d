package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// How a tile of entries is moved.

// tileMove is the function that moves entries under construction.
type tileMove struct {
	*tiledPass
	moves   []int // the words that are read
	toWords bool  // to the buffers of words; else to the arrays of the result
	to      int   // which of the buffers of words
	prefix  *coop.Prefix
	// Shared: what goes to its place in the tile, the counters of digits by warp, how far
	// the entries of a digit go from their place in the tile. The first is not in a quick function.
	exchanged, counters, base loop.BufID
	own                       loop.Expr // where the counters of the warp begin
}

// tileMove begins the function.
func (p *countingPass) tileMove(t *coop.Team, e *emit.Func, words []int, pack bool) *tileMove {
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
	b := x.b
	digit := x.digitOf(word)
	same, among := x.t.Peers(digit, int64(x.words[x.digit.word].Bits), inside)
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
func (x *tiledPass) startTile(prefix *coop.Prefix, counters, base loop.BufID, tile loop.Expr) loop.Expr {
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
