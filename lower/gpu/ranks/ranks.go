// Package ranks merges operands on grids that are stored alike, in rows or as lists of coordinates, into a result like them: not row
// by row, but a thread takes an entry, whatever its row. It finds the rank of the entry in the other operands, the number of entries
// there that come before it, by bisection, and whether they store the coordinates as well. Running sums then tell its place in the
// result. So rows need not be counted, and no thread has more to do than others where they differ in length. (Lists are merged by
// ranks in S. Odeh, O. Green, Z. Mwassi, O. Shmueli and Y. Birk, "Merge Path: Parallel Merging Made Simple", 2012.) Two operands
// whose patterns alone say what is stored are merged by Pair, all others by Many. What is computed of the entries of operands is up
// to the caller.
package ranks

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
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
	// blockWarps is the size of a block.
	blockWarps = 8
)

// Merge is a sparse result whose entries are placed by ranks.
type Merge struct {
	*emit.Builder
	// Outer are the indices of the loops over rows, whose extents Extent gives.
	Outer    []*ir.Index
	Extent   func(*ir.Index) loop.ScalarID
	Lists    bool // not rows
	Operands []*ir.Tensor
	ByRow    bool // what is computed depends on coordinates of rows
	// Positions is the type of the positions of the result, whose last level is Pos, Crd, by level from the first, and Total.
	Positions loop.Type
	Pos       loop.BufferID
	Crd       []loop.BufferID
	Total     loop.ScalarID
	// Stored is whether a condition holds and the result stores an entry, in a function that asks nothing else. Leaf is told of
	// a function that computes values.
	Stored func(f *emit.Func, cond loop.Expr, x Entry) loop.Expr
	Leaf   func(f *emit.Func) Leaf

	rows         loop.ScalarID
	count, words []loop.ScalarID // of an operand's entries, and of words of 32 that they fill
	// marks are, of rows, that of the first entry of each word of an operand, and of the
	// last entry; of lists, the rank of the first entry of each word in another list,
	// and its length. They are by operand and other operand, of rows the same one.
	marks map[[2]int]loop.BufferID
}

// Leaf computes the value of entries: of the one that Bind was told of last.
type Leaf struct {
	Bind  func(Entry)
	Value func() loop.Expr
}

// Entry is a coordinate that operands may store.
type Entry struct {
	Coords []loop.Expr
	Row    loop.Expr // nil of lists, and where nobody needs it
	// Places are the entries of the operands, where Present holds.
	Places, Present []loop.Expr

	at loop.Expr // its place in the result
}

// team is a function for teams of a GPU's threads.
type team struct {
	*emit.Func
	*coop.Team
}

// team begins a function for warps that take words.
func (m *Merge) team(name string) *team {
	warps := blockWarps
	if m.Grain > 0 { // tests of small data
		warps = 2
	}
	t, f := coop.NewTeam(m.Builder, name, 1, warps)
	return &team{f, t}
}

func (m *Merge) name() string { return m.Result.Tensor.Name }

// sizes emits the stage that computes how many rows and words there are. Behind the
// entries there is always a place in a word.
func (m *Merge) sizes() {
	m.marks = map[[2]int]loop.BufferID{}
	name := m.name()
	m.rows = m.NewScalar(name+"_rows", false)
	var rows loop.SizeExpr = loop.SizeConst(1)
	if !m.Lists {
		for _, v := range m.Outer {
			rows = emit.Times(rows, loop.SizeScalar(m.Extent(v)))
		}
	}
	st := loop.Stage{Name: "size", Partition: -1, Lets: []loop.ScalarLet{{Scalar: m.rows, Value: rows}}}
	for i := range m.Operands {
		words, count := m.NewScalar(fmt.Sprintf("%s_words%d", name, i), false), m.NewScalar(fmt.Sprintf("%s_entries%d", name, i), false)
		m.words, m.count = append(m.words, words), append(m.count, count)
		full := &loop.SizeOp{Op: loop.Div, X: m.entries(i), Y: loop.SizeConst(wordEntries)}
		st.Lets = append(st.Lets, loop.ScalarLet{Scalar: words, Value: sizePlus(full, 1)}, loop.ScalarLet{Scalar: count, Value: m.entries(i)})
	}
	m.AddStage(st)
}

// allocate emits the stage that sizes the result, whose last level is seg.
func (m *Merge) allocate(lets []loop.ScalarLet, total loop.SizeExpr) {
	st := loop.Stage{
		Name: "allocate", Partition: -1,
		Lets: append(lets, loop.ScalarLet{Scalar: m.Total, Value: total}),
		Allocs: []loop.Alloc{
			{Buffer: m.Pos, Len: sizePlus(loop.SizeScalar(m.rows), 1)},
			{Buffer: m.Result.Values, Len: loop.SizeScalar(m.Total)},
		},
	}
	for _, crd := range m.Crd {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: crd, Len: loop.SizeScalar(m.Total)})
	}
	m.AddStage(st)
}

func sizePlus(n loop.SizeExpr, more int64) loop.SizeExpr {
	return &loop.SizeOp{Op: loop.Add, X: n, Y: loop.SizeConst(more)}
}

// pos is the positions array of an operand: where rows begin, or the list.
func (m *Merge) pos(operand int) loop.BufferID {
	level := len(m.Outer)
	if m.Lists {
		level = 0
	}
	return m.Input(m.Operands[operand], level, emit.Positions)
}

// levels are the first and the last level that have a coordinate for each entry.
func (m *Merge) levels() (first, last int) {
	if m.Lists {
		return 0, len(m.Outer)
	}
	return len(m.Outer), len(m.Outer)
}

func (m *Merge) crd(operand, level int) loop.BufferID {
	return m.Input(m.Operands[operand], level, emit.Coordinates)
}

// coordinates are those of entry p of an operand that are stored for it, by level from
// the first.
func (m *Merge) coordinates(t *team, operand int, p loop.Expr) []loop.Expr {
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
func (m *Merge) entries(operand int) loop.SizeExpr {
	return loop.SizeLen{Buffer: m.crd(operand, len(m.Outer))}
}

// eachThread runs body for items 0 … n-1, which threads take in turns.
func (t *team) eachThread(n loop.Expr, body func(item loop.Expr)) {
	b := t.B
	threads := loop.Int(int64(t.Block) * loop.WarpSize)
	at := b.Var("at", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	all := b.Let("all", b.Mul(b.Special(loop.BlockCount), threads))
	b.While(b.Lt(at, n), func() {
		body(b.Let("item", at))
		b.Assign(at, b.Add(at, all))
	})
}

// blocksForThreads is the number of blocks for so many items of eachThread.
func (t *team) blocksForThreads(items loop.SizeExpr) loop.SizeExpr {
	return emit.Min(emit.CeilDiv(items, loop.SizeConst(int64(t.Block)*loop.WarpSize)), loop.SizeConst(coop.MaxBlocks))
}

// rowOf is the last of the rows first to last that begins at or before entry p, by
// bisection; first if none does.
func rowOf(b *loop.Builder, pos loop.BufID, first, last, p loop.Expr) loop.Expr {
	lo, hi := b.Var("lo", first), b.Var("hi", last)
	b.While(b.Lt(lo, hi), func() {
		mid := b.Let("mid", loop.NewBinary(loop.Shr, b.Add(b.Add(lo, hi), loop.Int(1)), loop.Int(1)))
		b.If(b.Le(b.LoadIndex(pos, mid), p), func() { b.Assign(lo, mid) }, func() { b.Assign(hi, b.Sub(mid, loop.Int(1))) })
	})
	return b.Let("row", lo)
}

// marksStage emits the stage that finds the marks of an operand for searches in another
// one, unless they are there.
func (m *Merge) marksStage(operand, other int) {
	if !m.Lists {
		other = operand
	}
	key := [2]int{operand, other}
	if _, there := m.marks[key]; there {
		return
	}
	marks := m.Buffer(fmt.Sprintf("%s_marks%d%d", m.name(), operand, other), loop.I64, loop.Temp)
	m.marks[key] = marks
	t := m.team("marks")
	b := t.B
	words := t.Scalar(m.words[operand])
	n := b.Let("entries", t.Scalar(m.count[operand]))
	t.eachThread(b.Let("marks", b.Add(words, loop.Int(1))), func(k loop.Expr) {
		p := b.Let("p", b.Min(n, loop.NewBinary(loop.Shl, k, loop.Int(logWord))))
		if m.Lists {
			rank := b.Var("rank", t.Scalar(m.count[other]))
			b.If(b.Lt(p, n), func() {
				b.Assign(rank, m.lowerBound(t, other, loop.Int(0), rank, m.coordinates(t, operand, p)))
			}, nil)
			b.Store(t.Write(marks), k, rank)
			return
		}
		last := b.Let("last", b.Sub(t.Scalar(m.rows), loop.Int(1)))
		b.Store(t.Write(marks), k, rowOf(t.B, t.Read(m.pos(operand)), loop.Int(0), last, b.Min(p, b.Sub(n, loop.Int(1)))))
	})
	count := sizePlus(loop.SizeScalar(m.words[operand]), 1)
	st := t.Launch("marks", t.blocksForThreads(count))
	st.Allocs = []loop.Alloc{{Buffer: marks, Len: count}}
	st.Symbolic = true
	m.AddStage(st)
}

// lowerBound is the first entry of an operand from lo to hi-1 that is not before the given
// coordinates, hi if there is none. It is found in 32 bits where positions have no more.
func (m *Merge) lowerBound(t *team, operand int, lo, hi loop.Expr, coords []loop.Expr) loop.Expr {
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
func (m *Merge) row(t *team, operand int, word, p loop.Expr) loop.Expr {
	if m.Lists {
		return nil
	}
	first, last := m.marked(t, operand, operand, word)
	return rowOf(t.B, t.Read(m.pos(operand)), first, last, p)
}

// marked are the marks of a word and of the next one.
func (m *Merge) marked(t *team, operand, other int, word loop.Expr) (first, last loop.Expr) {
	b, marks := t.B, t.Read(m.marks[[2]int{operand, other}])
	return b.Let("first", b.Load(marks, word)), b.Let("last", b.Load(marks, b.Add(word, loop.Int(1))))
}

// search finds the rank of entry p of an operand in another one, given its row and
// coordinates: the first entry there that is not before it, and whether its coordinates
// are the same.
func (m *Merge) search(t *team, operand, other int, word, row, p loop.Expr, coords []loop.Expr) (rank loop.Expr, match *loop.Ref) {
	b := t.B
	var end loop.Expr
	if m.Lists {
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
func (m *Merge) searchRow(t *team, operand, other int, row, p loop.Expr, coords []loop.Expr) (rank, end loop.Expr) {
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

// positionsStage emits the stage that says where the rows of the result begin: at the
// place of what comes after the entries of all operands in the rows before.
func (m *Merge) positionsStage(place func(t *team, begins []loop.Expr) loop.Expr) {
	t := m.team("positions")
	b := t.B
	rows := t.Scalar(m.rows)
	t.eachThread(b.Let("n", b.Add(rows, loop.Int(1))), func(row loop.Expr) {
		var begins []loop.Expr
		for i := range m.Operands {
			begins = append(begins, b.Let("p", b.LoadIndex(t.Read(m.pos(i)), row)))
		}
		b.Store(t.Write(m.Pos), row, b.Cast(m.Positions, place(t, begins)))
	})
	m.AddStage(t.Launch("positions", t.blocksForThreads(sizePlus(loop.SizeScalar(m.rows), 1))))
}

// fillStage emits a stage in which threads take the entries of an operand, in so many
// blocks or as many as they need. What it does for one, in a word, calls write if it is in
// the result.
func (m *Merge) fillStage(operand int, some loop.SizeExpr, each func(t *team, word, p loop.Expr, write func(Entry))) {
	t := m.team(fmt.Sprintf("fill%d_%s", operand, m.name()))
	b := t.B
	leaf := m.Leaf(t.Func)
	t.Each(t.Scalar(m.words[operand]), func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.Lane()))
		b.If(b.Lt(p, t.Scalar(m.count[operand])), func() {
			each(t, word, p, func(x Entry) {
				leaf.Bind(x)
				for i, c := range x.Coords {
					crd := t.Write(m.Crd[i])
					b.Store(crd, x.at, b.Cast(b.Elem(crd), c))
				}
				b.Store(t.Write(m.Result.Values), x.at, leaf.Value())
			})
		}, nil)
	})
	blocks := t.BlocksFor(loop.SizeScalar(m.words[operand]))
	// Often an operand has nothing that is not the others' too.
	m.AddStage(t.Launch("fill", emit.Product(blocks, emit.Min(some, loop.SizeConst(1)))))
}
