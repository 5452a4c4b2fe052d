package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// lineStores is the body of a loop over rows that computes the elements of one line of
// a buffer, each in an iteration of a loop over columns of its own:
//
//	for k = 0 to n_k {
//	  …
//	  C[i*K + k] = v
//	}
type lineStores struct {
	f     *loop.Func
	row   *loop.For
	line  *loop.For
	width loop.VarID // the parameter that tells how many columns there are
}

// lineStoresOf finds out whether a function is such a loop: its iterations over columns have nothing to do with
// each other, and each stores one element, the one at the column in a line of the row's.
func lineStoresOf(f *loop.Func) (*lineStores, bool) {
	row, ok := loopOverChunk(f)
	if !ok || readsOwnStores(f) {
		return nil, false
	}
	line, _ := loneLoop(row.Body, isDeclaration)
	if line == nil || !overDimension(f, line) || has(line.Body, isOther) || !keepsVariables(line.Body) {
		return nil, false
	}
	known := parameters(f)
	known[row.Var] = true
	declare(known, f.Body)
	declare(known, row.Body)
	list := storesOf(line.Body)
	if len(list) != 1 || !atColumn(lets(loop.LetsOf(line.Body)).value(list[0].Index), line.Var, known) {
		return nil, false
	}
	return &lineStores{f: f, row: row, line: line, width: line.Hi.(*loop.Ref).Var}, true
}

// atColumn takes k and x + k, for a column k and an x that is made of known variables.
func atColumn(e loop.Expr, k loop.VarID, known map[loop.VarID]bool) bool {
	sum, ok := e.(*loop.Binary)
	return isRef(e, k) || ok && sum.Op == loop.Add && isRef(sum.Y, k) && isMadeOf(sum.X, known)
}

var _ = register(mapping{of: ofElements, place: 6, word: "lines", take: (*mapper).lineStores, says: map[string]string{
	"line_elements":         "lanes for the elements of each line of a dense result",
	"long_lines":            "a block for each 2048 elements of a line of a dense result",
	"long_lines_of_vectors": "a block for each 2048 elements of a line of a dense result, four at a time",
}})

// lineStores maps a stage over rows that computes the elements of lines one after another
// (see lineStores) to teams of lanes: neighbouring lanes take neighbouring elements. It
// reports whether that could be done.
func (m *mapper) lineStores(s *loop.Stage) bool {
	t, ok := lineStoresOf(s.Func)
	if !ok {
		return false
	}
	c := m.cuts[s.Partition]
	columns := argOf(s, t.width)
	doublings := m.scalar(s.Name + "_lanes_log2")
	g, in := m.begin(s, "")
	b := g.Builder
	n, l := g.scalar(c.n), g.rowTeams(g.scalar(doublings))
	k := in.Args[slices.Index(s.Func.Args, t.width)]
	tile := b.Let("tile", b.Mul(l.width, loop.Int(wideColumns)))
	tiles := b.Let("tiles", b.Div(b.Add(k, b.Sub(tile, loop.Int(1))), tile))
	g.inTurns(l.first, b.Let("items", b.Mul(n, tiles)), l.all, func(item loop.Expr) {
		row, at := g.tileOf(item, n, tiles)
		from := b.Let("from", b.Mul(at, tile))
		in.Loop = instead(t.line, func(inliner *loop.Inliner) {
			g.inTurns(b.Add(from, l.rank), b.Let("to", b.Min(b.Add(from, tile), k)), l.width, func(column loop.Expr) { iteration(inliner, t.line, column) })
		})
		g.element(s, in, row)
	})
	m.sizes(s.Name+"_lanes", []loop.ScalarLet{{Scalar: doublings, Value: doublingsToCover(loop.SizeScalar(columns))}}, nil, nil)
	count := emit.CeilDiv(loop.SizeScalar(columns), loop.SizeConst(wideColumns)) // threads that a row has work for, if it is long
	count = sizeOp(loop.Max, count, sizeOp(loop.Min, loop.SizeScalar(columns), loop.SizeConst(warp)))
	threads := sizeOp(loop.Min, sizeOp(loop.Mul, loop.SizeScalar(c.n), count), loop.SizeConst(maxRowThreads))
	blocks := emit.CeilDiv(threads, loop.SizeConst(int64(m.opts.Threads)))
	m.launch(s, "line_elements", g, sizeOp(loop.Mul, m.longLines(s, t), blocks))
	return true
}

// rowTeams are teams of lanes of a warp, numbered through the grid.
type rowTeams struct {
	width  loop.Expr // lanes of a team
	rank   loop.Expr // of the thread in its team
	member loop.Expr // the number of the team in its warp
	count  loop.Expr // teams of a warp
	first  loop.Expr // the number of the team
	all    loop.Expr // how many there are
}

// rowTeams makes teams of 2^log lanes.
func (g *gridFunc) rowTeams(log loop.Expr) rowTeams {
	b := g.Builder
	warps := loop.Int(int64(g.threads / warp))
	t := rowTeams{width: b.Let("width", coop.Shl(loop.Int(1), log)), count: b.Let("teams", coop.Shr(loop.Int(warp), log))}
	t.rank = b.Let("rank", b.And(g.Lane(), b.Sub(t.width, loop.Int(1))))
	t.member = b.Let("member", coop.Shr(g.Lane(), log))
	t.first = b.Let("first", b.Add(b.Mul(b.Add(b.Mul(g.block(), warps), g.Warp()), t.count), t.member))
	t.all = b.Let("all", b.Mul(b.Mul(g.blocks(), warps), t.count))
	return t
}

// tileOf splits the number of an item, of which each of n rows has one for each tile
// of its line. It does not divide where lines are one tile.
func (g *gridFunc) tileOf(item, n, tiles loop.Expr) (row, tile loop.Expr) {
	b := g.Builder
	at := b.Var("tile", loop.Int(0))
	b.If(b.Gt(tiles, loop.Int(1)), func() { b.Assign(at, b.Div(item, n)) }, nil)
	tile = b.Let("tile", at)
	return b.Let("row", b.Sub(item, b.Mul(tile, n))), tile
}
