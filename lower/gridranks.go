package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// What the ways to merge by ranks share. A warp goes through 32 neighbouring entries at a
// time, a word: marks tell where the search for those of a word begins and ends, and
// what is true of some entries of a word is kept as bits of an integer, so that running
// sums are needed of words only.

const (
	logWord     = 5
	wordEntries = 1 << logWord
)

// sizes emits the stage that computes how many rows and words there are. Behind the
// entries there is always a place in a word.
func (m *mergedRows) sizes() {
	name := m.step.Result.Name
	m.rows = m.NewScalar(name+"_rows", false)
	var rows loop.SizeExpr = loop.SizeConst(1)
	if !m.lists {
		for _, v := range m.outer {
			rows = emit.Times(rows, loop.SizeScalar(m.extent(v)))
		}
	}
	st := loop.Stage{Name: "size", Partition: -1, Lets: []loop.ScalarLet{{Scalar: m.rows, Value: rows}}}
	for i := range m.operands {
		words, count := m.NewScalar(fmt.Sprintf("%s_words%d", name, i), false), m.NewScalar(fmt.Sprintf("%s_entries%d", name, i), false)
		m.words, m.count = append(m.words, words), append(m.count, count)
		full := &loop.SizeOp{Op: loop.Div, X: m.entries(i), Y: loop.SizeConst(wordEntries)}
		st.Lets = append(st.Lets, loop.ScalarLet{Scalar: words, Value: sizePlus(full, 1)}, loop.ScalarLet{Scalar: count, Value: m.entries(i)})
	}
	m.AddStage(st)
}

// allocate emits the stage that sizes the result, whose last level is seg.
func (m *mergedRows) allocate(seg segment, lets []loop.ScalarLet, total loop.SizeExpr) {
	st := loop.Stage{
		Name: "allocate", Partition: -1,
		Lets: append(lets, loop.ScalarLet{Scalar: seg.total, Value: total}),
		Allocs: []loop.Alloc{
			{Buffer: seg.pos, Len: sizePlus(loop.SizeScalar(m.rows), 1)},
			{Buffer: m.Result.Values, Len: loop.SizeScalar(seg.total)},
		},
	}
	for _, crd := range seg.crd {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: crd, Len: loop.SizeScalar(seg.total)})
	}
	m.AddStage(st)
}

func sizePlus(n loop.SizeExpr, more int64) loop.SizeExpr {
	return &loop.SizeOp{Op: loop.Add, X: n, Y: loop.SizeConst(more)}
}

// pos is the positions array of an operand: where rows begin, or the list.
func (m *mergedRows) pos(operand int) loop.BufferID {
	level := len(m.outer)
	if m.lists {
		level = 0
	}
	return m.Input(m.operands[operand][0].Tensor, level, Positions)
}

// levels are the first and the last level that have a coordinate for each entry.
func (m *mergedRows) levels() (first, last int) {
	if m.lists {
		return 0, len(m.outer)
	}
	return len(m.outer), len(m.outer)
}

func (m *mergedRows) crd(operand, level int) loop.BufferID {
	return m.Input(m.operands[operand][0].Tensor, level, Coordinates)
}

// coordinates are those of entry p of an operand that are stored for it, by level from
// the first.
func (m *mergedRows) coordinates(t *gridTeam, operand int, p loop.Expr) []loop.Expr {
	var list []loop.Expr
	first, last := m.levels()
	for l := first; l <= last; l++ {
		list = append(list, t.B.Let("c", t.B.LoadIndex(t.Read(m.crd(operand, l)), p)))
	}
	return list
}

// less and equal compare coordinates.
func less(b *loop.Builder, x, y []loop.Expr) loop.Expr {
	last := len(x) - 1
	is := b.Lt(x[last], y[last])
	for l := last - 1; l >= 0; l-- {
		is = b.Or(b.Lt(x[l], y[l]), b.And(b.Eq(x[l], y[l]), is))
	}
	return b.Let("less", is)
}

func equal(b *loop.Builder, x, y []loop.Expr) loop.Expr {
	is := loop.Expr(loop.Truth(true))
	for l := range x {
		is = b.And(is, b.Eq(x[l], y[l]))
	}
	return b.Let("equal", is)
}

// entries is the number of entries of an operand.
func (m *mergedRows) entries(operand int) loop.SizeExpr {
	return loop.SizeLen{Buffer: m.crd(operand, len(m.outer))}
}

// mergeEmitter begins a function for warps that take words.
func (m *mergedRows) mergeEmitter(name string) *gridTeam {
	warps := mergeWarps
	if m.opts.Grain > 0 { // tests of small data
		warps = 2
	}
	return m.gridEmitter(name, 1, warps)
}

// eachThread runs body for items 0 … n-1, which threads take in turns.
func (t *gridTeam) eachThread(n loop.Expr, body func(item loop.Expr)) {
	b := t.B
	threads := loop.Int(int64(t.Block) * warpSize)
	at := b.Var("at", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	all := b.Let("all", b.Mul(b.Special(loop.BlockCount), threads))
	b.While(b.Lt(at, n), func() {
		body(b.Let("item", at))
		b.Assign(at, b.Add(at, all))
	})
}

// blocksForThreads is the number of blocks for so many items of eachThread.
func (t *gridTeam) blocksForThreads(items loop.SizeExpr) loop.SizeExpr {
	return emit.Min(emit.CeilDiv(items, loop.SizeConst(int64(t.Block)*warpSize)), loop.SizeConst(coop.MaxBlocks))
}

// rowOf is the last of the rows first to last that begins at or before entry p, by
// bisection; first if none does.
func (e *emitter) rowOf(pos loop.BufID, first, last, p loop.Expr) loop.Expr {
	b := e.B
	lo, hi := b.Var("lo", first), b.Var("hi", last)
	b.While(b.Lt(lo, hi), func() {
		mid := b.Let("mid", loop.NewBinary(loop.Shr, b.Add(b.Add(lo, hi), loop.Int(1)), loop.Int(1)))
		b.If(b.Le(b.LoadIndex(pos, mid), p), func() { b.Assign(lo, mid) }, func() { b.Assign(hi, b.Sub(mid, loop.Int(1))) })
	})
	return b.Let("row", lo)
}

// marksStage emits the stage that finds the marks of an operand for searches in another
// one, unless they are there.
func (m *mergedRows) marksStage(operand, other int) {
	if !m.lists {
		other = operand
	}
	key := [2]int{operand, other}
	if _, there := m.marks[key]; there {
		return
	}
	marks := m.Buffer(fmt.Sprintf("%s_marks%d%d", m.step.Result.Name, operand, other), loop.I64, loop.Temp)
	m.marks[key] = marks
	t := m.mergeEmitter("marks")
	b := t.B
	words := t.Scalar(m.words[operand])
	n := b.Let("entries", t.Scalar(m.count[operand]))
	t.eachThread(b.Let("marks", b.Add(words, loop.Int(1))), func(k loop.Expr) {
		p := b.Let("p", b.Min(n, loop.NewBinary(loop.Shl, k, loop.Int(logWord))))
		if m.lists {
			rank := b.Var("rank", t.Scalar(m.count[other]))
			b.If(b.Lt(p, n), func() {
				b.Assign(rank, m.lowerBound(t, other, loop.Int(0), rank, m.coordinates(t, operand, p)))
			}, nil)
			b.Store(t.Write(marks), k, rank)
			return
		}
		last := b.Let("last", b.Sub(t.Scalar(m.rows), loop.Int(1)))
		b.Store(t.Write(marks), k, t.rowOf(t.Read(m.pos(operand)), loop.Int(0), last, b.Min(p, b.Sub(n, loop.Int(1)))))
	})
	count := sizePlus(loop.SizeScalar(m.words[operand]), 1)
	st := t.Launch("marks", t.blocksForThreads(count))
	st.Allocs = []loop.Alloc{{Buffer: marks, Len: count}}
	st.Symbolic = true
	m.AddStage(st)
}

// lowerBound is the first entry of an operand from lo to hi-1 that is not before the given
// coordinates, hi if there is none. It is found in 32 bits where positions have no more.
func (m *mergedRows) lowerBound(t *gridTeam, operand int, lo, hi loop.Expr, coords []loop.Expr) loop.Expr {
	b, typ := t.B, loop.I64
	if m.Program.Buffers[m.pos(operand)].Elem == loop.U32 {
		typ = loop.U32
	}
	rank := emit.Bisect(b, b.Cast(typ, lo), b.Cast(typ, hi), func(at loop.Expr) loop.Expr {
		return less(b, m.coordinates(t, operand, b.Cast(loop.I64, at)), coords)
	})
	return b.Let("rank", b.Cast(loop.I64, rank))
}

// row is the row of entry p, in a word of an operand.
func (m *mergedRows) row(t *gridTeam, operand int, word, p loop.Expr) loop.Expr {
	if m.lists {
		return nil
	}
	first, last := m.marked(t, operand, operand, word)
	return t.rowOf(t.Read(m.pos(operand)), first, last, p)
}

// marked are the marks of a word and of the next one.
func (m *mergedRows) marked(t *gridTeam, operand, other int, word loop.Expr) (first, last loop.Expr) {
	b, marks := t.B, t.Read(m.marks[[2]int{operand, other}])
	return b.Let("first", b.Load(marks, word)), b.Let("last", b.Load(marks, b.Add(word, loop.Int(1))))
}

// search finds the rank of entry p of an operand in another one, given its row and
// coordinates: the first entry there that is not before it, and whether its coordinates
// are the same.
func (m *mergedRows) search(t *gridTeam, operand, other int, word, row, p loop.Expr, coords []loop.Expr) (rank loop.Expr, match *loop.Ref) {
	b := t.B
	var end loop.Expr
	if m.lists {
		first, last := m.marked(t, operand, other, word)
		rank, end = m.lowerBound(t, other, first, last, coords), t.Scalar(m.count[other])
	} else {
		rank, end = m.searchRow(t, operand, other, row, p, coords)
	}
	is := b.Var("match", loop.Truth(false))
	b.If(b.Lt(rank, end), func() { b.Assign(is, equal(b, m.coordinates(t, other, rank), coords)) }, nil)
	return rank, is
}

// searchRow is search in a row, of which it also finds the end.
func (m *mergedRows) searchRow(t *gridTeam, operand, other int, row, p loop.Expr, coords []loop.Expr) (rank, end loop.Expr) {
	b := t.B
	begin := b.Let("begin", b.LoadIndex(t.Read(m.pos(operand)), row))
	pos := t.Read(m.pos(other))
	from := b.Let("from", b.LoadIndex(pos, row))
	end = b.Let("end", b.LoadIndex(pos, b.Add(row, loop.Int(1))))
	lo, hi := b.Var("lo", from), b.Var("hi", end)
	// Operands often resemble each other: the entry at the same place in the row is
	// where the search begins.
	b.If(b.Lt(lo, hi), func() {
		at := b.Let("guess", b.Min(b.Add(from, b.Sub(p, begin)), b.Sub(end, loop.Int(1))))
		c := m.coordinates(t, other, at)
		b.If(less(b, c, coords), func() { b.Assign(lo, b.Add(at, loop.Int(1))) }, func() {
			b.Assign(hi, at)
			b.Assign(lo, b.Select(equal(b, c, coords), at, lo))
		})
	}, nil)
	return m.lowerBound(t, other, lo, hi, coords), end
}

// wordBits tells something of the entries of an operand: a bit for each of a word, how
// many are set before the word, and in all, in a buffer of one element and as a scalar.
type wordBits struct {
	bits, sums, totals loop.BufferID
	total              loop.ScalarID
}

func (m *mergedRows) newWordBits(name string) wordBits {
	name = m.step.Result.Name + "_" + name
	return wordBits{
		bits: m.Buffer(name+"_bits", loop.U32, loop.Temp), sums: m.Buffer(name+"_sums", loop.I64, loop.Temp),
		totals: m.Buffer(name+"_total", loop.I64, loop.Temp), total: m.NewScalar(name, false),
	}
}

// bitsStage emits the stage that sets the bits of an operand's entries: those for which
// holds, called with an entry and its word, says so. Further allocations are for what that stores.
func (m *mergedRows) bitsStage(name string, operand int, w wordBits, allocs []loop.Alloc, holds func(t *gridTeam, word, p loop.Expr) loop.Expr) {
	t := m.mergeEmitter(name)
	t.quiet, t.symbolic = true, true
	b := t.B
	words, n := t.Scalar(m.words[operand]), t.Scalar(m.count[operand])
	bits, sums := t.Write(w.bits), t.Write(w.sums)
	t.Each(words, func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.Lane()))
		is := b.Var("is", loop.Truth(false))
		b.If(b.Lt(p, n), func() { b.Assign(is, holds(t, word, p)) }, nil)
		all := b.Ballot("all", is)
		b.If(b.Eq(t.Lane(), loop.Int(0)), func() {
			b.Store(bits, word, all)
			b.Store(sums, word, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, all)))
		}, nil)
	})
	size := loop.SizeScalar(m.words[operand])
	st := t.Launch(name, t.BlocksFor(size))
	st.Allocs = append(allocs, loop.Alloc{Buffer: w.bits, Len: size}, loop.Alloc{Buffer: w.sums, Len: size})
	st.Symbolic = true
	m.AddStage(st)
	m.sumStage(operand, w)
}

// sumStage emits the stage that turns the counts of words into running sums.
func (m *mergedRows) sumStage(operand int, w wordBits) {
	e := m.emitter("before_words")
	b := e.B
	sums := e.Write(w.sums)
	sum := b.Var("sum", loop.Int(0))
	b.For("w", loop.Int(0), e.Scalar(m.words[operand]), func(w loop.Expr) {
		n := b.Let("n", b.Load(sums, w))
		b.Store(sums, w, sum)
		b.Assign(sum, b.Add(sum, n))
	})
	b.Store(e.Write(w.totals), loop.Int(0), sum)
	st := e.Stage("sums")
	st.Prefixes = []loop.Prefix{{Buffer: w.sums, Stride: 1, N: loop.SizeScalar(m.words[operand]), Total: w.totals}}
	st.Allocs = []loop.Alloc{{Buffer: w.totals, Len: loop.SizeConst(1)}}
	st.Symbolic = true
	m.AddStage(st)
}

// let defines the scalar with the number of all bits.
func (w wordBits) let() loop.ScalarLet {
	return loop.ScalarLet{Scalar: w.total, Value: &loop.SizeLoad{Buffer: w.totals, Index: loop.SizeConst(0)}}
}

// before is the number of bits of the entries before p, and whether that of p is set.
func (w wordBits) before(t *gridTeam, p loop.Expr) (count, is loop.Expr) {
	b := t.B
	word := b.Let("word", loop.NewBinary(loop.Shr, p, loop.Int(logWord)))
	bits := b.Let("bits", b.Load(t.Read(w.bits), word))
	bit := b.Let("bit", loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, b.And(p, loop.Int(wordEntries-1)))))
	below := loop.NewUnary(loop.OnesCount, b.And(bits, b.Sub(bit, loop.Number(loop.U32, 1))))
	count = b.Let("count", b.Add(b.Load(t.Read(w.sums), word), b.Cast(loop.I64, below)))
	return count, b.Let("is", b.Ne(b.And(bits, bit), loop.Number(loop.U32, 0)))
}

// positionsStage emits the stage that says where the rows of the result begin: at the
// place of what comes after the entries of all operands in the rows before.
func (m *mergedRows) positionsStage(seg segment, place func(t *gridTeam, begins []loop.Expr) loop.Expr) {
	t := m.mergeEmitter("positions")
	b := t.B
	rows := t.Scalar(m.rows)
	t.eachThread(b.Let("n", b.Add(rows, loop.Int(1))), func(row loop.Expr) {
		var begins []loop.Expr
		for i := range m.operands {
			begins = append(begins, b.Let("p", b.LoadIndex(t.Read(m.pos(i)), row)))
		}
		b.Store(t.Write(seg.pos), row, b.Cast(m.opts.positions(), place(t, begins)))
	})
	m.AddStage(t.Launch("positions", t.blocksForThreads(sizePlus(loop.SizeScalar(m.rows), 1))))
}

// mergedEntry is an entry of the result on its way.
type mergedEntry struct {
	at     loop.Expr // its place
	coords []loop.Expr
	row    loop.Expr // nil of lists, and where nobody needs it
	// others are the entries of the other operands, by operand, where present holds.
	others, present []loop.Expr
}

// fillStage emits a stage in which threads take the entries of an operand, in so many
// blocks or as many as they need. What it does for one, in a word, calls write if it is in
// the result.
func (m *mergedRows) fillStage(seg segment, operand int, some loop.SizeExpr, each func(t *gridTeam, word, p loop.Expr, write func(mergedEntry))) {
	t := m.mergeEmitter(fmt.Sprintf("fill%d_%s", operand, m.step.Result.Name))
	t.quiet = true
	b := t.B
	outside := t.start(m.others)
	t.Each(t.Scalar(m.words[operand]), func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.Lane()))
		b.If(b.Lt(p, t.Scalar(m.count[operand])), func() {
			each(t, word, p, func(x mergedEntry) {
				st := outside.clone()
				m.indices(t.emitter, st, x.coords, x.row)
				for i, list := range m.operands {
					if i == operand {
						m.bind(st, list, p, loop.Truth(true))
					} else {
						m.bind(st, list, x.others[i], x.present[i])
					}
				}
				t.advance(st)
				for i, c := range x.coords {
					crd := t.Write(seg.crd[i])
					b.Store(crd, x.at, b.Cast(b.Elem(crd), c))
				}
				b.Store(t.Write(m.Result.Values), x.at, t.expr(st, m.leaf.Value))
			})
		}, nil)
	})
	blocks := t.BlocksFor(loop.SizeScalar(m.words[operand]))
	// Often an operand has nothing that is not the others' too.
	m.AddStage(t.Launch("fill", emit.Product(blocks, emit.Min(some, loop.SizeConst(1)))))
}

// indices binds the indices of the loops, but those over rows if none is given.
func (m *mergedRows) indices(e *emitter, st *state, coords []loop.Expr, row loop.Expr) {
	b := e.B
	st.index[m.inner] = coords[len(coords)-1]
	if m.lists {
		for l, v := range m.outer {
			st.index[v] = coords[l]
		}
		return
	}
	if row == nil {
		return
	}
	for i := len(m.outer) - 1; i >= 0; i-- {
		v := m.outer[i]
		if i == 0 {
			st.index[v] = row
			return
		}
		n := e.Scalar(e.extent(v))
		above := b.Let("above", b.Div(row, n))
		st.index[v] = b.Let(v.Name, b.Sub(row, b.Mul(above, n)))
		row = above
	}
}
