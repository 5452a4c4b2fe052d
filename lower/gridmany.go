package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// mergedMany is a result of any operands, of which conditions on indices may decide what it
// stores. A coordinate belongs to the first operand that stores it. An operand keeps the
// entries that belong to it and that the result stores; what is before a coordinate in the
// result is what all operands keep of the entries before their ranks of it.
type mergedMany struct {
	*mergedRows
	kept []wordBits // by operand
	// ranks are those of the entries of an operand in another one, and has tells which
	// of them the other one has too, if it comes later.
	ranks map[[2]int]loop.BufferID
	has   map[[2]int]loop.BufferID
}

// stages emits the stages of the result, whose last level is seg.
func (m *mergedMany) stages(seg segment) {
	m.sizes()
	m.ranks, m.has = map[[2]int]loop.BufferID{}, map[[2]int]loop.BufferID{}
	var lets []loop.ScalarLet
	var total loop.SizeExpr
	for i := range m.operands {
		m.kept = append(m.kept, m.newWordBits(fmt.Sprintf("kept%d", i)))
		for j := range m.operands {
			if i != j || !m.lists {
				m.marksStage(i, j)
			}
		}
		m.keepStage(i)
		lets = append(lets, m.kept[i].let())
		if n := loop.SizeScalar(m.kept[i].total); total == nil {
			total = n
		} else {
			total = &loop.SizeOp{Op: loop.Add, X: total, Y: n}
		}
	}
	m.allocate(seg, lets, total)
	m.positionsStage(seg, m.place)
	for i := range m.operands {
		m.fillKept(seg, i)
	}
}

// place is where the result has what comes after so many entries of each operand.
func (m *mergedMany) place(t *gridTeam, entries []loop.Expr) loop.Expr {
	var at loop.Expr = loop.Int(0)
	for i, p := range entries {
		n, _ := m.kept[i].before(t, p)
		at = t.B.Add(at, n)
	}
	return t.B.Let("at", at)
}

// keepStage emits the stage that searches the entries of an operand in all others and
// finds out which it keeps.
func (m *mergedMany) keepStage(operand int) {
	var allocs []loop.Alloc
	for j := range m.operands {
		if j == operand {
			continue
		}
		key, name := [2]int{operand, j}, fmt.Sprintf("%s_ranks%d%d", m.step.Result.Name, operand, j)
		m.ranks[key] = m.Buffer(name, m.Program.Buffers[m.pos(j)].Elem, loop.Temp)
		allocs = append(allocs, loop.Alloc{Buffer: m.ranks[key], Len: m.entries(operand)})
		if j > operand {
			m.has[key] = m.Buffer(name+"_has", loop.Bool, loop.Temp)
			allocs = append(allocs, loop.Alloc{Buffer: m.has[key], Len: m.entries(operand)})
		}
	}
	m.bitsStage("ranks", operand, m.kept[operand], allocs, func(t *gridTeam, word, p loop.Expr) loop.Expr {
		b := t.B
		coords, row := m.coordinates(t, operand, p), m.row(t, operand, word, p)
		keep := loop.Expr(loop.Truth(true))
		present := make([]loop.Expr, len(m.operands))
		for j := range m.operands {
			if j == operand {
				present[j] = loop.Truth(true)
				continue
			}
			key := [2]int{operand, j}
			rank, match := m.search(t, operand, j, word, row, p, coords)
			ranks := t.Write(m.ranks[key])
			b.Store(ranks, p, b.Cast(b.Elem(ranks), rank))
			if present[j] = match; j < operand {
				keep, present[j] = b.And(keep, b.Not(match)), loop.Truth(false)
			} else {
				b.Store(t.Write(m.has[key]), p, match)
			}
		}
		st := t.start(m.others)
		m.indices(t.emitter, st, coords, row)
		for j, list := range m.operands {
			m.bind(st, list, loop.Int(0), present[j])
		}
		keep = b.And(keep, t.holds(m.set, func(a ir.Atom) loop.Expr { return present[a] }))
		return b.And(keep, t.leafCondition(st, m.leaf))
	})
}

// fillKept emits the stage that writes what comes of the entries that an operand keeps.
func (m *mergedMany) fillKept(seg segment, operand int) {
	m.fillStage(seg, operand, loop.SizeScalar(m.kept[operand].total), func(t *gridTeam, word, p loop.Expr, write func(mergedEntry)) {
		b := t.B
		_, keep := m.kept[operand].before(t, p)
		b.If(keep, func() {
			x := mergedEntry{coords: m.coordinates(t, operand, p), others: make([]loop.Expr, len(m.operands)), present: make([]loop.Expr, len(m.operands))}
			for j := range m.operands {
				key := [2]int{operand, j}
				switch {
				case j == operand:
					x.others[j], x.present[j] = p, loop.Truth(true)
					continue
				case j < operand:
					x.present[j] = loop.Truth(false)
				default:
					x.present[j] = b.Let("has", b.Load(t.Read(m.has[key]), p))
				}
				x.others[j] = b.Let("q", b.LoadIndex(t.Read(m.ranks[key]), p))
			}
			if m.byRow {
				x.row = m.row(t, operand, word, p)
			}
			x.at = m.place(t, x.others)
			write(x)
		}, nil)
	})
}
