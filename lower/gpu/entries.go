package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// entryLoop is the body of a loop over rows whose entries are stored one behind
// another, an entry of the result for each of the operand: for a row i
//
//	for p = pos[i] to pos[i+1] {
//	  …
//	  vals[n] = v
//	  n = n + 1
//	}
//
// The count n is then known for each p, and all entries may be done apart.
type entryLoop struct {
	f       *loop.Func
	row     *loop.For
	start   int       // the statement of the row that is the loop over entries
	entries *loop.For // that loop
	pos     loop.BufID
	counter loop.VarID
	fold    *loop.For  // a loop in it that lanes can share; nil: none
	along   loop.BufID // a buffer that is read at the entry
}

// entryLoopOf finds out whether a function is such a loop.
func entryLoopOf(f *loop.Func) (*entryLoop, bool) {
	row, ok := loopOverChunk(f)
	if !ok || readsOwnStores(f) {
		return nil, false
	}
	t := &entryLoop{f: f, row: row, counter: loop.NoVar, along: -1}
	for _, s := range f.Body {
		if l, is := s.(*loop.Let); is && l.Mutable {
			ok = ok && t.counter == loop.NoVar
			t.counter = l.Var
		}
	}
	if t.entries, t.start = loneLoop(row.Body, isValue|isBranch|isStore); !ok || t.counter == loop.NoVar || t.entries == nil {
		return nil, false
	}
	t.pos, ok = pointersOf(f, t.entries)
	return t, ok && t.body() && t.rest()
}

// body checks what is done for an entry: it changes nothing but elements at the count or
// the entry, and the count itself, by one at the end.
func (t *entryLoop) body() bool {
	last := len(t.entries.Body) - 1
	if last < 0 {
		return false
	}
	body := t.entries.Body[:last]
	n, counted := counts(t.entries.Body[last])
	if !counted || n != t.counter || has(body, isWhile|isOther) || !keepsVariables(body) {
		return false
	}
	for _, l := range loopsOf(body) {
		if _, shares := foldsOf(t.f, l); shares && t.fold == nil {
			t.fold = l
		}
	}
	for l := range loop.Loads(body) {
		if isRef(l.Index, t.entries.Var) {
			t.along = l.Buf
		}
	}
	list := storesOf(body)
	return t.along >= 0 && len(list) > 0 && !slices.ContainsFunc(list, func(st *loop.Store) bool {
		return !isRef(st.Index, t.counter) && !isRef(st.Index, t.entries.Var)
	})
}

// others is what is done for a row besides.
func (t *entryLoop) others() []loop.Stmt {
	return slices.Concat(t.row.Body[:t.start], t.row.Body[t.start+1:])
}

// rest checks that: its stores are to other buffers, and it does not change the count.
func (t *entryLoop) rest() bool {
	there := stored(t.entries.Body)
	return !has(t.others(), ^(isDeclaration|isBranch|isStore)) &&
		!slices.ContainsFunc(storesOf(t.others()), func(st *loop.Store) bool { return there[st.Buf] })
}

// entriesTogether is how many entries a warp takes at a time, and logTogether its binary
// logarithm.
const (
	logTogether     = 5
	entriesTogether = 1 << logTogether
)

var _ = register(mapping{of: ofElements, place: 5, word: "entries", take: (*mapper).entries, says: map[string]string{
	"entries": "a team of lanes for so many entries, whatever their rows",
	"dots":    "8 lanes for 8 entries, each a fold over a dense dimension",
}})

// entries maps a stage whose rows append an entry for each of an operand's (see
// entryLoop), such as a sampled product of dense matrices, to teams of lanes that take
// entries, however long the rows are: the lanes of a team share a loop within the entry,
// if there is one, and are one lane otherwise. A stage before notes the row of every
// 32nd entry; those of the entries between are found by bisection. What is left to do
// for rows goes to a thread each. It reports whether that could be done.
func (m *mapper) entries(s *loop.Stage) bool {
	t, ok := entryLoopOf(s.Func)
	if !ok {
		return false
	}
	marks := m.temp(s.Name+"_marks", loop.I64)
	warps := emit.CeilDiv(loop.SizeLen{Buffer: s.Bufs[t.along]}, loop.SizeConst(entriesTogether))
	blocks := emit.CeilDiv(sizeOp(loop.Min, warps, loop.SizeConst(maxRowThreads/warp)), loop.SizeConst(int64(m.opts.Threads/warp)))
	stages, lets, ok := m.dots(s, t, marks, blocks)
	if !ok {
		stages, lets, ok = m.entriesByTeams(s, t, marks, blocks)
	}
	if !ok {
		return false
	}
	m.sizes(s.Name+"_lanes", lets, nil, []loop.Alloc{{Buffer: marks, Len: sizeOp(loop.Add, warps, loop.SizeConst(1))}})
	m.markRows(s, t, marks)
	for _, apart := range stages {
		m.add(apart)
	}
	m.rowsWithoutEntries(s, t)
	return true
}

// entriesByTeams is the stage in which teams take entries, with what they need, as for dots.
func (m *mapper) entriesByTeams(s *loop.Stage, t *entryLoop, marks loop.BufferID, blocks loop.SizeExpr) ([]loop.Stage, []loop.ScalarLet, bool) {
	doublings := m.scalar(s.Name + "_lanes_log2")
	var length loop.SizeExpr = loop.SizeConst(0)
	if t.fold != nil {
		length = loop.SizeConst(16 * unroll)
		if hi, is := t.fold.Hi.(*loop.Ref); is && slices.Contains(s.Func.Args, hi.Var) {
			length = loop.SizeScalar(argOf(s, hi.Var))
		}
	}
	apart := m.entriesApart(s, t, doublings, marks)
	apart.Blocks = blocks
	return []loop.Stage{apart}, []loop.ScalarLet{{Scalar: doublings, Value: doublingsForFolds(length)}}, verified(apart)
}

// doublingsForFolds is the binary logarithm of the size of a team for loops of a
// length: so many lanes that each has unroll iterations or up to twice as many.
func doublingsForFolds(length loop.SizeExpr) loop.SizeExpr {
	return emit.Doublings(length, 2*unroll, maxDoublings)
}

// entriesApart is the stage that does what is done for entries.
func (m *mapper) entriesApart(s *loop.Stage, t *entryLoop, doublings loop.ScalarID, marks loop.BufferID) loop.Stage {
	g, in := m.begin(s, "")
	g.Builder.Resident(fewResident)
	b := g.Builder
	teams := g.rowTeams(g.scalar(doublings))
	team := &lanes{g: g, width: teams.width, own: teams.rank}
	g.entryTiles(s, t, &in, marks, nil, func(tile entryTile) {
		b.For("turn", loop.Int(0), teams.width, func(turn loop.Expr) {
			e := b.Let("e", b.Add(b.Mul(turn, teams.count), teams.member))
			row := b.Shuffle("row", loop.ShuffleIndex, tile.row, e, warp)
			p := b.Let("p", b.Min(b.Add(tile.base, e), b.Sub(tile.end, loop.Int(1))))
			in.Guard = b.Let("stores", b.And(b.Lt(b.Add(tile.base, e), tile.end), b.Eq(teams.rank, loop.Int(0))))
			in.Chunk, in.Lo, in.Hi = row, row, row
			in.Loop = func(f *loop.For, inliner *loop.Inliner) bool {
				if t.takes(g, f, inliner, row, p) {
					return true
				}
				folds, ok := foldsOf(s.Func, f)
				if ok {
					g.shareLoop(f, inliner, folds, team)
				}
				return ok
			}
			b.Inline(s.Func, in)
		})
	})
	return g.stage(s, "entries")
}

// takes emits the loops over rows and entries for one entry p of a row.
func (t *entryLoop) takes(g *gridFunc, f *loop.For, n *loop.Inliner, row, p loop.Expr) bool {
	b := g.Builder
	switch f {
	case t.row:
		n.Bind(f.Var, row)
		n.Block(f.Body[:t.start+1])
	case t.entries:
		count := n.Value(t.counter)
		n.Bind(t.counter, b.Let("n", b.Add(count, b.Sub(p, n.Expr(f.Lo)))))
		n.Bind(f.Var, p)
		n.Block(f.Body[:len(f.Body)-1])
		n.Bind(t.counter, count)
	default:
		return false
	}
	return true
}

// entryTile is what a warp takes at a time: the entries from base on.
type entryTile struct {
	base, end loop.Expr // end is that of all entries
	own, row  loop.Expr // the lane's entry, the last one beyond the end, and its row
}

// entryTiles emits something for each tile of entries, in turns by warps. What fetch emits,
// if it is not nil, needs no more than to know the lane's entry, and need not wait for the row.
func (g *gridFunc) entryTiles(
	s *loop.Stage, t *entryLoop, in *loop.Inlining, marks loop.BufferID, fetch func(own loop.Expr), do func(tile entryTile),
) {
	b := g.Builder
	n := g.scalar(g.m.cuts[s.Partition].n)
	pos, mark := in.Bufs[t.pos], g.buffer(marks, loop.ReadOnly)
	begin, end := b.Let("begin", b.LoadIndex(pos, loop.Int(0))), b.Let("end", b.LoadIndex(pos, n))
	warps := loop.Int(int64(g.m.opts.Threads / warp))
	first := b.Add(begin, b.Mul(b.Add(b.Mul(g.block(), warps), g.Warp()), loop.Int(entriesTogether)))
	step := b.Let("all", b.Mul(b.Mul(g.blocks(), warps), loop.Int(entriesTogether)))
	g.inTurns(b.Let("first", first), end, step, func(base loop.Expr) {
		own := b.Let("own", b.Min(b.Add(base, g.Lane()), b.Sub(end, loop.Int(1))))
		if fetch != nil {
			fetch(own)
		}
		k := b.Let("mark", coop.Shr(b.Sub(base, begin), loop.Int(logTogether)))
		lo, hi := b.Let("lo", b.Load(mark, k)), b.Var("hi", n)
		b.If(b.Lt(b.Add(base, loop.Int(entriesTogether)), end), func() {
			b.Assign(hi, b.Add(b.Load(mark, b.Add(k, loop.Int(1))), loop.Int(1)))
		}, nil)
		do(entryTile{base, end, own, rowOf(b, pos, lo, hi, own)})
	})
}

// markRows adds the stage that notes the row of every 32nd entry.
func (m *mapper) markRows(s *loop.Stage, t *entryLoop, marks loop.BufferID) {
	c := m.cuts[s.Partition]
	g := m.newFunc(s.Func.Name + "_marks")
	b := g.Builder
	pos, out := g.buffer(s.Bufs[t.pos], loop.ReadOnly), g.buffer(marks, loop.ReadWrite)
	begin := b.Let("begin", b.LoadIndex(pos, loop.Int(0)))
	g.strided(g.scalar(c.n), func(i loop.Expr) {
		lo := b.Let("lo", b.Sub(b.LoadIndex(pos, i), begin))
		hi := b.Let("hi", b.Sub(b.LoadIndex(pos, b.Add(i, loop.Int(1))), begin))
		up := func(x loop.Expr) loop.Expr {
			return coop.Shr(b.Add(x, loop.Int(entriesTogether-1)), loop.Int(logTogether))
		}
		b.For("mark", up(lo), up(hi), func(k loop.Expr) { b.Store(out, k, i) })
	})
	m.add(loop.Stage{
		Name: s.Name + "_marks", Partition: -1, Func: loop.RemoveDead(b.Func()), Bufs: g.bufs, Args: g.args,
		Blocks: m.blocksFor(loop.SizeScalar(c.n)),
	})
}

// rowOf is the last of the rows from first to last-1 that begins at or before an entry,
// by bisection.
func rowOf(b *loop.Builder, pos loop.BufID, first, last, entry loop.Expr) loop.Expr {
	lo, hi := b.Var("lo", first), b.Var("hi", last)
	b.While(b.Lt(b.Add(lo, loop.Int(1)), hi), func() {
		mid := b.Let("mid", coop.Shr(b.Add(lo, hi), loop.Int(1)))
		b.If(b.Le(b.LoadIndex(pos, mid), entry), func() { b.Assign(lo, mid) }, func() { b.Assign(hi, mid) })
	})
	return b.Let("found", lo)
}

// rowsWithoutEntries adds the stage that does for rows what is not done for entries.
func (m *mapper) rowsWithoutEntries(s *loop.Stage, t *entryLoop) {
	if !has(t.others(), isStore) {
		return
	}
	c := m.cuts[s.Partition]
	g, in := m.begin(s, "")
	b := g.Builder
	in.Loop = instead(t.entries, func(n *loop.Inliner) {
		count := n.Value(t.counter).(*loop.Ref)
		b.Assign(count, b.Add(count, b.Max(b.Sub(n.Expr(t.entries.Hi), n.Expr(t.entries.Lo)), loop.Int(0))))
	})
	g.strided(g.scalar(c.n), func(i loop.Expr) { g.element(s, in, i) })
	m.launch(s, "elements", g, m.blocksFor(loop.SizeScalar(c.n)))
}
