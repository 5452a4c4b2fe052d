package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// The stages of mergedRows. A warp goes through 32 neighbouring entries at a time, a word:
// marks tell the row of the first entry of each, and the matches of a word are bits of an
// integer, so that running sums are needed of words only.

const (
	logWord     = 5
	wordEntries = 1 << logWord
)

// stages emits the stages of the result, whose last level is seg.
func (m *mergedRows) stages(seg segment) {
	m.sizes()
	m.marksStage(0)
	m.rankStage()
	m.sumStage()
	st := loop.Stage{
		Name: "allocate", Partition: -1,
		Lets: []loop.ScalarLet{
			{Scalar: m.matches, Value: &loop.SizeLoad{Buffer: m.totals, Index: loop.SizeConst(0)}},
			{Scalar: seg.total, Value: m.total()},
		},
		Allocs: []loop.Alloc{
			{Buffer: seg.pos, Len: sizePlus(loop.SizeScalar(m.rows), 1)},
			{Buffer: m.result.Values, Len: loop.SizeScalar(seg.total)},
		},
	}
	for _, crd := range seg.crd {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: crd, Len: loop.SizeScalar(seg.total)})
	}
	m.addStage(st)
	m.positionsStage(seg)
	m.fillFirst(seg)
	if m.stored.second {
		m.marksStage(1)
		m.fillSecond(seg)
	}
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
	return m.input(m.operands[operand][0].Tensor, level, Positions)
}

// levels are the first and the last level that have a coordinate for each entry.
func (m *mergedRows) levels() (first, last int) {
	if m.lists {
		return 0, len(m.outer)
	}
	return len(m.outer), len(m.outer)
}

func (m *mergedRows) crd(operand, level int) loop.BufferID {
	return m.input(m.operands[operand][0].Tensor, level, Coordinates)
}

// coordinates are those of entry p of an operand that are stored for it, by level from
// the first.
func (m *mergedRows) coordinates(t *gridTeam, operand int, p loop.Expr) []loop.Expr {
	var list []loop.Expr
	first, last := m.levels()
	for l := first; l <= last; l++ {
		list = append(list, t.b.Let("c", t.b.LoadIndex(t.read(m.crd(operand, l)), p)))
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

// sizes emits the stage that computes how many rows and words there are. Behind the
// entries there is always a place in a word of the first operand.
func (m *mergedRows) sizes() {
	name := m.step.Result.Name
	m.rows, m.matches = m.newScalar(name+"_rows", false), m.newScalar(name+"_matches", false)
	var rows loop.SizeExpr = loop.SizeConst(1)
	if !m.lists {
		for _, v := range m.outer {
			rows = sizeTimes(rows, loop.SizeScalar(m.extent(v)))
		}
	}
	st := loop.Stage{Name: "size", Partition: -1, Lets: []loop.ScalarLet{{Scalar: m.rows, Value: rows}}}
	for i := range m.operands {
		m.words[i] = m.newScalar(fmt.Sprintf("%s_words%d", name, i), false)
		m.count[i] = m.newScalar(fmt.Sprintf("%s_entries%d", name, i), false)
		words := &loop.SizeOp{Op: loop.Div, X: m.entries(i), Y: loop.SizeConst(wordEntries)}
		st.Lets = append(st.Lets, loop.ScalarLet{Scalar: m.words[i], Value: sizePlus(words, 1)},
			loop.ScalarLet{Scalar: m.count[i], Value: m.entries(i)})
	}
	m.addStage(st)
	m.ranks = m.buffer(name+"_ranks", m.program.Buffers[m.pos(1)].Elem, loop.Temp)
	m.bits, m.sums = m.buffer(name+"_bits", loop.U32, loop.Temp), m.buffer(name+"_sums", loop.I64, loop.Temp)
	m.totals = m.buffer(name+"_totals", loop.I64, loop.Temp)
}

// mergeEmitter begins a function for warps that take words.
func (m *mergedRows) mergeEmitter(name string) *gridTeam {
	warps := mergeWarps
	if m.opts.Grain > 0 { // tests of small data
		warps = 2
	}
	return m.gridEmitter(name, 1, warps)
}

// marksStage emits the stage that finds the marks of an operand.
func (m *mergedRows) marksStage(operand int) {
	marks := m.buffer(fmt.Sprintf("%s_marks%d", m.step.Result.Name, operand), loop.I64, loop.Temp)
	m.marks[operand] = marks
	t := m.mergeEmitter("marks")
	b := t.b
	words := t.scalar(m.words[operand])
	n := b.Let("entries", t.scalar(m.count[operand]))
	t.eachThread(b.Let("marks", b.Add(words, loop.Int(1))), func(k loop.Expr) {
		p := b.Let("p", b.Min(n, loop.NewBinary(loop.Shl, k, loop.Int(logWord))))
		if m.lists {
			rank := b.Var("rank", t.scalar(m.count[1-operand]))
			b.If(b.Lt(p, n), func() {
				b.Assign(rank, m.lowerBound(t, 1-operand, loop.Int(0), rank, m.coordinates(t, operand, p)))
			}, nil)
			b.Store(t.write(marks), k, rank)
			return
		}
		last := b.Let("last", b.Sub(t.scalar(m.rows), loop.Int(1)))
		b.Store(t.write(marks), k, t.rowOf(t.read(m.pos(operand)), loop.Int(0), last, b.Min(p, b.Sub(n, loop.Int(1)))))
	})
	count := sizePlus(loop.SizeScalar(m.words[operand]), 1)
	st := t.gridStage("marks", t.blocksForThreads(count))
	st.Allocs = []loop.Alloc{{Buffer: marks, Len: count}}
	st.Symbolic = true
	m.addStage(st)
}

// lowerBound is the first entry of an operand from lo to hi-1 that is not before the given
// coordinates, hi if there is none.
func (m *mergedRows) lowerBound(t *gridTeam, operand int, lo, hi loop.Expr, coords []loop.Expr) loop.Expr {
	b := t.b
	from, to := b.Var("lo", lo), b.Var("hi", hi)
	b.While(b.Lt(from, to), func() {
		mid := b.Let("mid", loop.NewBinary(loop.Shr, b.Add(from, to), loop.Int(1)))
		b.If(less(b, m.coordinates(t, operand, mid), coords), func() { b.Assign(from, b.Add(mid, loop.Int(1))) }, func() { b.Assign(to, mid) })
	})
	return b.Let("rank", from)
}

// eachThread runs body for items 0 … n-1, which threads take in turns.
func (t *gridTeam) eachThread(n loop.Expr, body func(item loop.Expr)) {
	b := t.b
	threads := loop.Int(int64(t.block) * warpSize)
	at := b.Var("at", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	all := b.Let("all", b.Mul(b.Special(loop.BlockCount), threads))
	b.While(b.Lt(at, n), func() {
		body(b.Let("item", at))
		b.Assign(at, b.Add(at, all))
	})
}

// blocksForThreads is the number of blocks for so many items of eachThread.
func (t *gridTeam) blocksForThreads(items loop.SizeExpr) loop.SizeExpr {
	return sizeMin(sizeCeil(items, loop.SizeConst(int64(t.block)*warpSize)), loop.SizeConst(maxGridBlocks))
}

// rowOf is the last of the rows first to last that begins at or before entry p, by
// bisection; first if none does.
func (e *emitter) rowOf(pos loop.BufID, first, last, p loop.Expr) loop.Expr {
	b := e.b
	lo, hi := b.Var("lo", first), b.Var("hi", last)
	b.While(b.Lt(lo, hi), func() {
		mid := b.Let("mid", loop.NewBinary(loop.Shr, b.Add(b.Add(lo, hi), loop.Int(1)), loop.Int(1)))
		b.If(b.Le(b.LoadIndex(pos, mid), p), func() { b.Assign(lo, mid) }, func() { b.Assign(hi, b.Sub(mid, loop.Int(1))) })
	})
	return b.Let("row", lo)
}

// row is the row of entry p, in a word of an operand.
func (m *mergedRows) row(t *gridTeam, operand int, word, p loop.Expr) loop.Expr {
	if m.lists {
		return nil
	}
	first, last := m.marked(t, operand, word)
	return t.rowOf(t.read(m.pos(operand)), first, last, p)
}

// marked are the marks of a word and of the next one.
func (m *mergedRows) marked(t *gridTeam, operand int, word loop.Expr) (first, last loop.Expr) {
	b, marks := t.b, t.read(m.marks[operand])
	return b.Let("first", b.Load(marks, word)), b.Let("last", b.Load(marks, b.Add(word, loop.Int(1))))
}

// search finds the rank of entry p of an operand in the other one, given its row and
// coordinates: the first entry there that is not before it, and whether its coordinates
// are the same.
func (m *mergedRows) search(t *gridTeam, operand int, word, row, p loop.Expr, coords []loop.Expr) (rank, match loop.Expr) {
	b, other := t.b, 1-operand
	var end loop.Expr
	if m.lists {
		first, last := m.marked(t, operand, word)
		rank, end = m.lowerBound(t, other, first, last, coords), t.scalar(m.count[other])
	} else {
		rank, end = m.searchRow(t, operand, row, p, coords)
	}
	is := b.Var("match", loop.Truth(false))
	b.If(b.Lt(rank, end), func() { b.Assign(is, equal(b, m.coordinates(t, other, rank), coords)) }, nil)
	return rank, is
}

// searchRow is search in a row, of which it also finds the end.
func (m *mergedRows) searchRow(t *gridTeam, operand int, row, p loop.Expr, coords []loop.Expr) (rank, end loop.Expr) {
	b, other := t.b, 1-operand
	begin := b.Let("begin", b.LoadIndex(t.read(m.pos(operand)), row))
	pos := t.read(m.pos(other))
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

// rankStage emits the stage that finds the ranks of the first operand's entries in the
// second one, and which of them match.
func (m *mergedRows) rankStage() {
	t := m.mergeEmitter("ranks")
	b := t.b
	words, n := t.scalar(m.words[0]), t.scalar(m.count[0])
	ranks, bits, sums := t.write(m.ranks), t.write(m.bits), t.write(m.sums)
	t.each(words, func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.lane()))
		match := b.Var("matches", loop.Truth(false))
		b.If(b.Lt(p, n), func() {
			coords := m.coordinates(t, 0, p)
			rank, is := m.search(t, 0, word, m.row(t, 0, word, p), p, coords)
			b.Store(ranks, p, b.Cast(b.Elem(ranks), rank))
			b.Assign(match, is)
		}, nil)
		all := b.Ballot("all", match)
		b.If(b.Eq(t.lane(), loop.Int(0)), func() {
			b.Store(bits, word, all)
			b.Store(sums, word, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, all)))
		}, nil)
	})
	n0 := loop.SizeScalar(m.words[0])
	st := t.gridStage("ranks", t.blocksFor(n0))
	st.Allocs = []loop.Alloc{
		{Buffer: m.ranks, Len: m.entries(0)}, {Buffer: m.bits, Len: n0}, {Buffer: m.sums, Len: n0},
	}
	st.Symbolic = true
	m.addStage(st)
}

// sumStage emits the stage that turns the matches of words into running sums.
func (m *mergedRows) sumStage() {
	e := m.emitter("matches_before")
	b := e.b
	sums := e.write(m.sums)
	sum := b.Var("sum", loop.Int(0))
	b.For("w", loop.Int(0), e.scalar(m.words[0]), func(w loop.Expr) {
		n := b.Let("n", b.Load(sums, w))
		b.Store(sums, w, sum)
		b.Assign(sum, b.Add(sum, n))
	})
	b.Store(e.write(m.totals), loop.Int(0), sum)
	st := e.stage("sums")
	st.Prefixes = []loop.Prefix{{Buffer: m.sums, Stride: 1, N: loop.SizeScalar(m.words[0]), Total: m.totals}}
	st.Allocs = []loop.Alloc{{Buffer: m.totals, Len: loop.SizeConst(1)}}
	st.Symbolic = true
	m.addStage(st)
}

// factors are how often the entries of the first operand, those of the second one and
// the matches count towards those of the result.
func (m *mergedRows) factors() (first, second, both int64) {
	number := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	first, second = number(m.stored.first), number(m.stored.second)
	return first, second, number(m.stored.both) - first - second
}

// total is the number of entries of the result.
func (m *mergedRows) total() loop.SizeExpr {
	first, second, both := m.factors()
	times := func(n loop.SizeExpr, factor int64) loop.SizeExpr {
		return &loop.SizeOp{Op: loop.Mul, X: n, Y: loop.SizeConst(factor)}
	}
	plus := func(x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Add, X: x, Y: y} }
	return plus(plus(times(loop.SizeScalar(m.count[0]), first), times(loop.SizeScalar(m.count[1]), second)),
		times(loop.SizeScalar(m.matches), both))
}

// place is where the result has what comes after p entries of the first operand, q of
// the second one, and so many matches.
func (m *mergedRows) place(b *loop.Builder, p, q, matches loop.Expr) loop.Expr {
	first, second, both := m.factors()
	times := func(x loop.Expr, factor int64) loop.Expr { return b.Mul(x, loop.Int(factor)) }
	return b.Let("at", b.Add(b.Add(times(p, first), times(q, second)), times(matches, both)))
}

// before is the number of matches among the entries of the first operand before p, and
// whether p is one.
func (m *mergedRows) before(t *gridTeam, p loop.Expr) (matches, match loop.Expr) {
	b := t.b
	word := b.Let("word", loop.NewBinary(loop.Shr, p, loop.Int(logWord)))
	bits := b.Let("bits", b.Load(t.read(m.bits), word))
	bit := b.Let("bit", loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, b.And(p, loop.Int(wordEntries-1)))))
	below := loop.NewUnary(loop.OnesCount, b.And(bits, b.Sub(bit, loop.Number(loop.U32, 1))))
	matches = b.Let("matches", b.Add(b.Load(t.read(m.sums), word), b.Cast(loop.I64, below)))
	return matches, b.Let("match", b.Ne(b.And(bits, bit), loop.Number(loop.U32, 0)))
}

// positionsStage emits the stage that says where the rows of the result begin.
func (m *mergedRows) positionsStage(seg segment) {
	t := m.mergeEmitter("positions")
	b := t.b
	rows := t.scalar(m.rows)
	t.eachThread(b.Let("n", b.Add(rows, loop.Int(1))), func(row loop.Expr) {
		p := b.Let("p", b.LoadIndex(t.read(m.pos(0)), row))
		q := b.Let("q", b.LoadIndex(t.read(m.pos(1)), row))
		matches, _ := m.before(t, p)
		b.Store(t.write(seg.pos), row, b.Cast(loop.U64, m.place(b, p, q, matches)))
	})
	m.addStage(t.gridStage("positions", t.blocksForThreads(sizePlus(loop.SizeScalar(m.rows), 1))))
}

// entry is an entry of the result on its way.
type mergedEntry struct {
	at     loop.Expr // its place
	coords []loop.Expr
	row    loop.Expr // nil of lists, and where nobody needs it
	// other is the entry of the other operand, if present holds.
	other, present loop.Expr
}

// fillFirst emits the stage that writes what comes of the first operand's entries.
func (m *mergedRows) fillFirst(seg segment) {
	m.fill(seg, 0, func(t *gridTeam, word, p loop.Expr, write func(mergedEntry)) {
		b := t.b
		q := b.Let("q", b.LoadIndex(t.read(m.ranks), p))
		matches, match := m.before(t, p)
		keep := loop.Expr(loop.Truth(true))
		present := match
		switch {
		case !m.stored.first:
			keep, present = match, loop.Truth(true)
		case !m.stored.both:
			keep, present = b.Not(match), loop.Truth(false)
		}
		b.If(keep, func() {
			x := mergedEntry{coords: m.coordinates(t, 0, p), other: q, present: present}
			if m.byRow {
				x.row = m.row(t, 0, word, p)
			}
			x.at = m.place(b, p, q, matches)
			write(x)
		}, nil)
	})
}

// fillSecond emits the stage that writes what comes of the entries of the second operand
// that the first one does not have.
func (m *mergedRows) fillSecond(seg segment) {
	m.fill(seg, 1, func(t *gridTeam, word, q loop.Expr, write func(mergedEntry)) {
		b := t.b
		x := mergedEntry{coords: m.coordinates(t, 1, q), other: loop.Int(0), present: loop.Truth(false)}
		x.row = m.row(t, 1, word, q)
		p, match := m.search(t, 1, word, x.row, q, x.coords)
		b.If(b.Not(match), func() {
			matches, _ := m.before(t, p)
			x.at = m.place(b, p, q, matches)
			write(x)
		}, nil)
	})
}

// fill emits a stage in which threads take the entries of an operand. What it does for
// one, in a word, calls write if it is in the result.
func (m *mergedRows) fill(seg segment, operand int, each func(t *gridTeam, word, p loop.Expr, write func(mergedEntry))) {
	t := m.mergeEmitter(fmt.Sprintf("fill%d_%s", operand, m.step.Result.Name))
	t.quiet = true
	b := t.b
	outside := t.start(m.others)
	t.each(t.scalar(m.words[operand]), func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.lane()))
		b.If(b.Lt(p, t.scalar(m.count[operand])), func() {
			each(t, word, p, func(x mergedEntry) {
				st := outside.clone()
				m.indices(t.emitter, st, x)
				m.bind(st, m.operands[operand], p, loop.Truth(true))
				m.bind(st, m.operands[1-operand], x.other, x.present)
				t.advance(st)
				for i, c := range x.coords {
					crd := t.write(seg.crd[i])
					b.Store(crd, x.at, b.Cast(b.Elem(crd), c))
				}
				b.Store(t.write(m.result.Values), x.at, t.expr(st, m.leaf.Value))
			})
		}, nil)
	})
	blocks := t.blocksFor(loop.SizeScalar(m.words[operand]))
	if operand > 0 {
		// Often all of one operand's coordinates are the other's too.
		left := &loop.SizeOp{Op: loop.Sub, X: loop.SizeScalar(m.count[operand]), Y: loop.SizeScalar(m.matches)}
		blocks = sizeProduct(blocks, sizeMin(left, loop.SizeConst(1)))
	}
	m.addStage(t.gridStage("fill", blocks))
}

// indices binds the indices of the loops, but those over rows if none is given.
func (m *mergedRows) indices(e *emitter, st *state, x mergedEntry) {
	b, last := e.b, len(x.coords)-1
	st.index[m.inner] = x.coords[last]
	if m.lists {
		for l, v := range m.outer {
			st.index[v] = x.coords[l]
		}
		return
	}
	row := x.row
	if !m.byRow {
		return
	}
	for i := len(m.outer) - 1; i >= 0; i-- {
		v := m.outer[i]
		if i == 0 {
			st.index[v] = row
			return
		}
		n := e.scalar(e.extent(v))
		above := b.Let("above", b.Div(row, n))
		st.index[v] = b.Let(v.Name, b.Sub(row, b.Mul(above, n)))
		row = above
	}
}
