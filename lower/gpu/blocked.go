package gpu

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// blockedWord names the mapping for schedules.
const blockedWord = "blocked"

var _ = register(mapping{of: ofElements, place: 0, word: blockedWord, take: (*mapper).blocked, says: map[string]string{
	"blocked":        "a block for each 64 x 32 elements, which share what they read by way of shared memory",
	"blocked_narrow": "a block for each 32 x 8 elements, which share what they read by way of shared memory",
}})

// blocked maps a stage that computes the elements of a matrix, each a fold over the same dimension of what is read
// for its row and for its column, such as a product of dense matrices, to blocks that each take a tile of it: they go through the
// dimension in steps, for each of which they bring what the tile's rows and columns need into shared memory, and read the next
// step's meanwhile; a thread keeps some rows and columns in registers. Each element folds in the order of the loop. (V. Volkov and J. W. Demmel,
// "Benchmarking GPUs to tune dense linear algebra", SC 2008.)
//
// Small matrices, and such as fold over so much more than they have elements that too few blocks would do it all, are mapped otherwise. It
// reports whether it could be done.
func (m *mapper) blocked(s *loop.Stage) bool {
	p, ok := m.blockedProduct(s)
	if !ok || m.unblocked {
		return false
	}
	var stages []loop.Stage
	for _, shape := range []blockShape{squareBlock, narrowBlock} {
		st, ok := m.withQuick(func() loop.Stage { return p.stage(shape) })
		if !ok {
			return false
		}
		stages = append(stages, st)
	}
	n, columns, depth := loop.SizeScalar(p.n), loop.SizeScalar(p.columns), loop.SizeScalar(p.depth)
	on, narrow := m.scalar(s.Name+"_blocked"), m.scalar(s.Name+"_narrow")
	elements := sizeOp(loop.Mul, n, columns)
	pays := sizeOp(loop.Mul, emit.AtLeast(elements, m.opts.Blocked), emit.AtLeast(depth, leastDepth))
	enough := sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, sizeOp(loop.Div, elements, loop.SizeConst(elementsForDepth)), emit.AtLeastOne(depth)))
	m.sizes(s.Name+"_blocks", []loop.ScalarLet{
		{Scalar: on, Value: sizeOp(loop.Mul, pays, enough)},
		{Scalar: narrow, Value: emit.Not(emit.AtLeast(columns, narrowBlock.size[ofColumns]+1))},
	}, nil, nil)
	for i, shape := range []blockShape{squareBlock, narrowBlock} {
		tiles := sizeOp(loop.Mul, emit.CeilDiv(n, loop.SizeConst(shape.size[ofRows])), emit.CeilDiv(columns, loop.SizeConst(shape.size[ofColumns])))
		chosen := loop.SizeExpr(loop.SizeScalar(narrow))
		if shape == squareBlock {
			chosen = emit.Not(chosen)
		}
		m.run(stages[i], sizeOp(loop.Mul, sizeOp(loop.Mul, loop.SizeScalar(on), chosen), sizeOp(loop.Min, tiles, loop.SizeConst(coop.MaxBlocks))))
	}
	m.unblocked = true
	m.instead(emit.Not(loop.SizeScalar(on)), func() { m.single(s) })
	m.unblocked = false
	return true
}

const (
	// leastDepth is from how much on a fold is worth the steps.
	leastDepth = 8
	// elementsForDepth is how many elements there are for each iteration of the fold, at least.
	elementsForDepth = 8
	// defaultBlocked is how many elements are worth it.
	defaultBlocked = 1 << 14
)

// instead adds stages that run, and allocate, only where a number, 1 or 0, is 1.
func (m *mapper) instead(on loop.SizeExpr, add func()) {
	first := len(m.out.Stages)
	m.when(on, add)
	for i := first; i < len(m.out.Stages); i++ {
		for k := range m.out.Stages[i].Allocs {
			a := &m.out.Stages[i].Allocs[k]
			a.Len = sizeOp(loop.Mul, on, a.Len)
		}
	}
}

// blockShape is how many rows and columns a tile has, and each thread of it.
type blockShape struct {
	mapping    string
	size, each [2]int64
}

var (
	// Of seven shapes these were the fastest on an H200, by 3 to 10 %.
	squareBlock = blockShape{"blocked", [2]int64{64, 32}, [2]int64{4, 4}}
	narrowBlock = blockShape{"blocked_narrow", [2]int64{32, 8}, [2]int64{2, 2}}
)

// blockDepth is how many iterations of the fold a step has.
const blockDepth = 16

func (x blockShape) threads() int {
	return int(x.size[ofRows] / x.each[ofRows] * (x.size[ofColumns] / x.each[ofColumns]))
}

// blockedProduct is a stage on its way.
type blockedProduct struct {
	m    *mapper
	s    *loop.Stage
	t    *lineNest
	over *loop.For // the fold
	line *loop.For // over columns
	// n, columns and depth are how many rows, columns and iterations of the fold there are.
	n, columns, depth loop.ScalarID
	// ofRow and ofColumn are what is read in the fold for a row, and for a column.
	ofRow, ofColumn []*loop.Load
}

// blockedProduct finds out whether a stage is such a one.
func (m *mapper) blockedProduct(s *loop.Stage) (*blockedProduct, bool) {
	t, ok := lineNestOf(s.Func)
	if !ok {
		t, ok = lineFoldOf(s.Func)
	}
	if !ok || t.elem() != t.elem().Compute() {
		return nil, false
	}
	p := &blockedProduct{m: m, s: s, t: t, n: m.cuts[s.Partition].n}
	if t.sum != nil {
		p.over, p.line = t.sum.over, t.sum.line
		if t.sum.inner != p.over {
			return nil, false
		}
	} else if p.over, ok = t.row.Body[t.start].(*loop.For); !ok || len(t.lines) != 1 || t.start != len(t.row.Body)-1 {
		return nil, false
	} else if last := len(p.over.Body) - 1; last < 0 || !only(p.over.Body[:last], isValue) {
		return nil, false
	} else if p.line, ok = p.over.Body[last].(*loop.For); !ok || !t.lines[p.line] {
		return nil, false
	}
	if !overDimension(s.Func, p.over) || !only(t.row.Body[:t.start], isValue) {
		return nil, false
	}
	p.columns, p.depth = argOf(s, t.width), argOf(s, p.over.Hi.(*loop.Ref).Var)
	return p, p.sortLoads()
}

// sortLoads finds what is read for a row and for a column. It is not ok if something is read for both and the iteration of the fold, or nothing
// is shared.
func (p *blockedProduct) sortLoads() bool {
	known := lets(loop.LetsOf(p.s.Func.Body))
	var depends func(e loop.Expr, on loop.VarID) bool
	depends = func(e loop.Expr, on loop.VarID) bool {
		return loop.HasExpr(e, func(e loop.Expr) bool {
			r, ok := e.(*loop.Ref)
			return ok && (r.Var == on || known[r.Var] != nil && depends(known[r.Var], on))
		})
	}
	ok := true
	for l := range loop.Loads(p.over.Body) {
		row, column, iteration := depends(l.Index, p.t.row.Var), depends(l.Index, p.line.Var), depends(l.Index, p.over.Var)
		switch {
		case p.t.sum == nil && l.Buf == p.t.buf:
		case !iteration: // read where it is needed
		case row && column, loop.HasLoad(l.Index), !p.s.Func.Bufs[l.Buf].ReadOnly, l.Elem != l.Elem.Compute():
			ok = false
		case row:
			p.ofRow = append(p.ofRow, l)
		default:
			p.ofColumn = append(p.ofColumn, l)
		}
	}
	bytes := 0
	for _, l := range slices.Concat(p.ofRow, p.ofColumn) {
		bytes += l.Elem.Size()
	}
	return ok && len(p.ofRow) > 0 && len(p.ofColumn) > 0 && bytes <= 2*tileBytes
}

// stage is the stage for tiles of a shape, without its blocks.
func (p *blockedProduct) stage(shape blockShape) loop.Stage {
	g := p.m.newFuncOf(p.s.Func.Name, shape.threads())
	w := &blockWork{blockedProduct: p, blockShape: shape, g: g, in: g.parameters(p.s)}
	b := g.Builder
	w.limits = [2]loop.Expr{g.scalar(p.n), g.scalar(p.columns)}
	depth := g.scalar(p.depth)
	across := b.Let("tiles_across", ceilDivided(b, w.limits[ofColumns], w.size[ofColumns]))
	down := ceilDivided(b, w.limits[ofRows], w.size[ofRows])
	w.thread[ofColumns], w.thread[ofRows] = split(b, g.thread(), w.apart(ofColumns))
	eachTile := func(do func()) {
		g.inTurns(g.block(), b.Let("tiles", b.Mul(across, down)), g.blocks(), func(tile loop.Expr) {
			w.first = [2]loop.Expr{
				b.Let("first_row", b.Mul(b.Div(tile, across), loop.Int(w.size[ofRows]))),
				b.Let("first_column", b.Mul(b.Rem(tile, across), loop.Int(w.size[ofColumns]))),
			}
			do()
		})
	}
	if g.Quick {
		eachTile(func() { w.quick(depth) })
		return g.stage(p.s, shape.mapping)
	}
	w.in.Load = func(l *loop.Load) loop.Expr {
		if p.t.sum == nil && l.Buf == p.t.buf {
			return w.value
		}
		return w.stands[l]
	}
	for i, l := range slices.Concat(p.ofRow, p.ofColumn) {
		x := &sharedTile{load: l}
		if i >= len(p.ofRow) {
			x.of = ofColumns
		}
		x.array = b.Shared("tile", l.Elem, blockDepth*w.stride(x.of))
		w.tiles = append(w.tiles, x)
	}
	eachTile(func() {
		w.begin()
		last := b.Let("last", b.Sub(depth, loop.Int(1)))
		for _, x := range w.tiles {
			x.next = nil
			w.eachPlace(x, func(_ int, _, i, k loop.Expr) {
				x.next = append(x.next, b.Var("next", w.read(x, i, b.Min(k, last))))
			})
		}
		from := b.Var("from", loop.Int(0))
		b.While(b.Lt(from, depth), func() {
			b.Barrier(loop.BlockScope) // the step before is done
			for _, x := range w.tiles {
				w.eachPlace(x, func(q int, at, _, _ loop.Expr) { b.Store(x.array, at, x.next[q]) })
			}
			b.Barrier(loop.BlockScope)
			after := b.Let("after", b.Add(from, loop.Int(blockDepth)))
			for _, x := range w.tiles {
				w.eachPlace(x, func(q int, _, i, k loop.Expr) {
					b.Assign(x.next[q], w.read(x, i, b.Min(b.Add(after, k), last)))
				})
			}
			b.For("step", loop.Int(0), b.Let("steps", b.Min(loop.Int(blockDepth), b.Sub(depth, from))), func(step loop.Expr) {
				w.fold(step, b.Let("iteration", b.Add(from, step)))
			})
			b.Assign(from, after)
		})
		w.end()
	})
	return g.stage(p.s, shape.mapping)
}

// quick emits what a thread does while better code is made: one element after another, from the device's memory.
func (w *blockWork) quick(depth loop.Expr) {
	b := w.g.Builder
	w.n = b.Inliner(w.s.Func, w.in)
	b.For("row_of_thread", loop.Int(0), loop.Int(w.each[ofRows]), func(r loop.Expr) {
		b.For("column_of_thread", loop.Int(0), loop.Int(w.each[ofColumns]), func(c loop.Expr) {
			place := func(of side, k loop.Expr) loop.Expr {
				return b.Let("at", b.Add(w.first[of], b.Add(w.thread[of], b.Mul(k, loop.Int(w.apart(of))))))
			}
			row, column := place(ofRows, r), place(ofColumns, c)
			b.If(b.And(b.Lt(row, w.limits[ofRows]), b.Lt(column, w.limits[ofColumns])), func() {
				w.n.Bind(w.t.row.Var, row)
				w.n.Bind(w.line.Var, column)
				w.n.Block(w.t.row.Body[:w.t.start])
				if w.t.sum != nil {
					w.n.Block(w.line.Body)
					return
				}
				b.For("iteration", loop.Int(0), depth, func(k loop.Expr) {
					w.n.Bind(w.over.Var, k)
					w.n.Block(w.over.Body[:len(w.over.Body)-1])
					w.n.Block(w.line.Body)
				})
			}, nil)
		})
	})
}

// ceilDivided is x/y rounded up.
func ceilDivided(b *loop.Builder, x loop.Expr, y int64) loop.Expr {
	return b.Div(b.Add(x, loop.Int(y-1)), loop.Int(y))
}

// side is that of the rows or of the columns of a tile.
type side int

const (
	ofRows side = iota
	ofColumns
)

// sharedTile is what a step needs of one load: an array in shared memory, and what the thread brings to it next.
type sharedTile struct {
	load  *loop.Load
	of    side
	array loop.BufID
	next  []*loop.Ref
}

// blockWork emits what a block does.
type blockWork struct {
	*blockedProduct
	blockShape
	g      *gridFunc
	in     loop.Inlining
	n      *loop.Inliner
	tiles  []*sharedTile
	limits [2]loop.Expr // rows and columns of the matrix
	first  [2]loop.Expr // row and column of the tile
	thread [2]loop.Expr // place of the thread's first row and column in it
	values []blockValue
	// stands are what is there in place of loads, and value is the element's, in what is emitted.
	stands map[*loop.Load]loop.Expr
	value  loop.Expr
}

// blockValue is an element that a thread has.
type blockValue struct {
	at    [2]int // of the thread's rows and columns
	value *loop.Ref
	valid loop.Expr
	bound map[loop.VarID]loop.Expr // what is declared before the fold
	place loop.Expr                // in the buffer, of a nest whose elements are there while they are added to
}

// stride is how far apart iterations of the fold are in a shared array: one more than there are rows or columns, lest all lanes want one bank.
func (w *blockWork) stride(of side) int64 { return w.size[of] + 1 }

// apart is how far apart a thread's rows or columns are.
func (w *blockWork) apart(of side) int64 { return w.size[of] / w.each[of] }

// variable is that of the row or the column.
func (w *blockWork) variable(of side) loop.VarID {
	if of == ofRows {
		return w.t.row.Var
	}
	return w.line.Var
}

// eachPlace emits something for each place of a shared array that the thread fills: at is the place, i the row or column,
// and k the iteration of the step. Neighbouring threads read what lies side by side.
func (w *blockWork) eachPlace(x *sharedTile, emit func(q int, at, i, k loop.Expr)) {
	b := w.g.Builder
	threads := int64(w.threads())
	alongFold := !w.sideBySide(x.load, w.variable(x.of))
	for q := range int(w.size[x.of] * blockDepth / threads) {
		e := b.Let("e", b.Add(w.g.thread(), loop.Int(int64(q)*threads)))
		i, k := split(b, e, w.size[x.of])
		if alongFold {
			k, i = split(b, e, blockDepth)
		}
		emit(q, b.Let("place", b.Add(b.Mul(k, loop.Int(w.stride(x.of))), i)), i, k)
	}
}

// split is x mod n and x div n, for x that is not negative and n a power of two.
func split(b *loop.Builder, x loop.Expr, n int64) (rest, whole loop.Expr) {
	return b.Let("rest", b.And(x, loop.Int(n-1))), b.Let("whole", coop.Shr(x, loop.Int(int64(bits.TrailingZeros64(uint64(n))))))
}

// sideBySide reports whether neighbours in some variable are read side by side.
func (p *blockedProduct) sideBySide(l *loop.Load, v loop.VarID) bool {
	index := p.t.lets.value(l.Index)
	sum, adds := index.(*loop.Binary)
	return isRef(index, v) || adds && sum.Op == loop.Add && isRef(sum.Y, v)
}

// read is what a load reads for row or column i of the tile, or the last one that there is, and iteration k.
func (w *blockWork) read(x *sharedTile, i, k loop.Expr) loop.Expr {
	b := w.g.Builder
	w.stands = nil
	w.n.Bind(w.variable(x.of), b.Let("at", b.Min(b.Add(w.first[x.of], i), b.Sub(w.limits[x.of], loop.Int(1)))))
	w.n.Bind(w.over.Var, b.Let("k", k))
	w.t.bindLets(w.n, x.load.Index, loop.DeclaredIn(w.t.row.Body))
	return w.n.Expr(x.load)
}

// begin declares the elements.
func (w *blockWork) begin() {
	b := w.g.Builder
	w.n = b.Inliner(w.s.Func, w.in)
	var places [2][]loop.Expr
	var valid [2][]loop.Expr
	for _, of := range []side{ofRows, ofColumns} {
		for k := range w.each[of] {
			at := b.Let("at", b.Add(w.first[of], b.Add(w.thread[of], loop.Int(k*w.apart(of)))))
			valid[of] = append(valid[of], b.Let("valid", b.Lt(at, w.limits[of])))
			places[of] = append(places[of], b.Let("at", b.Min(at, b.Sub(w.limits[of], loop.Int(1)))))
		}
	}
	w.values = nil
	declared := slices.Clone(w.t.row.Body[:w.t.start])
	if w.t.sum != nil {
		declared = append(declared, w.t.sum.before...)
	}
	for r := range places[ofRows] {
		for c := range places[ofColumns] {
			v := blockValue{at: [2]int{r, c}, valid: b.And(valid[ofRows][r], valid[ofColumns][c])}
			v.bound = map[loop.VarID]loop.Expr{w.t.row.Var: places[ofRows][r], w.line.Var: places[ofColumns][c]}
			w.bind(v)
			w.n.Block(declared)
			for _, st := range declared {
				if l, ok := st.(*loop.Let); ok {
					v.bound[l.Var] = w.n.Value(l.Var)
				}
			}
			if w.t.sum != nil {
				v.value = v.bound[w.t.sum.fold.variable].(*loop.Ref)
			} else {
				index := store(w.line).Index
				w.t.bindLets(w.n, index, loop.DeclaredIn(w.line.Body))
				v.place, v.value = b.Let("at", w.n.Expr(index)), b.Var("value", number(w.t.elem(), 0, 0))
			}
			w.values = append(w.values, v)
		}
	}
	if w.t.sum == nil && !w.m.zeroed(w.s, w.s.Bufs[w.t.buf]) {
		for _, v := range w.values {
			b.If(v.valid, func() { b.Assign(v.value, b.Load(w.in.Bufs[w.t.buf], v.place)) }, nil)
		}
	}
}

func (w *blockWork) bind(v blockValue) {
	for _, id := range slices.Sorted(maps.Keys(v.bound)) {
		w.n.Bind(id, v.bound[id])
	}
}

// fold emits an iteration for each element, of which the shared arrays have what it reads at a step.
func (w *blockWork) fold(step, iteration loop.Expr) {
	b := w.g.Builder
	read := make([][]loop.Expr, len(w.tiles)) // by the thread's rows or columns
	for i, x := range w.tiles {
		for k := range w.each[x.of] {
			place := b.Add(b.Mul(step, loop.Int(w.stride(x.of))), b.Add(w.thread[x.of], loop.Int(k*w.apart(x.of))))
			read[i] = append(read[i], b.Let("shared", b.Load(x.array, place)))
		}
	}
	w.n.Bind(w.over.Var, iteration)
	for _, v := range w.values {
		w.stands = map[*loop.Load]loop.Expr{}
		for i, x := range w.tiles {
			w.stands[x.load] = read[i][v.at[x.of]]
		}
		w.value = v.value
		w.bind(v)
		last := len(w.over.Body) - 1
		w.n.Block(w.over.Body[:last])
		if sum := w.t.sum; sum != nil {
			w.n.Bind(sum.fold.variable, v.value)
			b.Assign(v.value, w.n.Expr(w.over.Body[last].(*loop.Assign).Value))
			continue
		}
		w.n.Block(w.line.Body[:len(w.line.Body)-1])
		b.Assign(v.value, w.n.Expr(store(w.line).Value))
	}
	w.stands = nil
}

// end stores the elements that there are.
func (w *blockWork) end() {
	b := w.g.Builder
	for _, v := range w.values {
		b.If(v.valid, func() {
			if w.t.sum == nil {
				b.Store(w.in.Bufs[w.t.buf], v.place, v.value)
				return
			}
			w.bind(v)
			w.n.Bind(w.t.sum.fold.variable, v.value)
			w.n.Block(w.t.sum.after)
		}, nil)
	}
}
