package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

var _ = register(mapping{of: ofElements, place: 4, word: "columns", take: (*mapper).columns, says: map[string]string{
	"columns":           "lanes share a line of the dense operand: each keeps some of its elements",
	"tiles_of_columns":  "a warp for 128 columns of a row",
	"vectors":           "lanes share a line of the dense operand, four elements at a time",
	"pieces_of_columns": "a warp for each piece of a long row",
	"pieces_of_vectors": "a warp for each piece of a long row, four elements at a time",
	"joined_pieces":     "adds the pieces of each row in their order",
}})

// columns maps a stage over rows in which loops over columns add to a line of a dense
// result (see lineNest), such as a sparse matrix times a dense one. A team of lanes
// takes a row: neighbouring lanes have neighbouring columns, keep their elements of
// the line in registers and go through the entries of the row in step, so that they
// read the lines of the dense operand whole. Teams are as wide as the lines, up to a
// warp; of wide lines a lane takes several columns, so that the entries are read less
// often (C. Yang, A. Buluç and J. D. Owens, "Design principles for sparse matrix
// multiplication on the GPU", Euro-Par 2018). Rows with many entries are cut into
// pieces, where they can be (see pieceList). It reports whether that could be done.
func (m *mapper) columns(s *loop.Stage) bool {
	t, ok := lineNestOf(s.Func)
	if !ok {
		t, ok = lineFoldOf(s.Func)
	}
	if !ok {
		return false
	}
	elem := t.elem()
	if elem != elem.Compute() {
		return false // a register would not round like the buffer
	}
	c := m.cuts[s.Partition]
	width := argOf(s, t.width)
	var long *longList
	if t.split {
		long = m.longListOf(s, t)
	}
	doublings, vectorDoublings := m.scalar(s.Name+"_lanes_log2"), m.scalar(s.Name+"_vector_lanes_log2")
	byColumns := lineTeams{mapping: "columns", lanes: doublings, perLane: 1, threads: m.teamThreads(columnThreads)}
	byTeams := func(by lineTeams) (loop.Stage, bool) {
		return m.withQuick(func() loop.Stage { return m.rowsByTeams(s, t, by, long) })
	}
	narrow, okNarrow := byTeams(byColumns)
	wide, okWide := byTeams(lineTeams{mapping: "tiles_of_columns", lanes: -1, perLane: wideColumns, threads: byColumns.threads})
	strides := stridesOf(s.Func, t.width)
	byVectors := lineTeams{
		mapping: "vectors", lanes: vectorDoublings, perLane: wideColumns, strides: strides, threads: m.teamThreads(vectorThreads), ahead: true,
	}
	vectors, okVectors := byTeams(byVectors)
	if !okNarrow || !okWide || !okVectors {
		return false
	}
	n, k := loop.SizeExpr(loop.SizeScalar(c.n)), loop.SizeExpr(loop.SizeScalar(width))
	one := loop.SizeConst(1)
	// 1 where the lines have more columns than a warp has lanes, else 0; 1 where
	// they have any; and 1 where lanes may take vectors of them.
	isWide := sizeOp(loop.Min, one, sizeOp(loop.Div, sizeOp(loop.Max, sizeOp(loop.Sub, k, one), loop.SizeConst(0)), loop.SizeConst(warp)))
	any := sizeOp(loop.Min, one, k)
	isVector := m.scalar(s.Name + "_vectors")
	noVectors := emit.Not(loop.SizeScalar(isVector))
	warps := func(tiles loop.SizeExpr) loop.SizeExpr {
		return sizeOp(loop.Min, sizeOp(loop.Mul, n, tiles), loop.SizeConst(maxRowThreads/warp))
	}
	blocks := func(warps loop.SizeExpr, by lineTeams) loop.SizeExpr {
		return emit.CeilDiv(sizeOp(loop.Mul, warps, loop.SizeConst(warp)), loop.SizeConst(int64(by.threads)))
	}
	var allocs []loop.Alloc
	lets := []loop.ScalarLet{
		{Scalar: doublings, Value: doublingsToCover(k)},
		{Scalar: vectorDoublings, Value: doublingsToCover(emit.CeilDiv(k, loop.SizeConst(wideColumns)))},
		{Scalar: isVector, Value: sizeOp(loop.Mul, sizeOp(loop.Min, one, sizeOp(loop.Div, k, vectorsFrom(elem.Size()))), wholeVectors(s, strides))},
	}
	if long != nil {
		length, room := long.pieces.sizes(m, k, isVector)
		lets = append(lets, length...)
		allocs = append([]loop.Alloc{{Buffer: long.rows, Len: n}, {Buffer: long.count, Len: loop.SizeConst(2), Zero: true}}, room...)
	}
	m.sizes(s.Name+"_lanes", lets, nil, allocs)
	tiles := emit.CeilDiv(k, loop.SizeConst(warp*wideColumns))
	m.run(narrow, sizeOp(loop.Mul, sizeOp(loop.Mul, blocks(warps(one), byColumns), any), sizeOp(loop.Mul, noVectors, emit.Not(isWide))))
	m.run(wide, sizeOp(loop.Mul, blocks(warps(tiles), byColumns), sizeOp(loop.Mul, noVectors, isWide)))
	m.run(vectors, sizeOp(loop.Mul, blocks(warps(tiles), byVectors), loop.SizeScalar(isVector)))
	if long != nil {
		m.pieces(s, t, long, byVectors, byColumns, isVector, sizeOp(loop.Mul, any, long.pieces.there(m, s)))
	}
	return true
}

const (
	// wideColumns is how many columns of a wide line a lane takes.
	wideColumns = 4
	// fewResident is for how many blocks of those that take lines a processor should
	// have room: less than there could be, as what is read at once needs registers.
	fewResident = 4
)

// longList is a list of rows in memory: numbers, and how many there are.
type longList struct {
	rows, count loop.BufferID
	pieces      *pieceList // of those rows
}

// longListOf makes the list of long rows of a nest; nil if they cannot be cut.
func (m *mapper) longListOf(s *loop.Stage, t *lineNest) *longList {
	before := m.mark()
	x := &longList{rows: m.temp(s.Name+"_long", loop.I64), count: m.temp(s.Name+"_long_count", loop.I64)}
	if x.pieces = m.piecesOf(s, t); x.pieces == nil {
		m.back(before)
		return nil
	}
	return x
}

// argOf is the program scalar that a stage passes for a parameter.
func argOf(s *loop.Stage, id loop.VarID) loop.ScalarID { return s.Args[slices.Index(s.Func.Args, id)] }

// doublingsToCover is the binary logarithm of the smallest team with a lane for each
// column, up to a warp.
func doublingsToCover(columns loop.SizeExpr) loop.SizeExpr {
	return emit.Doublings(sizeOp(loop.Max, sizeOp(loop.Sub, columns, loop.SizeConst(1)), loop.SizeConst(0)), 1, maxDoublings)
}

// lineTeams say how teams take lines.
type lineTeams struct {
	mapping string
	// lanes is the binary logarithm of the size of a team; negative for warps.
	lanes   loop.ScalarID
	perLane int // columns of a lane
	// strides, when not nil, are parameters that are multiples of wideColumns: then the
	// columns of a lane are a vector, side by side.
	strides []loop.VarID
	threads int // of a block, where teams are lanes
	// ahead says that the entries of the next turns are read while the columns of those at
	// hand are under way.
	ahead bool
}

// A block is done when its longest row is, so of skewed matrices small blocks leave less
// of a processor idle. Lanes with vectors gain less by that.
const (
	columnThreads = 64
	vectorThreads = 128
)

// teamThreads is the size of blocks of teams.
func (m *mapper) teamThreads(threads int) int { return min(threads, m.opts.Threads) }

// newLineFunc starts a function for teams that take lines.
func (m *mapper) newLineFunc(s *loop.Stage, by lineTeams) *gridFunc {
	g := m.newFuncOf(s.Func.Name, by.threads)
	g.Builder.Resident(min(fewResident*defaultThreads/by.threads, loop.MaxResident))
	return g
}

// rowsByTeams is the stage in which teams of lanes take rows, or tiles of them, each lane
// some columns of the line: a team apart, or side by side. Long rows are noted, if there
// is a list for them.
func (m *mapper) rowsByTeams(s *loop.Stage, t *lineNest, by lineTeams, long *longList) loop.Stage {
	c := m.cuts[s.Partition]
	g := m.newLineFunc(s, by)
	in := g.parameters(s)
	b := g.Builder
	n := g.scalar(c.n)
	var log loop.Expr = loop.Int(maxDoublings)
	if by.lanes >= 0 {
		log = g.scalar(by.lanes)
	}
	teams := g.rowTeams(log)
	g.roundDown(s.Func, &in, by.strides)
	columns := in.Args[slices.Index(s.Func.Args, t.width)]
	var rows, count loop.BufID
	var cutting *pieceParameters
	if long != nil {
		rows, count = g.buffer(long.rows, loop.ReadWrite), g.buffer(long.count, loop.ReadWrite)
		cutting = g.pieceParameters(long.pieces, loop.ReadWrite)
	}
	item := func(row, tile loop.Expr) {
		w := m.newLineWork(s, g, t, &in, row)
		start := b.Let("start", b.Mul(tile, b.Mul(teams.width, loop.Int(int64(by.perLane)))))
		w.take(by, start, teams.rank, teams.width, columns)
		w.run = func(n *loop.Inliner) {
			body := t.row.Body
			n.Block(body[:t.start])
			work := func() {
				if t.sum == nil {
					w.begin(n)
					n.Block(body[t.start:])
				} else {
					w.loop(t.sum.over, n, n.Expr(t.sum.over.Lo), n.Expr(t.sum.over.Hi))
				}
				w.end(n)
			}
			if t.sum != nil {
				w.begin(n)
			}
			if long == nil {
				work()
				return
			}
			outer := t.folded()
			length := b.Sub(n.Expr(outer.Hi), n.Expr(outer.Lo))
			b.If(b.Gt(length, cutting.length), func() {
				b.If(b.And(b.Eq(teams.rank, loop.Int(0)), b.Eq(tile, loop.Int(0))), func() {
					place := b.AtomicOld("place", loop.AtomicAdd, count, loop.Int(0), loop.Int(1))
					b.Store(rows, place, row)
					cutting.note(g, count, place, row, n.Expr(outer.Lo), length)
				}, nil)
			}, work)
		}
		b.Inline(s.Func, in)
	}
	if by.perLane == 1 {
		g.inTurns(teams.first, n, teams.all, func(row loop.Expr) { item(row, loop.Int(0)) })
	} else {
		tile := b.Let("tile_width", b.Mul(teams.width, loop.Int(int64(by.perLane))))
		tiles := b.Let("tiles", b.Div(b.Add(columns, b.Sub(tile, loop.Int(1))), tile))
		g.inTurns(teams.first, b.Let("items", b.Mul(n, tiles)), teams.all, func(i loop.Expr) { item(g.tileOf(i, n, tiles)) })
	}
	return g.stage(s, by.mapping)
}
