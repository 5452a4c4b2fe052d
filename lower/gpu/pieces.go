package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Rows with many entries that add to lines are cut into pieces of so many entries. Teams
// leave such rows out and note their pieces, in whatever order they come to them; after
// them teams take pieces, each of which adds up to a line of its own, and then the lines of
// each row are added up in their order. The length of pieces depends on sizes only, so that
// neither the order of the list nor the number of threads changes a sum.

// pieceList are the pieces of long rows in memory.
type pieceList struct {
	length loop.ScalarID // entries of a piece, and the most that a row has that is not cut
	// rows and starts tell of each piece the row and the first entry, first of each long row
	// the first piece, and lines are what the pieces add up to.
	rows, starts, first, lines loop.BufferID
	// entries is an array with an element for each entry, and pos tells where rows end among them. Where rows go through a dimension instead, it is -1: then each is how many
	// entries a row has, n how many rows there are, and cut 1 if they are cut, else 0.
	entries, pos loop.BufferID
	each, n, cut loop.ScalarID
}

const (
	// shortPieces is how many times LongRow a piece of entries is long, if not more, and longPieces
	// that for warps that take vectors of a whole line. Pieces of a dimension are as short as half of LongRow.
	shortPieces = 2
	longPieces  = 4
	// maxPieceBytes bounds the memory for the lines of pieces: half of it are the lines of
	// as many pieces as there would be if each row's length were a whole number of pieces.
	maxPieceBytes = 64 << 20
)

// piecesOf prepares to cut the rows of a nest, if they have entries of their own each, or go through a dimension.
func (m *mapper) piecesOf(s *loop.Stage, t *lineNest) *pieceList {
	outer := t.folded()
	x := &pieceList{entries: -1, n: m.cuts[s.Partition].n}
	if overDimension(t.f, outer) {
		x.each, x.cut = argOf(s, outer.Hi.(*loop.Ref).Var), m.scalar(s.Name+"_cut")
	} else {
		pos, ok := pointersOf(t.f, outer)
		entries, reads := readAlong(outer)
		if !ok || !reads {
			return nil
		}
		x.entries, x.pos = s.Bufs[entries], s.Bufs[pos]
	}
	x.length, x.rows, x.starts = m.scalar(s.Name+"_piece"), m.temp(s.Name+"_piece_rows", loop.I64), m.temp(s.Name+"_piece_starts", loop.I64)
	x.first, x.lines = m.temp(s.Name+"_first_pieces", loop.I64), m.temp(s.Name+"_piece_lines", t.elem())
	return x
}

// sizes are the length of pieces, and the memory for them, for lines of some width. Rows that go through a dimension are all as
// long: they are cut if they are too few to keep all threads busy.
func (x *pieceList) sizes(m *mapper, width loop.SizeExpr, isVector loop.ScalarID) ([]loop.ScalarLet, []loop.Alloc) {
	lets := []loop.ScalarLet{{Scalar: x.length, Value: x.lengthOf(m, width, isVector)}}
	if x.entries < 0 {
		longer := sizeOp(loop.Max, sizeOp(loop.Sub, loop.SizeScalar(x.each), loop.SizeScalar(x.length)), loop.SizeConst(0))
		lets = append(lets, loop.ScalarLet{Scalar: x.cut, Value: sizeOp(loop.Min, longer, loop.SizeConst(1))})
	}
	rows, pieces := x.most()
	return lets, []loop.Alloc{
		{Buffer: x.rows, Len: pieces}, {Buffer: x.starts, Len: pieces}, {Buffer: x.first, Len: rows}, {Buffer: x.lines, Len: sizeOp(loop.Mul, pieces, width)},
	}
}

func (x *pieceList) lengthOf(m *mapper, width loop.SizeExpr, isVector loop.ScalarID) loop.SizeExpr {
	if x.entries < 0 {
		elements := sizeOp(loop.Mul, loop.SizeScalar(x.n), width)
		pieces := emit.AtLeastOne(sizeOp(loop.Div, loop.SizeConst(2*m.opts.Workers), emit.AtLeastOne(elements)))
		return sizeOp(loop.Max, emit.CeilDiv(loop.SizeScalar(x.each), pieces), loop.SizeConst(max(m.opts.LongRow/2, 1)))
	}
	entries := loop.SizeExpr(loop.SizeLen{Buffer: x.entries})
	bytes := loop.SizeConst(m.out.Buffers[x.lines].Elem.Size())
	lines := emit.AtLeastOne(sizeOp(loop.Div, sizeOp(loop.Div, loop.SizeConst(maxPieceBytes/2), bytes), emit.AtLeastOne(width)))
	// 1 where warps take vectors of a line, else 0.
	warps := sizeOp(loop.Mul, sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, width, loop.SizeConst(warp*wideColumns))), loop.SizeScalar(isVector))
	least := sizeOp(loop.Add, loop.SizeConst(shortPieces*m.opts.LongRow), sizeOp(loop.Mul, warps, loop.SizeConst((longPieces-shortPieces)*m.opts.LongRow)))
	return sizeOp(loop.Max, emit.CeilDiv(entries, lines), least)
}

// most is how many rows may be cut, and into how many pieces, or one more.
func (x *pieceList) most() (rows, pieces loop.SizeExpr) {
	if x.entries < 0 {
		rows = sizeOp(loop.Mul, loop.SizeScalar(x.cut), loop.SizeScalar(x.n))
		return rows, sizeOp(loop.Mul, rows, emit.CeilDiv(loop.SizeScalar(x.each), loop.SizeScalar(x.length)))
	}
	whole := sizeOp(loop.Div, loop.SizeLen{Buffer: x.entries}, loop.SizeScalar(x.length))
	// A row that is cut is longer than one piece: the last, shorter ones at most double them.
	return sizeOp(loop.Add, whole, loop.SizeConst(1)), sizeOp(loop.Add, sizeOp(loop.Mul, whole, loop.SizeConst(2)), loop.SizeConst(1))
}

// there is 1 where a row may be cut, else 0.
func (x *pieceList) there(m *mapper, s *loop.Stage) loop.SizeExpr {
	if x.entries < 0 {
		return loop.SizeScalar(x.cut)
	}
	most := sizeOp(loop.Min, loop.SizeLen{Buffer: x.entries}, m.longest(s, x.pos, x.entries, x.n))
	return sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, most, sizeOp(loop.Add, loop.SizeScalar(x.length), loop.SizeConst(1))))
}

// pieceParameters are a function's parameters for pieces.
type pieceParameters struct {
	length              loop.Expr
	rows, starts, first loop.BufID
}

func (g *gridFunc) pieceParameters(x *pieceList, access loop.Access) *pieceParameters {
	return &pieceParameters{g.scalar(x.length), g.buffer(x.rows, access), g.buffer(x.starts, access), g.buffer(x.first, access)}
}

// note emits what one thread does for a long row, at a place in the list of rows.
func (x *pieceParameters) note(g *gridFunc, count loop.BufID, place, row, lo, length loop.Expr) {
	b := g.Builder
	pieces := x.count(g, length)
	first := b.AtomicOld("first", loop.AtomicAdd, count, loop.Int(1), pieces)
	b.Store(x.first, place, first)
	b.For("piece", loop.Int(0), pieces, func(i loop.Expr) {
		at := b.Let("at", b.Add(first, i))
		b.Store(x.rows, at, row)
		b.Store(x.starts, at, b.Add(lo, b.Mul(i, x.length)))
	})
}

// count is how many pieces there are of a row.
func (x *pieceParameters) count(g *gridFunc, length loop.Expr) loop.Expr {
	b := g.Builder
	return b.Let("pieces", b.Div(b.Add(length, b.Sub(x.length, loop.Int(1))), x.length))
}

// pieces adds the stages for long rows: teams take pieces, by vectors where lanes may, and
// then rows, whose pieces they add up.
func (m *mapper) pieces(s *loop.Stage, t *lineNest, long *longList, byVectors, byColumns lineTeams, isVector loop.ScalarID, any loop.SizeExpr) {
	blocks := func(items loop.SizeExpr) loop.SizeExpr {
		return sizeOp(loop.Mul, sizeOp(loop.Min, items, loop.SizeConst(maxPieceBlocks)), any)
	}
	rows, pieces := long.pieces.most()
	add := func(blocks loop.SizeExpr, build func() loop.Stage) {
		stage, _ := m.withQuick(build)
		m.run(stage, blocks)
	}
	vectors := loop.SizeScalar(isVector)
	add(sizeOp(loop.Mul, blocks(pieces), vectors), func() loop.Stage { return m.piecesByTeams(s, t, byVectors, long) })
	add(sizeOp(loop.Mul, blocks(pieces), emit.Not(vectors)), func() loop.Stage { return m.piecesByTeams(s, t, byColumns, long) })
	add(blocks(rows), func() loop.Stage { return m.joinedPieces(s, t, byColumns, long) })
}

// maxPieceBlocks bounds the blocks that take pieces, and rows of pieces, in turns.
const maxPieceBlocks = 2048

// piecesByTeams is the stage in which teams add up pieces.
func (m *mapper) piecesByTeams(s *loop.Stage, t *lineNest, by lineTeams, long *longList) loop.Stage {
	g := m.newLineFunc(s, by)
	in := g.parameters(s)
	b := g.Builder
	x := g.pieceParameters(long.pieces, loop.ReadOnly)
	count, lines := g.buffer(long.count, loop.ReadOnly), g.buffer(long.pieces.lines, loop.ReadWrite)
	teams := g.rowTeams(g.scalar(by.lanes))
	g.roundDown(s.Func, &in, by.strides)
	columns := in.Args[slices.Index(s.Func.Args, t.width)]
	pieces := b.Let("pieces", b.Load(count, loop.Int(1)))
	g.eachTile(teams, by, pieces, columns, func(piece, start loop.Expr) {
		w := m.newLineWork(s, g, t, &in, b.Let("row", b.Load(x.rows, piece)))
		w.take(by, start, teams.rank, teams.width, columns)
		w.run = func(n *loop.Inliner) {
			n.Block(t.row.Body[:t.start])
			if t.sum != nil {
				w.begin(n)
				w.values = nil
			}
			line := b.Let("line", b.Mul(piece, columns))
			for _, k := range w.columns {
				d := fold{op: t.op, typ: w.elem}
				w.places, w.values = append(w.places, b.Let("at", b.Add(line, k))), append(w.values, b.Var("part", d.identity()))
			}
			outer := t.folded()
			from := b.Let("from", b.Load(x.starts, piece))
			w.loop(outer, n, from, b.Min(b.Add(from, x.length), n.Expr(outer.Hi)))
			w.each(func(u int) { b.Store(lines, w.places[u], w.values[u]) })
		}
		b.Inline(s.Func, in)
	})
	return g.stage(s, "pieces_of_"+by.mapping)
}

// joinedPieces is the stage in which blocks add up the pieces of rows: teams take neighbouring pieces each, and one adds up what
// the teams have.
func (m *mapper) joinedPieces(s *loop.Stage, t *lineNest, by lineTeams, long *longList) loop.Stage {
	if long.pieces.entries < 0 { // of entries, most long rows have two or three pieces
		by.threads = m.opts.Threads
	}
	g := m.newLineFunc(s, by)
	in := g.parameters(s)
	b := g.Builder
	x := g.pieceParameters(long.pieces, loop.ReadOnly)
	rows, count := g.buffer(long.rows, loop.ReadOnly), g.buffer(long.count, loop.ReadOnly)
	lines := g.buffer(long.pieces.lines, loop.ReadOnly)
	d := fold{op: t.op, typ: t.elem()}
	sums := b.Shared("sums", d.typ, int64(by.threads))
	teams := g.rowTeams(g.scalar(by.lanes))
	all := b.Let("teams_of_block", b.Mul(loop.Int(int64(by.threads/warp)), teams.count))
	team := b.Let("team", b.Add(b.Mul(g.Warp(), teams.count), teams.member))
	columns := in.Args[slices.Index(s.Func.Args, t.width)]
	longs := b.Let("longs", b.Load(count, loop.Int(0)))
	tiles := b.Let("tiles", b.Div(b.Add(columns, b.Sub(teams.width, loop.Int(1))), teams.width))
	g.inTurns(g.block(), b.Let("items", b.Mul(longs, tiles)), g.blocks(), func(i loop.Expr) {
		place, tile := g.tileOf(i, longs, tiles)
		w := m.newLineWork(s, g, t, &in, b.Let("row", b.Load(rows, place)))
		w.take(by, b.Let("start", b.Mul(tile, teams.width)), teams.rank, teams.width, columns)
		w.run = func(n *loop.Inliner) {
			n.Block(t.row.Body[:t.start])
			w.begin(n)
			outer := t.folded()
			pieces := x.count(g, b.Sub(n.Expr(outer.Hi), n.Expr(outer.Lo)))
			share := b.Let("share", b.Div(b.Add(pieces, b.Sub(all, loop.Int(1))), all))
			first := b.Let("first", b.Load(x.first, place))
			at := b.Var("piece", b.Add(first, b.Mul(team, share)))
			end := b.Let("end", b.Min(b.Add(at, share), b.Add(first, pieces)))
			sum := b.Var("sum", d.identity())
			turns := []int64{2 * unroll, 1}
			if g.Quick {
				turns = turns[1:]
			}
			for _, turn := range turns {
				b.While(b.Le(b.Add(at, loop.Int(turn)), end), func() {
					var parts []loop.Expr
					for u := range turn {
						parts = append(parts, b.Let("part", b.Load(lines, b.Add(b.Mul(b.Add(at, loop.Int(u)), columns), w.columns[0]))))
					}
					for _, part := range parts {
						b.Assign(sum, loop.NewBinary(d.op, sum, part))
					}
					b.Assign(at, b.Add(at, loop.Int(turn)))
				})
			}
			slot := func(team loop.Expr) loop.Expr { return b.Add(b.Mul(team, teams.width), teams.rank) }
			b.Store(sums, slot(team), sum)
			b.Barrier(loop.BlockScope)
			b.If(b.Eq(team, loop.Int(0)), func() {
				b.For("other", loop.Int(0), all, func(other loop.Expr) {
					b.Assign(w.values[0], loop.NewBinary(d.op, w.values[0], b.Load(sums, slot(other))))
				})
				w.end(n)
			}, nil)
			b.Barrier(loop.BlockScope) // the next row's sums come to lie there
		}
		b.Inline(s.Func, in)
	})
	return g.stage(s, "joined_pieces")
}

// eachTile emits something for each item and tile of its columns, in turns by teams.
func (g *gridFunc) eachTile(teams rowTeams, by lineTeams, items, columns loop.Expr, do func(item, start loop.Expr)) {
	b := g.Builder
	width := b.Let("tile_width", b.Mul(teams.width, loop.Int(int64(by.perLane))))
	tiles := b.Let("tiles", b.Div(b.Add(columns, b.Sub(width, loop.Int(1))), width))
	g.inTurns(teams.first, b.Let("items", b.Mul(items, tiles)), teams.all, func(i loop.Expr) {
		item, tile := g.tileOf(i, items, tiles)
		do(item, b.Let("start", b.Mul(tile, width)))
	})
}
