package grid

import (
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
	if e := s.Func.Bufs[t.buf].Elem; e != e.Compute() {
		return false // a register would not round like the buffer
	}
	c := m.cuts[s.Partition]
	width := argOf(s, t.width)
	buffers, scalars := len(m.out.Buffers), len(m.out.Scalars)
	var long *longList
	if t.split {
		long = &longList{m.temp(s.Name+"_long", loop.I64), m.temp(s.Name+"_long_count", loop.I64)}
	}
	doublings := m.scalar(s.Name + "_lanes_log2")
	narrow, okNarrow := m.rowsByTeams(s, t, doublings, 1, long)
	wide, okWide := m.rowsByTeams(s, t, -1, wideColumns, long)
	if !okNarrow || !okWide {
		m.out.Buffers, m.out.Scalars = m.out.Buffers[:buffers], m.out.Scalars[:scalars]
		return false
	}
	n, k := loop.SizeExpr(loop.SizeScalar(c.n)), loop.SizeExpr(loop.SizeScalar(width))
	one := loop.SizeConst(1)
	// 1 where the lines have more columns than a warp has lanes, else 0; and 1 where
	// they have any.
	isWide := sizeOp(loop.Min, one, sizeOp(loop.Div, sizeOp(loop.Max, sizeOp(loop.Sub, k, one), loop.SizeConst(0)), loop.SizeConst(warp)))
	any := sizeOp(loop.Min, one, k)
	teams := func(tiles loop.SizeExpr) loop.SizeExpr {
		threads := sizeOp(loop.Mul, sizeOp(loop.Min, sizeOp(loop.Mul, n, tiles), loop.SizeConst(maxRowThreads/warp)), loop.SizeConst(warp))
		return ceilDiv(threads, loop.SizeConst(int64(m.opts.Threads)))
	}
	var allocs []loop.Alloc
	if long != nil {
		allocs = []loop.Alloc{{Buffer: long.rows, Len: n}, {Buffer: long.count, Len: one, Zero: true}}
	}
	m.sizes(s.Name+"_lanes", []loop.ScalarLet{{Scalar: doublings, Value: doublingsToCover(k)}}, nil, allocs)
	narrow.Blocks = sizeOp(loop.Mul, sizeOp(loop.Mul, teams(one), any), sizeOp(loop.Sub, one, isWide))
	wide.Blocks = sizeOp(loop.Mul, teams(ceilDiv(k, loop.SizeConst(warp*wideColumns))), isWide)
	m.add(narrow)
	m.add(wide)
	if long != nil {
		rest := m.rowsByBlocks(s, t, long)
		rest.Blocks = sizeOp(loop.Min, sizeOp(loop.Mul, n, any), loop.SizeConst(maxLongBlocks))
		m.add(rest)
	}
	return true
}

const (
	// wideColumns is how many columns of a wide line a lane takes.
	wideColumns = 4
	// longLines is how many times as many iterations as for the lanes of a team that
	// shares them make a row long that each lane goes through alone.
	longLines = 8
	// maxLongBlocks bounds the blocks that take long rows in turns.
	maxLongBlocks = 512
)

// longList is a list of rows in memory: numbers, and how many there are.
type longList struct{ rows, count loop.BufferID }

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

// rowsByTeams is the stage in which teams of lanes take rows, each lane some columns of
// the line, a team apart. Teams are of 2^doublings lanes, and have the whole line; or, for
// a negative scalar, of a warp, and have a tile of it. Long rows are noted, if there
// is a list for them.
func (m *mapper) rowsByTeams(s *loop.Stage, t *lineNest, doublings loop.ScalarID, perLane int, long *longList) (loop.Stage, bool) {
	c := m.cuts[s.Partition]
	g := m.newFunc(s.Func.Name)
	in := g.parameters(s)
	b := g.b
	n := g.scalar(c.n)
	var log loop.Expr = loop.Int(maxDoublings)
	if doublings >= 0 {
		log = g.scalar(doublings)
	}
	teams := g.rowTeams(log)
	columns := in.Args[argIndex(s.Func, t.width)]
	var rows, count loop.BufID
	if long != nil {
		rows, count = g.buffer(long.rows, loop.ReadWrite), g.buffer(long.count, loop.ReadWrite)
	}
	item := func(row, tile loop.Expr) {
		w := m.newLineWork(s, g, t, &in, row)
		for u := range perLane {
			k := b.Add(teams.rank, b.Mul(teams.width, loop.Int(int64(u))))
			w.column(b.Add(b.Mul(tile, loop.Int(warp*wideColumns)), k), columns)
		}
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
			b.If(b.Gt(length, loop.Int(longLines*m.opts.LongRow)), func() {
				b.If(b.And(b.Eq(teams.rank, loop.Int(0)), b.Eq(tile, loop.Int(0))), func() {
					b.Store(rows, b.AtomicOld("place", loop.AtomicAdd, count, loop.Int(0), loop.Int(1)), row)
				}, nil)
			}, work)
		}
		b.Inline(s.Func, in)
	}
	if doublings >= 0 {
		g.inTurns(teams.first, n, teams.all, func(row loop.Expr) { item(row, loop.Int(0)) })
	} else {
		tiles := b.Let("tiles", b.Add(b.Div(b.Sub(columns, loop.Int(1)), loop.Int(warp*wideColumns)), loop.Int(1)))
		g.inTurns(teams.first, b.Let("items", b.Mul(n, tiles)), teams.all, func(i loop.Expr) { item(g.tileOf(i, n, tiles)) })
	}
	f := loop.RemoveDead(b.Func())
	mapping := "columns"
	if doublings < 0 {
		mapping = "tiles_of_columns"
	}
	return loop.Stage{Name: name(s, mapping), Partition: -1, Func: f, Bufs: g.bufs, Args: g.args, Symbolic: s.Symbolic},
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
// of the entries, each lane a column of a tile. The sums of the warps are added up in
// the order of the entries.
func (m *mapper) rowsByBlocks(s *loop.Stage, t *lineNest, long *longList) loop.Stage {
	threads := min(4*m.opts.Threads, loop.MaxThreads)
	g := &gridFunc{m: m, b: loop.NewGridBuilder(s.Func.Name, threads)}
	in := g.parameters(s)
	b := g.b
	rows, count := g.buffer(long.rows, loop.ReadOnly), g.buffer(long.count, loop.ReadOnly)
	columns := in.Args[argIndex(s.Func, t.width)]
	warps := loop.Int(int64(threads / warp))
	sums := b.Shared("sums", m.out.Buffers[s.Bufs[t.buf]].Elem, int64(threads))
	tiles := b.Let("tiles", b.Add(b.Div(b.Sub(columns, loop.Int(1)), loop.Int(warp)), loop.Int(1)))
	items := b.Let("items", b.Mul(b.Load(count, loop.Int(0)), tiles))
	g.inTurns(g.block(), items, g.blocks(), func(item loop.Expr) {
		place := b.Let("place", b.Div(item, tiles))
		tile := b.Let("tile", b.Sub(item, b.Mul(place, tiles)))
		row := b.Let("row", b.Load(rows, place))
		w := m.newLineWork(s, g, t, &in, row)
		w.column(b.Add(b.Mul(tile, loop.Int(warp)), g.lane()), columns)
		w.run = func(n *loop.Inliner) {
			n.Block(t.row.Body[:t.start])
			w.begin(n)
			total := w.values[0]
			d := fold{op: t.op, typ: total.Typ}
			w.values[0] = b.Var("part", d.identity())
			outer := t.row.Body[t.start].(*loop.For)
			lo, hi := b.Let("lo", n.Expr(outer.Lo)), b.Let("hi", n.Expr(outer.Hi))
			each := b.Let("each", b.Div(b.Add(b.Sub(hi, lo), b.Sub(warps, loop.Int(1))), warps))
			from := b.Let("from", b.Min(b.Add(lo, b.Mul(g.warp(), each)), hi))
			w.loop(outer, n, from, b.Let("to", b.Min(b.Add(from, each), hi)))
			b.Barrier(loop.BlockScope) // the sums of the last row have been read
			b.Store(sums, g.thread(), w.values[0])
			b.Barrier(loop.BlockScope)
			w.values[0] = total
			b.If(b.Eq(g.warp(), loop.Int(0)), func() {
				sum := b.Var("sum", b.Load(sums, g.lane()))
				b.For("w", loop.Int(1), warps, func(i loop.Expr) {
					w.assign(sum, loop.NewBinary(t.op, sum, b.Load(sums, b.Add(b.Mul(i, loop.Int(warp)), g.lane()))))
				})
				w.assign(total, loop.NewBinary(t.op, total, sum))
				w.end()
			}, nil)
		}
		b.Inline(s.Func, in)
	})
	return loop.Stage{Name: name(s, "blocks_of_columns"), Partition: -1, Func: loop.RemoveDead(b.Func()), Bufs: g.bufs, Args: g.args, Symbolic: s.Symbolic}
}

// lineWork emits what a thread does for a row: its columns' elements are variables.
type lineWork struct {
	g       *gridFunc
	t       *lineNest
	elem    loop.Type // of the buffer
	buf     loop.BufID
	zeroed  bool        // the buffer has nothing but zeros before
	columns []loop.Expr // that a thread has, within the line
	valid   []loop.Expr // whether it really has: else nothing is stored
	values  []*loop.Ref // what becomes of the elements
	places  []loop.Expr // where they are in the buffer
	current int         // the column that is emitted
	counts  loop.Expr   // whether what is emitted counts; nil: it does
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
	for u, k := range w.columns {
		n.Bind(w.t.first.Var, k)
		index := store(w.t.first).Index
		w.bindLets(n, index)
		at := b.Let("at", n.Expr(index))
		v := b.Var("value", zero)
		if !w.zeroed {
			b.If(w.valid[u], func() { b.Assign(v, b.Load(w.buf, at)) }, nil)
		}
		w.places, w.values = append(w.places, at), append(w.values, v)
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
	for u, v := range w.values {
		w.g.b.If(w.valid[u], func() { w.g.b.Store(w.buf, w.places[u], v) }, nil)
	}
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
	b.While(b.Le(at, b.Let("last", b.Sub(hi, loop.Int(unroll)))), func() {
		for u := range unroll {
			n.Bind(f.Var, b.Let("p", b.Add(at, loop.Int(int64(u)))))
			n.Block(f.Body)
		}
		b.Assign(at, b.Add(at, loop.Int(unroll)))
	})
	b.If(b.Lt(at, hi), func() {
		for u := range unroll - 1 {
			p := b.Let("p", b.Add(at, loop.Int(int64(u))))
			n.Bind(f.Var, b.Let("p", b.Min(p, b.Sub(hi, loop.Int(1)))))
			w.counts = b.Let("counts", b.Lt(p, hi))
			n.Block(f.Body)
		}
		w.counts = nil
	}, nil)
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
