package ranks

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Many emits the stages of a result of any operands.
func (m *Merge) Many() { (&many{Merge: m}).stages() }

// many is a result of any operands, of which conditions on indices may decide what it
// stores. A coordinate belongs to the first operand that stores it. An operand keeps the
// entries that belong to it and that the result stores; what is before a coordinate in the
// result is what all operands keep of the entries before their ranks of it.
type many struct {
	*Merge
	kept []wordBits // by operand
	// ranks are those of the entries of an operand in another one, and has tells which
	// of them the other one has too, if it comes later.
	ranks map[[2]int]loop.BufferID
	has   map[[2]int]loop.BufferID
}

// stages emits the stages of the result.
func (m *many) stages() {
	m.sizes()
	m.ranks, m.has = map[[2]int]loop.BufferID{}, map[[2]int]loop.BufferID{}
	var lets []loop.ScalarLet
	var total loop.SizeExpr
	for i := range m.Operands {
		m.kept = append(m.kept, m.newWordBits(fmt.Sprintf("kept%d", i)))
		for j := range m.Operands {
			if i != j || !m.Lists {
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
	m.allocate(lets, total)
	m.positionsStage(m.place)
	for i := range m.Operands {
		m.fillKept(i)
	}
}

// place is where the result has what comes after so many entries of each operand.
func (m *many) place(t *team, entries []loop.Expr) loop.Expr {
	var at loop.Expr = loop.Int(0)
	for i, p := range entries {
		n, _ := m.kept[i].before(t, p)
		at = t.B.Add(at, n)
	}
	return t.B.Let("at", at)
}

// keepStage emits the stage that searches the entries of an operand in all others and
// finds out which it keeps.
func (m *many) keepStage(operand int) {
	var allocs []loop.Alloc
	for j := range m.Operands {
		if j == operand {
			continue
		}
		key, name := [2]int{operand, j}, fmt.Sprintf("%s_ranks%d%d", m.name(), operand, j)
		m.ranks[key] = m.Buffer(name, m.Program.Buffers[m.pos(j)].Elem, loop.Temp)
		allocs = append(allocs, loop.Alloc{Buffer: m.ranks[key], Len: m.entries(operand)})
		if j > operand {
			m.has[key] = m.Buffer(name+"_has", loop.Bool, loop.Temp)
			allocs = append(allocs, loop.Alloc{Buffer: m.has[key], Len: m.entries(operand)})
		}
	}
	m.bitsStage("ranks", operand, m.kept[operand], allocs, func(t *team, word, p loop.Expr) loop.Expr {
		b := t.B
		coords, row := m.coordinates(t, operand, p), m.row(t, operand, word, p)
		keep := loop.Expr(loop.Truth(true))
		present := make([]loop.Expr, len(m.Operands))
		for j := range m.Operands {
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
		places := slices.Repeat([]loop.Expr{loop.Int(0)}, len(present))
		return m.Stored(t.Func, keep, Entry{Coords: coords, Row: row, Places: places, Present: present})
	})
}

// fillKept emits the stage that writes what comes of the entries that an operand keeps.
func (m *many) fillKept(operand int) {
	m.fillStage(operand, loop.SizeScalar(m.kept[operand].total), func(t *team, word, p loop.Expr, write func(Entry)) {
		b := t.B
		_, keep := m.kept[operand].before(t, p)
		b.If(keep, func() {
			x := Entry{Coords: m.coordinates(t, operand, p), Places: make([]loop.Expr, len(m.Operands)), Present: make([]loop.Expr, len(m.Operands))}
			for j := range m.Operands {
				key := [2]int{operand, j}
				switch {
				case j == operand:
					x.Places[j], x.Present[j] = p, loop.Truth(true)
					continue
				case j < operand:
					x.Present[j] = loop.Truth(false)
				default:
					x.Present[j] = b.Let("has", b.Load(t.Read(m.has[key]), p))
				}
				x.Places[j] = b.Let("q", b.LoadIndex(t.Read(m.ranks[key]), p))
			}
			if m.ByRow {
				x.Row = m.row(t, operand, word, p)
			}
			x.at = m.place(t, x.Places)
			write(x)
		}, nil)
	})
}
