package gpu

import (
	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// To start a grid takes as long as to go through some ten thousand entries. So where an
// operand has few of them, or more but none of its rows is long, rows are folded by one grid, in a way that would be too slow for
// many: teams of lanes take rows, as in rows.go, and long rows are not left to another
// grid but to the block that came upon them.

// fewRows adds a stage that computes s if the given array has few elements, or no row is long, by one grid; n is the
// number of rows, and longest the length of the longest. It returns the factors, 0 or 1, of the
// numbers of blocks of the stages that compute s otherwise, and of such among them as are symbolic, which are there
// whatever the longest row is: what is kept of them for later runs must not follow from it.
func (m *mapper) fewRows(s *loop.Stage, entries loop.BufferID, n loop.ScalarID, longest loop.SizeExpr) (factor, symbolic loop.SizeExpr) {
	doublings, few, threads := m.scalar(s.Name+"_few_lanes_log2"), m.scalar(s.Name+"_few"), m.scalar(s.Name+"_few_threads")
	stage, ok := m.withQuick(func() loop.Stage { return m.fewFunc(s, n, doublings) })
	if !ok {
		m.out.Scalars = m.out.Scalars[:len(m.out.Scalars)-3]
		return loop.SizeConst(1), loop.SizeConst(1)
	}
	all := loop.SizeLen{Buffer: entries}
	mean := sizeOp(loop.Div, all, sizeOp(loop.Max, loop.SizeScalar(n), loop.SizeConst(1)))
	below := func(x loop.SizeExpr, limit int64) loop.SizeExpr { // 1 for up to the limit, else 0
		return emit.Not(emit.AtLeast(x, limit+1))
	}
	fewEntries := sizeOp(loop.Mul, below(all, m.opts.Few), below(mean, cost.GridFewPerRow))
	shortRows := sizeOp(loop.Mul, below(all, m.opts.Few*cost.GridShortRows), below(longest, m.opts.LongRow))
	m.sizes(s.Name+"_few", []loop.ScalarLet{
		{Scalar: doublings, Value: doublingsFor(mean)},
		{Scalar: few, Value: sizeOp(loop.Max, fewEntries, shortRows)},
		{Scalar: threads, Value: sizeOp(loop.Mul, loop.SizeScalar(few), threadsOfTeams(n, doublings))},
	}, nil, nil)
	m.run(stage, m.blocksFor(loop.SizeScalar(threads)))
	return emit.Not(loop.SizeScalar(few)), emit.Not(fewEntries)
}

// fewFunc is that stage without its blocks, for n rows and teams of lanes of which doublings is the
// binary logarithm.
func (m *mapper) fewFunc(s *loop.Stage, n, doublings loop.ScalarID) loop.Stage {
	g, in := m.begin(s, "_few")
	b := g.Builder
	rows, log := g.scalar(n), g.scalar(doublings)
	list, count := b.Shared("long", loop.I64, m.opts.Few/m.opts.LongRow), b.Shared("longs", loop.I64, 1)
	b.If(b.Eq(g.thread(), loop.Int(0)), func() { b.Store(count, loop.Int(0), loop.Int(0)) }, nil)
	b.Barrier(loop.BlockScope)
	g.teamsOfRows(s, in, rows, log, func(width loop.Expr) *longRows {
		x := &longRows{}
		g.leave(x, width, list, count)
		return x
	})
	b.Barrier(loop.BlockScope)
	g.blocksTake(s, in, list, count, loop.Int(0), loop.Int(1))
	return g.stage(s, "few_rows")
}
