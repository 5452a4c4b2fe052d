package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// How a tile of entries is moved.

// tileMove is the function that moves entries under construction.
type tileMove struct {
	*tiledPass
	split   *coop.Multisplit
	moves   []int     // the words that are read
	toWords bool      // to the buffers of words; else to the arrays of the result
	to      int       // which of the buffers of words
	size    loop.Expr // of a block that is copied with its entry; nil: none is
}

// tileMove begins the function. What is wider than a word does not go through shared memory.
func (p *countingPass) tileMove(t *tileTeam, words []int, pack bool) *tileMove {
	m := &tileMove{tiledPass: p.tiledFunc(t, words, !pack), moves: words, toWords: pack, to: p.number % 2}
	resident := tilesResident
	if !pack && p.blocks {
		m.size = p.extentsIn(m.e, p.blockAxes())
	}
	if m.size != nil || p.payloadType().IsComplex() {
		resident = 0
	}
	m.split = m.digits.Mover(p.count, resident)
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
	st, _ := coop.Twice(func() *tileTeam { return p.begin("move") }, func(t *tileTeam) bool {
		m := p.tileMove(t, words, pack)
		m.eachTile(func(tile, lo, hi loop.Expr) { m.b.If(m.b.Lt(lo, hi), func() { m.tile(tile, lo, hi) }, nil) })
		return true
	}, func(t *tileTeam) loop.Stage { return t.Launch("move", t.BlocksFor(loop.SizeScalar(p.chunks))) })
	st.Allocs = allocs
	p.AddStage(st)
}

// tile moves a tile.
func (m *tileMove) tile(tile, lo, hi loop.Expr) {
	b := m.b
	place := func(d loop.Expr, with func(at loop.Expr)) {
		with(b.Let("place", b.Load(m.e.Read(m.counts), b.Add(b.Mul(d, m.e.Scalar(m.chunks)), tile))))
	}
	word := func(w int) coop.Moved {
		return coop.Moved{Elem: m.words[w].elem(), Store: func(target, v loop.Expr) { m.storeWord(w, target, v) }}
	}
	m.split.Move(lo, hi, place, word(m.digit.word), func(at []loop.Expr) (list []coop.Moved) {
		for _, w := range m.moves {
			if w != m.digit.word {
				x, read := word(w), m.word(w, lo, hi)
				x.Load = func(k int) loop.Expr { return read(at[k]) }
				list = append(list, x)
			}
		}
		value := m.value()
		return append(list, coop.Moved{Elem: m.payloadType(), Load: func(k int) loop.Expr { return value(at[k]) }, Store: m.storeValue})
	})
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
	switch {
	case m.toWords:
		m.b.Store(m.e.Write(m.payload[m.to]), target, v)
	case m.size != nil:
		m.copyBlock(m.e, target, v, m.size)
	default:
		m.b.Store(m.e.Write(m.values), target, v)
	}
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
