package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Where no row of a matrix is long, nothing has to be done about long rows: rows are folded by one grid where
// it would take three, and none looks through an empty list. The length of the longest row follows from the matrix alone: the
// host waits for it, and knows it after some runs as long as the matrix stays on the device. Of few entries it is not asked for: to wait takes longer.

// unknownLength is longer than any row.
const unknownLength = 1 << 62

// longest is the number of entries of the longest of n rows, whose ends pos tells, or unknownLength where
// the program itself computes these, or there are few entries, of which the given array has one element each. The stage that finds it is added once for all mappings.
func (m *mapper) longest(s *loop.Stage, pos, entries loop.BufferID, n loop.ScalarID) loop.SizeExpr {
	if m.out.Buffers[pos].Role != loop.Input {
		return loop.SizeConst(unknownLength)
	}
	found, ok := m.lengths[pos]
	if !ok {
		found = m.temp(m.out.Buffers[pos].Name+"_longest", loop.I64)
		many := emit.AtLeast(loop.SizeLen{Buffer: entries}, m.opts.Few+1)
		m.sizes(s.Name+"_longest", nil, nil, []loop.Alloc{{Buffer: found, Len: many, Zero: true}})
		blocks := sizeOp(loop.Min, emit.CeilDiv(loop.SizeScalar(n), loop.SizeConst(int64(m.opts.Threads))), loop.SizeConst(longBlocks))
		m.run(m.longestFunc(s, pos, n, found), sizeOp(loop.Mul, many, blocks))
		m.lengths[pos] = found
	}
	return &loop.SizeHint{Buffer: found, Index: loop.SizeConst(0), Else: loop.SizeConst(unknownLength)}
}

// longestFunc is that stage without its blocks.
func (m *mapper) longestFunc(s *loop.Stage, pos loop.BufferID, n loop.ScalarID, found loop.BufferID) loop.Stage {
	g := m.newFunc("longest")
	b := g.Builder
	ends, out := g.buffer(pos, loop.ReadOnly), g.buffer(found, loop.ReadWrite)
	at := func(i loop.Expr) loop.Expr { return loop.NewCast(loop.I64, b.Load(ends, i)) }
	most := b.Var("most", loop.Int(0))
	g.strided(g.scalar(n), func(i loop.Expr) {
		b.Assign(most, b.Max(most, b.Sub(at(b.Add(i, loop.Int(1))), at(i))))
	})
	of := (&lanes{g: g, width: loop.Int(warp), own: g.Lane()}).combine(fold{op: loop.Max, typ: loop.I64}, most)
	b.If(b.Eq(g.Lane(), loop.Int(0)), func() { b.Atomic(loop.AtomicMax, out, loop.Int(0), of) }, nil)
	stage := g.stage(s, "longest")
	stage.Symbolic = true
	return stage
}
