package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

var _ = register(mapping{of: ofElements, place: 3, word: "rows", take: (*mapper).rows, says: map[string]string{
	"rows":       "a team of lanes for each row",
	"whole_rows": "a block for each row, since rows are long and few",
}})

// rows maps a stage over single elements to teams of lanes, one for each element,
// where the function has a loop that lanes can share: a row of a matrix, say. How many
// lanes make a team depends on how long those loops are on average. It reports whether
// that could be done.
func (m *mapper) rows(s *loop.Stage) bool {
	if !sharesLoop(s.Func) || readsOwnStores(s.Func) {
		return false
	}
	c := m.cuts[s.Partition]
	length, ok := m.meanLength(s, c)
	if !ok {
		return false
	}
	doublings := m.scalar(s.Name + "_lanes_log2")
	var long *longRows
	stage, ok := m.withQuick(func() loop.Stage {
		g, in := m.begin(s, "")
		n, log := g.scalar(c.n), g.scalar(doublings)
		g.teamsOfRows(s, in, n, log, func(width loop.Expr) *longRows {
			long = m.longRows(s, g, width, long)
			return long
		})
		return g.stage(s, "rows")
	})
	if !ok {
		return false // threads of a warp would not stay together
	}
	var allocs []loop.Alloc
	if long != nil {
		allocs = m.longAllocs(s, long)
	}
	m.sizes(s.Name+"_lanes", []loop.ScalarLet{{Scalar: doublings, Value: doublingsFor(length)}}, nil, allocs)
	blocks := m.blocksFor(threadsOfTeams(c.n, doublings))
	if long != nil {
		m.run(stage, blocks)
		m.eachLongRow(s, long)
		return true
	}
	byBlock := loop.SizeExpr(loop.SizeConst(0))
	if whole, ok := m.withQuick(func() loop.Stage { return m.wholeRows(s, c.n) }); ok {
		many := m.scalar(s.Name + "_by_block")
		byBlock = loop.SizeScalar(many)
		m.sizes(s.Name+"_blocks", []loop.ScalarLet{{Scalar: many, Value: m.blocksForRows(loop.SizeScalar(c.n), length)}}, nil, nil)
		m.run(whole, sizeOp(loop.Mul, byBlock, sizeOp(loop.Min, loop.SizeScalar(c.n), loop.SizeConst(coop.MaxBlocks))))
	}
	return m.run(stage, sizeOp(loop.Mul, emit.Not(byBlock), blocks))
}

// teamsOfRows emits the loop over n rows in which teams of 1<<log lanes take one after another.
// long, when not nil, may leave out those that are too long for a team of the given width.
func (g *gridFunc) teamsOfRows(s *loop.Stage, in loop.Inlining, n, log loop.Expr, long func(width loop.Expr) *longRows) {
	b, m := g.Builder, g.m
	w := b.Let("width", coop.Shl(loop.Int(1), log))
	// The teams of a warp take elements that follow each other, so that its threads
	// stay together: all go through the loop as often, those beyond the end with the
	// last element, which they do not store.
	teams := b.Let("teams", coop.Shr(loop.Int(warp), log))
	all := b.Let("all", b.Mul(b.Mul(g.blocks(), loop.Int(int64(m.opts.Threads/warp))), teams))
	first := b.Mul(b.Add(b.Mul(g.block(), loop.Int(int64(m.opts.Threads/warp))), g.Warp()), teams)
	own := b.Let("rank", b.And(g.Lane(), b.Sub(w, loop.Int(1))))
	member := b.Let("member", coop.Shr(g.Lane(), log))
	g.share(&in, s.Func, &lanes{g: g, width: w, own: own})
	leader := in.Guard
	x := long(w)
	g.inTurns(b.Let("first", first), n, all, func(base loop.Expr) {
		row := b.Let("row", b.Add(base, member))
		in.Guard = b.Let("stores", b.And(leader, b.Lt(row, n)))
		i := b.Let("i", b.Min(row, b.Sub(n, loop.Int(1))))
		if x != nil {
			x.row, x.guard = i, in.Guard
		}
		g.element(s, in, i)
	})
	g.split = nil
}

// threadsOfTeams is the number of threads for n teams of 1<<doublings lanes.
func threadsOfTeams(n, doublings loop.ScalarID) loop.SizeExpr {
	// n << log threads; as a product, which is checked.
	var threads loop.SizeExpr = loop.SizeScalar(n)
	for k := int64(0); k < maxDoublings; k++ {
		twice := sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, loop.SizeScalar(doublings), loop.SizeConst(k+1)))
		threads = sizeOp(loop.Mul, sizeOp(loop.Min, threads, loop.SizeConst(maxRowThreads)), sizeOp(loop.Add, loop.SizeConst(1), twice))
	}
	return sizeOp(loop.Min, threads, loop.SizeConst(maxRowThreads))
}

// maxRowThreads bounds the threads that rows are shared out to: enough to fill any
// device several times, few enough that what each does at its start does not count.
const maxRowThreads = 1 << 22

// maxDoublings make a team a warp.
const maxDoublings = 5

// doublingsFor is the binary logarithm of the size of a team for loops of a mean length:
// so many lanes that each has about two iterations, up to a warp.
func doublingsFor(length loop.SizeExpr) loop.SizeExpr { return emit.Doublings(length, 3, maxDoublings) }

// meanLength is how many iterations the loops that can be shared have for an element,
// on average: of a loop over positions it is told by the length of an array that is
// read there.
func (m *mapper) meanLength(s *loop.Stage, c *cut) (loop.SizeExpr, bool) {
	for _, x := range loopsOf(s.Func.Body) {
		if _, ok := foldsOf(s.Func, x); !ok {
			continue
		}
		if overDimension(s.Func, x) {
			return loop.SizeScalar(argOf(s, x.Hi.(*loop.Ref).Var)), true
		}
		if along, ok := readAlong(x); ok && !isZero(x.Lo) {
			return sizeOp(loop.Div, loop.SizeLen{Buffer: s.Bufs[along]}, sizeOp(loop.Max, loop.SizeScalar(c.n), loop.SizeConst(1))), true
		}
	}
	return nil, false
}
