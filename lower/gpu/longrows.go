package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// A row much longer than the others would keep one team busy while all others are done.
// So teams leave such rows out and note them in a list, in whatever order they come to
// them; after them, whole blocks take the rows of the list. Each row's result is made by
// one of the two in a fixed order, so the list's order does not matter.

// defaultLongRow is how many iterations for each lane of a team make a row long.
const defaultLongRow = 64

// longBlocks is how many blocks go through the list: some for each processor.
const longBlocks = 1 << 10

// longRows are the rows that a function leaves out.
type longRows struct {
	entries loop.BufID    // of the function: an array with an element for each iteration
	list    loop.BufferID // the rows
	count   loop.BufferID // one element: how many there are
	// row and guard are those at hand.
	row, guard loop.Expr
}

// longRows prepares g, a function for teams of some width, to leave long rows out. It
// does so for functions with one loop that is shared, over positions, which stands in
// the loop over rows itself; for others the result is nil. The list is that of an earlier function for
// the same rows, if there was one.
func (m *mapper) longRows(s *loop.Stage, g *gridFunc, width loop.Expr, earlier *longRows) *longRows {
	_, entries, ok := onlyRowLoop(s.Func)
	if !ok {
		return nil
	}
	x := &longRows{entries: entries}
	if earlier != nil {
		x.list, x.count = earlier.list, earlier.count
	} else {
		x.list, x.count = m.temp(s.Name+"_long", loop.I64), m.temp(s.Name+"_longs", loop.I64)
	}
	g.leave(x, width, g.buffer(x.list, loop.ReadWrite), g.buffer(x.count, loop.ReadWrite))
	return x
}

// leave makes teams of some width leave out long rows, which go into a list.
func (g *gridFunc) leave(x *longRows, width loop.Expr, list, count loop.BufID) {
	b := g.Builder
	limit := b.Let("limit", b.Mul(width, loop.Int(g.m.opts.LongRow)))
	g.split = func(n *loop.Inliner, lo, hi loop.Expr) loop.Expr {
		long := b.Let("long", b.Gt(b.Sub(hi, lo), limit))
		b.If(b.And(long, x.guard), func() {
			at := b.AtomicOld("at", loop.AtomicAdd, count, loop.Int(0), loop.Int(1))
			b.Store(list, at, x.row)
		}, nil)
		n.Guard(b.Let("stores", b.And(x.guard, b.Not(long))))
		return b.Select(long, lo, hi)
	}
}

// blocksTake emits the loop in which blocks take rows of a list, from the first on by steps.
func (g *gridFunc) blocksTake(s *loop.Stage, in loop.Inlining, list, count loop.BufID, first, step loop.Expr) {
	b := g.Builder
	g.share(&in, s.Func, g.wholeBlock())
	g.inTurns(first, b.Let("rows", b.Load(count, loop.Int(0))), step, func(k loop.Expr) {
		g.element(s, in, b.Let("row", b.Load(list, k)))
	})
}

// longAllocs makes the list: there are no more long rows than entries allow.
func (m *mapper) longAllocs(s *loop.Stage, x *longRows) []loop.Alloc {
	entries := loop.SizeLen{Buffer: s.Bufs[x.entries]}
	return []loop.Alloc{
		{Buffer: x.list, Len: sizeOp(loop.Add, sizeOp(loop.Div, entries, loop.SizeConst(m.opts.LongRow)), loop.SizeConst(1))},
		{Buffer: x.count, Len: loop.SizeConst(1), Zero: true},
	}
}

// eachLongRow adds the stage in which blocks take the long rows, if any may be. It does not ask for the longest row (longest.go), as products do: what reads
// entries in their order is done as fast as the host would have the answer.
func (m *mapper) eachLongRow(s *loop.Stage, x *longRows) {
	stage, _ := m.withQuick(func() loop.Stage {
		g, in := m.begin(s, "_long")
		list, count := g.buffer(x.list, loop.ReadOnly), g.buffer(x.count, loop.ReadOnly)
		g.blocksTake(s, in, list, count, g.block(), g.blocks())
		return g.stage(s, "long_rows")
	})
	m.run(stage, sizeOp(loop.Mul, loop.SizeConst(longBlocks), emit.AtLeast(loop.SizeLen{Buffer: s.Bufs[x.entries]}, m.opts.LongRow+1)))
}
