package grid

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// columns maps a stage over rows in which loops over columns add to a line of a dense
// result (see lineNest), such as a sparse matrix times a dense one. A team of lanes
// takes a row: neighbouring lanes have neighbouring columns, keep their elements of
// the line in registers and go through the entries of the row in step, so that they
// read the lines of the dense operand whole. Teams are as wide as the lines, up to a
// warp; of wide lines a lane takes several columns, so that the entries are read less
// often (C. Yang, A. Buluç and J. D. Owens, "Design principles for sparse matrix
// multiplication on the GPU", Euro-Par 2018). Rows with many entries are left to
// blocks, whose warps go through parts of the entries and add up in their order. It
// reports whether that could be done.
func (m *mapper) columns(s *loop.Stage) bool {
	t, ok := lineNestOf(s.Func)
	if !ok {
		return false
	}
	elem := s.Func.Bufs[t.buf].Elem
	if elem != elem.Compute() {
		return false // a register would not round like the buffer
	}
	c := m.cuts[s.Partition]
	width := argOf(s, t.width)
	buffers, scalars := len(m.out.Buffers), len(m.out.Scalars)
	var long *longList
	if t.split {
		long = &longList{rows: m.temp(s.Name+"_long", loop.I64), count: m.temp(s.Name+"_long_count", loop.I64)}
		long.pieces = m.piecesOf(s, t)
	}
	doublings, vectorDoublings := m.scalar(s.Name+"_lanes_log2"), m.scalar(s.Name+"_vector_lanes_log2")
	narrow, okNarrow := m.rowsByTeams(s, t, lineTeams{"columns", doublings, 1, nil}, long)
	wide, okWide := m.rowsByTeams(s, t, lineTeams{"tiles_of_columns", -1, wideColumns, nil}, long)
	strides := stridesOf(s.Func, t.width)
	byVectors := lineTeams{"vectors", vectorDoublings, wideColumns, strides}
	vectors, okVectors := m.rowsByTeams(s, t, byVectors, long)
	if !okNarrow || !okWide || !okVectors {
		m.out.Buffers, m.out.Scalars = m.out.Buffers[:buffers], m.out.Scalars[:scalars]
		return false
	}
	n, k := loop.SizeExpr(loop.SizeScalar(c.n)), loop.SizeExpr(loop.SizeScalar(width))
	one := loop.SizeConst(1)
	// 1 where the lines have more columns than a warp has lanes, else 0; 1 where
	// they have any; and 1 where lanes may take vectors of them.
	isWide := sizeOp(loop.Min, one, sizeOp(loop.Div, sizeOp(loop.Max, sizeOp(loop.Sub, k, one), loop.SizeConst(0)), loop.SizeConst(warp)))
	any := sizeOp(loop.Min, one, k)
	isVector := m.scalar(s.Name + "_vectors")
	noVectors := sizeOp(loop.Sub, one, loop.SizeScalar(isVector))
	warps := func(tiles loop.SizeExpr) loop.SizeExpr {
		return sizeOp(loop.Min, sizeOp(loop.Mul, n, tiles), loop.SizeConst(maxRowThreads/warp))
	}
	blocks := func(warps loop.SizeExpr) loop.SizeExpr {
		return ceilDiv(sizeOp(loop.Mul, warps, loop.SizeConst(warp)), loop.SizeConst(int64(m.lineThreads())))
	}
	var allocs []loop.Alloc
	if long != nil {
		allocs = []loop.Alloc{{Buffer: long.rows, Len: n}, {Buffer: long.count, Len: loop.SizeConst(2), Zero: true}}
	}
	lets := []loop.ScalarLet{
		{Scalar: doublings, Value: doublingsToCover(k)},
		{Scalar: vectorDoublings, Value: doublingsToCover(ceilDiv(k, loop.SizeConst(wideColumns)))},
		{Scalar: isVector, Value: sizeOp(loop.Mul, sizeOp(loop.Min, one, sizeOp(loop.Div, k, vectorsFrom(elem.Size()))), wholeVectors(s, strides))},
	}
	if long != nil && long.pieces != nil {
		length, room := long.pieces.sizes(m, k)
		lets, allocs = append(lets, length), append(allocs, room...)
	}
	m.sizes(s.Name+"_lanes", lets, nil, allocs)
	tiles := ceilDiv(k, loop.SizeConst(warp*wideColumns))
	narrow.Blocks = sizeOp(loop.Mul, sizeOp(loop.Mul, blocks(warps(one)), any), sizeOp(loop.Mul, noVectors, sizeOp(loop.Sub, one, isWide)))
	wide.Blocks = sizeOp(loop.Mul, blocks(warps(tiles)), sizeOp(loop.Mul, noVectors, isWide))
	vectors.Blocks = sizeOp(loop.Mul, blocks(warps(tiles)), loop.SizeScalar(isVector))
	m.add(narrow)
	m.add(wide)
	m.add(vectors)
	if long == nil {
		return true
	}
	if long.pieces != nil {
		m.pieces(s, t, long, byVectors, lineTeams{"columns", doublings, 1, nil}, isVector, any)
		return true
	}
	each := sizeOp(loop.Min, sizeOp(loop.Mul, n, any), loop.SizeConst(maxLongBlocks))
	rest, _ := m.rowsByBlocks(s, t, lineTeams{"columns", -1, 1, nil}, long)
	if vectors, ok := m.rowsByBlocks(s, t, byVectors, long); ok {
		vectors.Blocks = sizeOp(loop.Mul, each, loop.SizeScalar(isVector))
		m.add(vectors)
		each = sizeOp(loop.Mul, each, noVectors)
	}
	rest.Blocks = each
	m.add(rest)
	return true
}

const (
	// wideColumns is how many columns of a wide line a lane takes.
	wideColumns = 4
	// fewResident is for how many blocks of those that take lines a processor should
	// have room: less than there could be, as what is read at once needs registers.
	fewResident = 4
	// longLines is how many times as many iterations as for the lanes of a team that
	// shares them make a row long that each lane goes through alone.
	longLines = 8
	// maxLongBlocks bounds the blocks that take long rows in turns.
	maxLongBlocks = 512
)

// longList is a list of rows in memory: numbers, and how many there are.
type longList struct {
	rows, count loop.BufferID
	pieces      *pieceList // of those rows; nil: blocks take them
}

// argOf is the program scalar that a stage passes for a parameter.
func argOf(s *loop.Stage, id loop.VarID) loop.ScalarID {
	for i, arg := range s.Func.Args {
		if arg == id {
			return s.Args[i]
		}
	}
	panic("BUG: not a parameter of " + s.Func.Name)
}

// doublingsToCover is the binary logarithm of the smallest team with a lane for each
// column, up to a warp.
func doublingsToCover(columns loop.SizeExpr) loop.SizeExpr {
	last := sizeOp(loop.Max, sizeOp(loop.Sub, columns, loop.SizeConst(1)), loop.SizeConst(0))
	var log loop.SizeExpr = loop.SizeConst(0)
	for k := range maxDoublings {
		log = sizeOp(loop.Add, log, sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, last, loop.SizeConst(1<<k))))
	}
	return log
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
}

// rowsByTeams is the stage in which teams of lanes take rows, or tiles of them, each lane
// some columns of the line: a team apart, or side by side. Long rows are noted, if there
// is a list for them.
func (m *mapper) rowsByTeams(s *loop.Stage, t *lineNest, by lineTeams, long *longList) (loop.Stage, bool) {
	c := m.cuts[s.Partition]
	g := m.newLineFunc(s.Func.Name)
	in := g.parameters(s)
	b := g.b
	n := g.scalar(c.n)
	var log loop.Expr = loop.Int(maxDoublings)
	if by.lanes >= 0 {
		log = g.scalar(by.lanes)
	}
	teams := g.rowTeams(log)
	g.roundDown(s.Func, &in, by.strides)
	columns := in.Args[argIndex(s.Func, t.width)]
	var rows, count loop.BufID
	var cutting *pieceParameters
	if long != nil {
		rows, count = g.buffer(long.rows, loop.ReadWrite), g.buffer(long.count, loop.ReadWrite)
		if long.pieces != nil {
			cutting = g.pieceParameters(long.pieces, loop.ReadWrite)
		}
	}
	item := func(row, tile loop.Expr) {
		w := m.newLineWork(s, g, t, &in, row)
		start := b.Let("start", b.Mul(tile, b.Mul(teams.width, loop.Int(int64(by.perLane)))))
		w.take(by, start, teams.rank, teams.width, columns)
		w.run = func(n *loop.Inliner) {
			body := t.row.Body
			n.Block(body[:t.start])
			work := func() {
				w.begin(n)
				n.Block(body[t.start:])
				w.end()
			}
			if long == nil {
				work()
				return
			}
			outer := body[t.start].(*loop.For)
			length := b.Sub(n.Expr(outer.Hi), n.Expr(outer.Lo))
			limit := loop.Expr(loop.Int(longLines * m.opts.LongRow))
			if cutting != nil {
				limit = cutting.length
			}
			b.If(b.Gt(length, limit), func() {
				b.If(b.And(b.Eq(teams.rank, loop.Int(0)), b.Eq(tile, loop.Int(0))), func() {
					place := b.AtomicOld("place", loop.AtomicAdd, count, loop.Int(0), loop.Int(1))
					b.Store(rows, place, row)
					if cutting != nil {
						cutting.note(g, count, place, row, n.Expr(outer.Lo), length)
					}
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
	f := loop.RemoveDead(b.Func())
	return loop.Stage{Name: name(s, by.mapping), Partition: -1, Func: f, Bufs: g.bufs, Args: g.args, Symbolic: s.Symbolic},
		f.Verify(lib.Lookup) == nil
}

func argIndex(f *loop.Func, id loop.VarID) int {
	for i, arg := range f.Args {
		if arg == id {
			return i
		}
	}
	panic("BUG: not a parameter of " + f.Name)
}

// rowsByBlocks is the stage in which blocks take the rows of a list: each warp a part
// of the entries, each lane a column of a tile, or a vector of them. The sums of the
// warps are added up in the order of the entries.
func (m *mapper) rowsByBlocks(s *loop.Stage, t *lineNest, by lineTeams, long *longList) (loop.Stage, bool) {
	threads := min(4*m.opts.Threads, loop.MaxThreads)
	g := m.newFuncOf(s.Func.Name, threads)
	in := g.parameters(s)
	b := g.b
	rows, count := g.buffer(long.rows, loop.ReadOnly), g.buffer(long.count, loop.ReadOnly)
	g.roundDown(s.Func, &in, by.strides)
	columns := in.Args[argIndex(s.Func, t.width)]
	warps := loop.Int(int64(threads / warp))
	elem := m.out.Buffers[s.Bufs[t.buf]].Elem
	if elem.Size()*threads*by.perLane > loop.MaxShared {
		return loop.Stage{}, false
	}
	sums := b.Shared("sums", elem, int64(threads*by.perLane))
	width := loop.Int(int64(warp * by.perLane))
	tiles := b.Let("tiles", b.Div(b.Add(columns, b.Sub(width, loop.Int(1))), width))
	items := b.Let("items", b.Mul(b.Load(count, loop.Int(0)), tiles))
	g.inTurns(g.block(), items, g.blocks(), func(item loop.Expr) {
		place := b.Let("place", b.Div(item, tiles))
		tile := b.Let("tile", b.Sub(item, b.Mul(place, tiles)))
		row := b.Let("row", b.Load(rows, place))
		w := m.newLineWork(s, g, t, &in, row)
		w.take(by, b.Mul(tile, width), g.lane(), loop.Int(warp), columns)
		w.run = func(n *loop.Inliner) {
			n.Block(t.row.Body[:t.start])
			w.begin(n)
			totals := slices.Clone(w.values)
			for u := range w.values {
				d := fold{op: t.op, typ: totals[u].Typ}
				w.values[u] = b.Var("part", d.identity())
			}
			outer := t.row.Body[t.start].(*loop.For)
			lo, hi := b.Let("lo", n.Expr(outer.Lo)), b.Let("hi", n.Expr(outer.Hi))
			each := b.Let("each", b.Div(b.Add(b.Sub(hi, lo), b.Sub(warps, loop.Int(1))), warps))
			from := b.Let("from", b.Min(b.Add(lo, b.Mul(g.warp(), each)), hi))
			w.loop(outer, n, from, b.Let("to", b.Min(b.Add(from, each), hi)))
			b.Barrier(loop.BlockScope) // the sums of the last row have been read
			for u, v := range w.values {
				b.Store(sums, b.Add(g.thread(), loop.Int(int64(u*threads))), v)
			}
			b.Barrier(loop.BlockScope)
			w.values = totals
			b.If(b.Eq(g.warp(), loop.Int(0)), func() {
				for u, total := range totals {
					first := b.Let("first", b.Add(g.lane(), loop.Int(int64(u*threads))))
					sum := b.Var("sum", b.Load(sums, first))
					b.For("w", loop.Int(1), warps, func(i loop.Expr) {
						b.Assign(sum, loop.NewBinary(t.op, sum, b.Load(sums, b.Add(b.Mul(i, loop.Int(warp)), first))))
					})
					b.Assign(total, loop.NewBinary(t.op, total, sum))
				}
				w.end()
			}, nil)
		}
		b.Inline(s.Func, in)
	})
	return loop.Stage{Name: name(s, "blocks_of_"+by.mapping), Partition: -1, Func: loop.RemoveDead(b.Func()), Bufs: g.bufs, Args: g.args, Symbolic: s.Symbolic}, true
}

// lineWork emits what a thread does for a row: its columns' elements are variables.
type lineWork struct {
	g       *gridFunc
	t       *lineNest
	elem    loop.Type // of the buffer
	buf     loop.BufID
	zeroed  bool        // the buffer has nothing but zeros before
	columns []loop.Expr // that a thread has, within the line
	valid   []loop.Expr // whether it really has each, or all of them: else nothing is stored
	values  []*loop.Ref // what becomes of the elements
	places  []loop.Expr // where they are in the buffer
	current int         // the column that is emitted
	counts  loop.Expr   // whether what is emitted counts; nil: it does
	turn    *turn       // that is emitted, of a loop that is unrolled
	run     func(n *loop.Inliner)
}

// newLineWork makes an inlining emit the row's work by the run function that the
// caller sets.
func (m *mapper) newLineWork(s *loop.Stage, g *gridFunc, t *lineNest, in *loop.Inlining, row loop.Expr) *lineWork {
	id := s.Bufs[t.buf]
	w := &lineWork{g: g, t: t, elem: m.out.Buffers[id].Elem, buf: in.Bufs[t.buf], zeroed: m.zeroed(s, id)}
	in.Chunk, in.Lo, in.Hi = row, row, row
	in.Loop = func(f *loop.For, n *loop.Inliner) bool {
		switch {
		case f == t.row:
			n.Bind(f.Var, row)
			w.run(n)
		case t.lines[f]:
			for u := range w.columns {
				w.current = u
				n.Bind(f.Var, w.columns[u])
				n.Block(f.Body)
			}
		default:
			w.loop(f, n, n.Expr(f.Lo), n.Expr(f.Hi))
		}
		return true
	}
	in.Load = func(e *loop.Load) loop.Expr {
		if e.Buf == t.buf {
			return w.values[w.current]
		}
		if w.turn != nil && isRef(e.Index, w.turn.loop.Var) {
			if v := w.turn.loads[e.Buf]; v != nil {
				return v
			}
		}
		return nil
	}
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		w.assign(w.values[w.current], n.Expr(st.Value))
		return true
	}
	return w
}

// zeroed reports whether a buffer has nothing but zeros when a stage starts.
func (m *mapper) zeroed(s *loop.Stage, id loop.BufferID) bool {
	zero := false
	for i := range m.from.Stages {
		st := &m.from.Stages[i]
		for _, a := range append(append([]loop.Alloc{}, st.Allocs...), st.PartitionAllocs...) {
			if a.Buffer == id {
				zero = a.Zero
			}
		}
		if st == s {
			break
		}
		for k, buf := range st.Bufs {
			if buf == id && !st.Func.Bufs[k].ReadOnly {
				return false
			}
		}
	}
	return zero
}

// take gives the thread its columns of those from start on.
func (w *lineWork) take(by lineTeams, start, rank, width, columns loop.Expr) {
	b := w.g.b
	if by.strides != nil {
		w.vector(b.Add(start, b.Mul(rank, loop.Int(int64(by.perLane)))), columns, by.perLane)
		return
	}
	for u := range by.perLane {
		w.column(b.Add(start, b.Add(rank, b.Mul(width, loop.Int(int64(u))))), columns)
	}
}

// column gives the thread a column. Beyond the end it goes along with the last one.
func (w *lineWork) column(k, columns loop.Expr) {
	b := w.g.b
	k = b.Let("k", k)
	w.valid = append(w.valid, b.Let("valid", b.Lt(k, columns)))
	w.columns = append(w.columns, b.Let("column", b.Min(k, b.Sub(columns, loop.Int(1)))))
}

// begin fetches the elements.
func (w *lineWork) begin(n *loop.Inliner) {
	b := w.g.b
	zero := number(w.elem, 0, 0)
	for _, k := range w.columns {
		n.Bind(w.t.first.Var, k)
		index := store(w.t.first).Index
		w.bindLets(n, index)
		w.places, w.values = append(w.places, b.Let("at", n.Expr(index))), append(w.values, b.Var("value", zero))
	}
	if !w.zeroed {
		w.each(func(u int) { b.Assign(w.values[u], b.Load(w.buf, w.places[u])) })
	}
}

// each emits something for the columns that the thread really has.
func (w *lineWork) each(emit func(u int)) {
	b := w.g.b
	for u := 0; u < len(w.columns); {
		group := len(w.columns) / len(w.valid)
		b.If(w.valid[u/group], func() {
			for range group {
				emit(u)
				u++
			}
		}, nil)
	}
}

// bindLets puts values in place of what the first loop over columns declares for an
// index.
func (w *lineWork) bindLets(n *loop.Inliner, e loop.Expr) {
	loop.WalkExpr(e, func(e loop.Expr) {
		if r, ok := e.(*loop.Ref); ok {
			if l := letIn(w.t.first, r.Var); l != nil {
				w.bindLets(n, l.Value)
				n.Bind(l.Var, n.Expr(l.Value))
			}
		}
	})
}

// end stores the elements.
func (w *lineWork) end() {
	w.each(func(u int) { w.g.b.Store(w.buf, w.places[u], w.values[u]) })
}

// assign gives an element's variable a value.
func (w *lineWork) assign(v *loop.Ref, value loop.Expr) {
	if w.counts != nil {
		value = loop.NewSelect(w.counts, value, v)
	}
	w.g.b.Assign(v, value)
}

// loop emits a loop between the row and the columns. Where nothing is in it but loops
// over columns, several iterations are emitted at a time, so that what they read is
// under way together; those beyond the end are that of the last one and do not count.
func (w *lineWork) loop(f *loop.For, n *loop.Inliner, lo, hi loop.Expr) {
	b := w.g.b
	if !w.unrolls(f) {
		b.For("p", lo, hi, func(i loop.Expr) {
			n.Bind(f.Var, i)
			n.Block(f.Body)
		})
		return
	}
	hi = b.Let("to", hi)
	at := b.Var("at", lo)
	if x2ahead {
		w.loopAhead(f, n, at, hi)
		return
	}
	b.While(b.Le(at, b.Let("last", b.Sub(hi, loop.Int(unroll)))), func() {
		var turns []turn
		for u := range unroll {
			turns = append(turns, w.fetch(f, n, b.Let("p", b.Add(at, loop.Int(int64(u))))))
		}
		for _, t := range turns {
			w.do(n, t)
		}
		b.Assign(at, b.Add(at, loop.Int(unroll)))
	})
	b.If(b.Lt(at, hi), func() {
		var turns []turn
		for u := range unroll - 1 {
			p := b.Let("p", b.Add(at, loop.Int(int64(u))))
			t := w.fetch(f, n, b.Let("p", b.Min(p, b.Sub(hi, loop.Int(1)))))
			t.counts = b.Let("counts", b.Lt(p, hi))
			turns = append(turns, t)
		}
		for _, t := range turns {
			w.do(n, t)
		}
	}, nil)
}

// turn is an iteration of a loop between the row and the columns.
type turn struct {
	loop   *loop.For
	p      loop.Expr
	lets   map[loop.VarID]loop.Expr // what is declared in it outside the loops over columns
	loads  map[loop.BufID]loop.Expr // elements p of buffers
	counts loop.Expr                // see lineWork
}

// fetch emits what an iteration reads before its columns: other iterations' reads, which
// come next, need not wait for what depends on these.
func (w *lineWork) fetch(f *loop.For, n *loop.Inliner, p loop.Expr) turn {
	t := turn{loop: f, p: p, lets: map[loop.VarID]loop.Expr{}, loads: map[loop.BufID]loop.Expr{}}
	n.Bind(f.Var, p)
	for _, s := range f.Body {
		switch s := s.(type) {
		case *loop.Let:
			n.Block([]loop.Stmt{s})
			t.lets[s.Var] = n.Value(s.Var)
		case *loop.For:
			loop.WalkStmts(s.Body, func(s loop.Stmt) {
				for _, e := range loop.Exprs(s) {
					loop.WalkExpr(e, func(e loop.Expr) {
						if l, ok := e.(*loop.Load); ok && isRef(l.Index, f.Var) && w.t.f.Bufs[l.Buf].ReadOnly && t.loads[l.Buf] == nil {
							t.loads[l.Buf] = w.g.b.Let("entry", n.Expr(l))
						}
					})
				}
			})
		}
	}
	return t
}

// do emits the columns of an iteration.
func (w *lineWork) do(n *loop.Inliner, t turn) {
	w.counts, w.turn = t.counts, &t
	n.Bind(t.loop.Var, t.p)
	for id, e := range t.lets {
		n.Bind(id, e)
	}
	for _, s := range t.loop.Body {
		if s, ok := s.(*loop.For); ok {
			n.Block([]loop.Stmt{s})
		}
	}
	w.counts, w.turn = nil, nil
}

// unrolls reports whether a loop has nothing in it but loops over columns.
func (w *lineWork) unrolls(f *loop.For) bool {
	for _, s := range f.Body {
		switch s := s.(type) {
		case *loop.Let:
			if s.Mutable {
				return false
			}
		case *loop.Comment:
		case *loop.For:
			if !w.t.lines[s] {
				return false
			}
		default:
			return false
		}
	}
	return true
}
