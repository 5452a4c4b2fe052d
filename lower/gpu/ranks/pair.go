package ranks

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Kinds tells something of the coordinates that only the first operand stores, only the
// second one, or both.
type Kinds struct{ First, Second, Both bool }

// Pair emits the stages of a result of two operands that stores such kinds of coordinates: those of the first if it does
// those of the second.
func (m *Merge) Pair(stored Kinds) { (&pair{Merge: m, stored: stored}).stages() }

// pair is a result of two operands whose patterns alone say what it stores. Of p
// entries of the first one and q of the second that come before a coordinate, m of them in
// both, p-m are in the first one only, q-m in the second one only, and m in both; the result
// has all of a kind or none. So the matches are all that has to be counted.
type pair struct {
	*Merge
	stored  Kinds         // which coordinates the result stores; first if second
	ranks   loop.BufferID // of the first operand's entries in the second one
	matches wordBits      // entries of the first operand that the second one has too
}

// stages emits the stages of the result.
func (m *pair) stages() {
	m.sizes()
	m.marksStage(0, 1)
	m.ranks = m.Buffer(m.name()+"_ranks", m.Program.Buffers[m.pos(1)].Elem, loop.Temp)
	m.matches = m.newWordBits("matches")
	m.bitsStage("ranks", 0, m.matches, []loop.Alloc{{Buffer: m.ranks, Len: m.entries(0)}}, func(t *team, word, p loop.Expr) loop.Expr {
		ranks := t.Write(m.ranks)
		coords := m.coordinates(t, 0, p)
		rank, is := m.search(t, 0, 1, word, m.row(t, 0, word, p), p, coords)
		t.B.Store(ranks, p, t.B.Cast(t.B.Elem(ranks), rank))
		return is
	})
	m.allocate([]loop.ScalarLet{m.matches.let()}, m.total())
	m.positionsStage(func(t *team, begins []loop.Expr) loop.Expr {
		matches, _ := m.matches.before(t, begins[0])
		return m.place(t.B, begins[0], begins[1], matches)
	})
	m.fillFirst()
	if m.stored.Second {
		m.marksStage(1, 0)
		m.fillSecond()
	}
}

// factors are how often the entries of the first operand, those of the second one and
// the matches count towards those of the result.
func (m *pair) factors() (first, second, both int64) {
	number := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	first, second = number(m.stored.First), number(m.stored.Second)
	return first, second, number(m.stored.Both) - first - second
}

// total is the number of entries of the result.
func (m *pair) total() loop.SizeExpr {
	first, second, both := m.factors()
	times := func(n loop.SizeExpr, factor int64) loop.SizeExpr {
		return &loop.SizeOp{Op: loop.Mul, X: n, Y: loop.SizeConst(factor)}
	}
	plus := func(x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Add, X: x, Y: y} }
	return plus(plus(times(loop.SizeScalar(m.count[0]), first), times(loop.SizeScalar(m.count[1]), second)),
		times(loop.SizeScalar(m.matches.total), both))
}

// place is where the result has what comes after p entries of the first operand, q of
// the second one, and so many matches.
func (m *pair) place(b *loop.Builder, p, q, matches loop.Expr) loop.Expr {
	first, second, both := m.factors()
	times := func(x loop.Expr, factor int64) loop.Expr { return b.Mul(x, loop.Int(factor)) }
	return b.Let("at", b.Add(b.Add(times(p, first), times(q, second)), times(matches, both)))
}

// fillFirst emits the stage that writes what comes of the first operand's entries.
func (m *pair) fillFirst() {
	m.fillStage(0, loop.SizeConst(1), func(t *team, word, p loop.Expr, write func(Entry)) {
		b := t.B
		q := b.Let("q", b.LoadIndex(t.Read(m.ranks), p))
		matches, match := m.matches.before(t, p)
		keep := loop.Expr(loop.Truth(true))
		present := match
		switch {
		case !m.stored.First:
			keep, present = match, loop.Truth(true)
		case !m.stored.Both:
			keep, present = b.Not(match), loop.Truth(false)
		}
		b.If(keep, func() {
			x := Entry{Coords: m.coordinates(t, 0, p), Places: []loop.Expr{p, q}, Present: []loop.Expr{loop.Truth(true), present}}
			if m.ByRow {
				x.Row = m.row(t, 0, word, p)
			}
			x.at = m.place(b, p, q, matches)
			write(x)
		}, nil)
	})
}

// fillSecond emits the stage that writes what comes of the entries of the second operand
// that the first one does not have.
func (m *pair) fillSecond() {
	left := &loop.SizeOp{Op: loop.Sub, X: loop.SizeScalar(m.count[1]), Y: loop.SizeScalar(m.matches.total)}
	m.fillStage(1, left, func(t *team, word, q loop.Expr, write func(Entry)) {
		b := t.B
		x := Entry{Coords: m.coordinates(t, 1, q), Places: []loop.Expr{loop.Int(0), q}, Present: []loop.Expr{loop.Truth(false), loop.Truth(true)}}
		row := m.row(t, 1, word, q)
		p, match := m.search(t, 1, 0, word, row, q, x.Coords)
		b.If(b.Not(match), func() {
			matches, _ := m.matches.before(t, p)
			x.at = m.place(b, p, q, matches)
			if m.ByRow {
				x.Row = row
			}
			write(x)
		}, nil)
	})
}
