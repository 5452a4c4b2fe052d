package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Lines of a dense result that are long, and whose elements are computed from what lies side by side,
// are cut into tiles for whole blocks. A block takes tiles that follow each other, so that it
// divides only once. Its threads take vectors where lines are apart by a multiple of four elements
// (see vectors.go), several at once, and read all before they compute and store.

const (
	// Lines are cut so from LongRow/longLine columns for each thread of a block on.
	longLine = 32
	// lineVectors is how many vectors of wideColumns columns of a tile a thread has.
	lineVectors = 2
	// maxLineBlocks bounds the blocks: some for each that a device has room for.
	maxLineBlocks = 1 << 13
)

// longLines adds the stages for long lines, if there can be such, and returns a size that is 0
// where they compute s, else 1.
func (m *mapper) longLines(s *loop.Stage, t *lineStores) loop.SizeExpr {
	one := loop.SizeExpr(loop.SizeConst(1))
	if !only(t.line.Body, isDeclaration|isAssign|isStore) || !iteratesSideBySide(t.line) {
		return one
	}
	mark := m.mark()
	isLong, isVector := m.scalar(s.Name+"_long_lines"), m.scalar(s.Name+"_line_vectors")
	strides := stridesOf(s.Func, t.width)
	vectors, single := m.linesByBlocks(s, t, strides), m.linesByBlocks(s, t, nil)
	if !verified(vectors) || !verified(single) {
		m.back(mark)
		return one
	}
	columns := loop.SizeExpr(loop.SizeScalar(argOf(s, t.width)))
	rows := loop.SizeScalar(m.cuts[s.Partition].n)
	m.sizes(s.Name+"_lines", []loop.ScalarLet{
		{Scalar: isLong, Value: emit.AtLeast(columns, max(m.opts.LongRow*int64(m.opts.Threads)/longLine, 1))},
		{Scalar: isVector, Value: wholeVectors(s, strides)},
	}, nil, nil)
	tiles := sizeOp(loop.Mul, rows, emit.CeilDiv(columns, loop.SizeConst(m.lineTile())))
	blocks := sizeOp(loop.Mul, loop.SizeScalar(isLong), sizeOp(loop.Min, tiles, loop.SizeConst(maxLineBlocks)))
	m.run(vectors, sizeOp(loop.Mul, loop.SizeScalar(isVector), blocks))
	m.run(single, sizeOp(loop.Mul, emit.Not(loop.SizeScalar(isVector)), blocks))
	return emit.Not(loop.SizeScalar(isLong))
}

// lineTile is how many columns a tile has.
func (m *mapper) lineTile() int64 { return int64(m.opts.Threads) * lineVectors * wideColumns }

// linesByBlocks is the stage in which blocks take tiles of lines. strides, when not nil, are
// parameters that are multiples of wideColumns: then threads take vectors.
func (m *mapper) linesByBlocks(s *loop.Stage, t *lineStores, strides []loop.VarID) loop.Stage {
	mapping := "long_lines"
	if strides != nil {
		mapping = "long_lines_of_vectors"
	}
	g, in := m.begin(s, "_"+mapping)
	b := g.Builder
	n := g.scalar(m.cuts[s.Partition].n)
	g.roundDown(s.Func, &in, strides)
	k := in.Args[slices.Index(s.Func.Args, t.width)]
	one := loop.Int(1)
	tile := loop.Int(m.lineTile())
	tiles := b.Let("tiles", b.Div(b.Add(k, b.Sub(tile, one)), tile))
	items := b.Let("items", b.Mul(n, tiles))
	per := b.Let("per_block", b.Div(b.Add(items, b.Sub(g.blocks(), one)), g.blocks()))
	first := b.Let("first", b.Mul(g.block(), per))
	row := b.Var("row", b.Div(first, b.Max(tiles, one)))
	at := b.Var("tile", b.Sub(first, b.Mul(row, tiles)))
	g.inTurns(first, b.Let("end", b.Min(items, b.Add(first, per))), one, func(loop.Expr) {
		i := b.Let("i", row)
		g.lineTiles(s, t, in, i, b.Let("start", b.Mul(at, tile)), k, strides != nil)
		b.Assign(at, b.Add(at, one))
		b.If(b.Eq(at, tiles), func() {
			b.Assign(at, loop.Int(0))
			b.Assign(row, b.Add(row, one))
		}, nil)
	})
	return g.stage(s, mapping)
}

// lineTiles emits the work of the threads in the tile of row i that begins at column start, of k.
func (g *gridFunc) lineTiles(s *loop.Stage, t *lineStores, in loop.Inlining, i, start, k loop.Expr, vectors bool) {
	b := g.Builder
	threads := loop.Int(int64(g.m.opts.Threads))
	type element struct{ valid, index, value loop.Expr }
	var list []element
	var out loop.BufID
	var valid loop.Expr
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		out = in.Bufs[st.Buf]
		list = append(list, element{valid, b.Let("p", n.Expr(st.Index)), b.Let("value", n.Expr(st.Value))})
		return true
	}
	in.Loop = instead(t.line, func(n *loop.Inliner) {
		each := func(column loop.Expr) { iteration(n, t.line, column) }
		width, turns := 1, lineVectors*wideColumns
		if vectors {
			width, turns = wideColumns, lineVectors
		}
		for r := range turns {
			place := b.Add(g.thread(), b.Mul(threads, loop.Int(int64(r))))
			column := b.Let("column", b.Add(start, b.Mul(place, loop.Int(int64(width)))))
			valid = b.Let("valid", b.Lt(column, k))
			// Beyond the end the thread reads what others read, too.
			column = b.Let("column", b.Min(column, b.Sub(k, loop.Int(int64(width)))))
			for u := range width {
				each(b.Add(column, loop.Int(int64(u))))
			}
		}
		for at := 0; at < len(list); at += width {
			b.If(list[at].valid, func() {
				for _, e := range list[at : at+width] {
					b.Store(out, e.index, e.value)
				}
			}, nil)
		}
	})
	g.element(s, in, i)
}
