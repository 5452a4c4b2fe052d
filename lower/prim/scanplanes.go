package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// This file runs lines that lie side by side in a dense tensor, such as the columns
// of a matrix stored by rows: row by row, with a state for each line in memory.

// tile is a piece of neighbouring lines in a block of rows.
type tile struct {
	span
	inner       loop.Expr // lines side by side
	first, last loop.Expr // of this piece
	states      loop.Expr // slot of the state of line 0
}

// tiles emits a loop over the tiles of the chunk: pieces fastest, then blocks.
func (x *scanner) tiles(e *emit.Func, body func(tile)) {
	b := e.B
	lo, hi := x.cut.bounds(e)
	blocks, size, n := e.Scalar(x.blocks), e.Scalar(x.block), e.Scalar(x.length)
	inner, pieces := e.Scalar(x.inner), e.Scalar(x.pieces)
	b.For("item", lo, hi, func(item loop.Expr) {
		row := b.Let("row", b.Div(item, pieces))
		first := b.Let("first", b.Mul(b.Sub(item, b.Mul(row, pieces)), loop.Int(laneWidth)))
		g := b.Let("g", b.Div(row, blocks))
		from := b.Let("from", b.Min(n, b.Mul(b.Sub(row, b.Mul(g, blocks)), size)))
		body(tile{
			span:  span{group: g, length: n, from: from, until: b.Let("until", b.Min(n, b.Add(from, size)))},
			inner: inner, first: first, last: b.Let("last", b.Min(inner, b.Add(first, loop.Int(laneWidth)))),
			states: b.Let("states", b.Mul(row, inner)),
		})
	})
}

// reset sets the states of a tile to the identity.
func (x *scanner) reset(e *emit.Func, t tile) {
	b := e.B
	b.ForIndependent("q", t.first, t.last, func(q loop.Expr) {
		x.keep(e, x.fresh(e), b.Let("slot", b.Add(t.states, q)))
	})
}

// rows walks the rows of a tile in the order of the scan, and every line in each.
func (x *scanner) rows(e *emit.Func, t tile, body func(acc fold.State, v, p loop.Expr)) {
	b := e.B
	b.For("t", t.from, t.until, func(step loop.Expr) {
		row := b.Let("base", b.Mul(b.Add(b.Mul(t.group, t.length), x.at(e, t.span, step)), t.inner))
		b.ForIndependent("q", t.first, t.last, func(q loop.Expr) {
			slot, p := b.Let("slot", b.Add(t.states, q)), b.Let("p", b.Add(row, q))
			acc := x.start(e, slot)
			body(acc, x.load(e, p), p)
			x.keep(e, acc, slot)
		})
	})
}

func (x *scanner) planarBlocks(e *emit.Func) {
	x.tiles(e, func(t tile) {
		x.reset(e, t)
		x.rows(e, t, func(acc fold.State, v, _ loop.Expr) { acc.Fold(v, nil) })
	})
}

func (x *scanner) planarRun(e *emit.Func) {
	b := e.B
	x.tiles(e, func(t tile) {
		b.If(b.Eq(e.Scalar(x.some), loop.Int(0)), func() { x.reset(e, t) }, nil)
		x.rows(e, t, func(acc fold.State, v, p loop.Expr) { x.advance(e, acc, v, p) })
	})
}
