package lower

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/ranks"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// On grids, operands that are stored alike, in rows or as lists of coordinates, and a
// result like them are not merged row by row but by ranks (package ranks).

// mergedRows is a sparse result whose entries are placed by ranks.
type mergedRows struct {
	*kernel
	outer    []*ir.Index // of the loops over rows
	inner    *ir.Index   // of the loop over a row
	leaf     *ir.Assign
	lists    bool           // not rows
	operands [][]*ir.Access // the accesses that read each operand
	others   []*ir.Access   // dense
	set      ir.SetExpr     // what the innermost loop visits; the atoms number the operands
}

// mostMerged bounds the operands: each searches all others.
const mostMerged = 4

// merged emits the stages of a result whose last level is seg by ranks, and reports
// whether it did.
func (k *kernel) merged(body ir.Stmt, seg segment) bool {
	m := k.mergedRows(body)
	if m == nil {
		return false
	}
	stored, static := m.storedKinds()
	gathers := slices.ContainsFunc(m.others, func(a *ir.Access) bool {
		return slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { return x.Gather != nil })
	})
	switch {
	case !static && gathers:
		return false // coordinates are checked, where lanes have to stay together
	case len(m.operands) == 2 && stored != ranks.Kinds{}:
		m.note()
		if stored.Second && !stored.First {
			m.operands[0], m.operands[1] = m.operands[1], m.operands[0]
			stored.First, stored.Second = true, false
		}
		m.ranked(seg).Pair(stored)
	case len(m.operands) > 2 && !gathers, !static, m.lists && !gathers:
		m.note()
		m.ranked(seg).Many()
	default:
		return false
	}
	return true
}

// ranked is the merge of m, of which package ranks emits the stages.
func (m *mergedRows) ranked(seg segment) *ranks.Merge {
	var operands []*ir.Tensor
	for _, list := range m.operands {
		operands = append(operands, list[0].Tensor)
	}
	return &ranks.Merge{
		Builder: m.Builder, Outer: m.outer, Extent: m.extent, Lists: m.lists, Operands: operands, ByRow: m.readsRow(),
		Positions: m.opts.positions(), Pos: seg.pos, Crd: seg.crd, Total: seg.total,
		Stored: func(f *emit.Func, cond loop.Expr, x ranks.Entry) loop.Expr {
			e := m.emitterOf(f)
			e.quiet, e.symbolic = true, true
			st := e.start(m.others)
			m.place(e, st, x)
			cond = e.B.And(cond, e.holds(m.set, func(a ir.Atom) loop.Expr { return x.Present[a] }))
			return e.B.And(cond, e.leafCondition(st, m.leaf))
		},
		Leaf: func(f *emit.Func) ranks.Leaf {
			e := m.emitterOf(f)
			e.quiet = true
			outside := e.start(m.others)
			var st *state
			return ranks.Leaf{
				Bind: func(x ranks.Entry) {
					st = outside.clone()
					m.place(e, st, x)
					e.advance(st)
				},
				Value: func() loop.Expr { return e.expr(st, m.leaf.Value) },
			}
		},
	}
}

// mergedRows finds out whether the nest makes one of operands that are stored alike; nil if
// not.
func (k *kernel) mergedRows(body ir.Stmt) *mergedRows {
	t := k.step.Result
	if !k.opts.Grids || k.step.Scatter || k.step.Base != nil {
		return nil
	}
	m := &mergedRows{kernel: k}
	var loops []*ir.Index
	for f, ok := body.(*ir.Forall); ok; f, ok = body.(*ir.Forall) {
		loops, body = append(loops, f.Index), f.Body
	}
	leaf, ok := body.(*ir.Assign)
	if !ok || len(loops) == 0 || leaf.Temp != nil || leaf.LHS.Tensor != t {
		return nil
	}
	fits := inRows
	if m.lists = inList(leaf.LHS, loops); m.lists {
		fits = inList
	}
	if !fits(leaf.LHS, loops) {
		return nil
	}
	m.leaf, m.outer, m.inner = leaf, loops[:len(loops)-1], loops[len(loops)-1]
	for _, a := range k.accessesIn(body) {
		if a.Tensor.Format.IsDense() {
			if slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { return x.Padded() }) {
				return nil
			}
			m.others = append(m.others, a)
			continue
		}
		if a.Tensor.Work != nil || !a.Tensor.FillKnown || !fits(a, loops) {
			return nil
		}
		at := slices.IndexFunc(m.operands, func(list []*ir.Access) bool { return list[0].Tensor == a.Tensor })
		if at < 0 {
			at, m.operands = len(m.operands), append(m.operands, nil)
		}
		m.operands[at] = append(m.operands[at], a)
	}
	if len(m.operands) == 0 || len(m.operands) > mostMerged || !m.visits() {
		return nil
	}
	return m
}

// inRows reports whether the loops go through a tensor in the order of its levels, all of
// them dense but the last, which stores only some coordinates, each once.
func inRows(a *ir.Access, loops []*ir.Index) bool {
	return inLevels(a, loops, func(l int, level tensor.LevelType) bool {
		if l < len(loops)-1 {
			return level.Full()
		}
		return level.Ranges() && level.Ordered && level.Unique
	})
}

// inList reports whether a tensor is a sorted list of the coordinates that the loops go
// through, each once.
func inList(a *ir.Access, loops []*ir.Index) bool {
	return inLevels(a, loops, func(l int, level tensor.LevelType) bool {
		return (l > 0 || level.Ranges()) && (l == 0 || level.Branchless()) && level.Ordered && (level.Unique || l < len(loops)-1)
	})
}

// inLevels reports whether the loops go through a tensor in the order of its levels, which are of some kinds.
func inLevels(a *ir.Access, loops []*ir.Index, is func(l int, level tensor.LevelType) bool) bool {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	if len(levels) != len(loops) {
		return false
	}
	for l, level := range levels {
		if x := a.Indices[order[l]]; x.Plain() != loops[l] || x.Padded() || !is(l, level) {
			return false
		}
	}
	return true
}

// readsRow reports whether the leaf reads anything that depends on the row but entries.
func (m *mergedRows) readsRow() bool {
	for _, v := range m.outer {
		for _, a := range m.others {
			if ir.DependsOn(a, v) {
				return true
			}
		}
	}
	found := false
	ir.Walk(m.leaf.Value, func(x ir.Expr) {
		if v, ok := x.(*ir.IndexValue); ok && v.Var != m.inner {
			found = true
		}
	})
	return found
}

// probe is a function that is never run, the state outside the innermost loop, about
// whose indices nothing is known, and the leaves along that loop.
func (m *mergedRows) probe() (*emitter, *state, leaves) {
	e := m.emitterOf(m.NewGridFunc("probe", loop.WarpSize))
	e.quiet = true
	outside := e.start(m.others)
	for _, v := range m.outer {
		outside.index[v] = e.B.Var(v.Name, loop.Int(0))
	}
	l := leaves{e: e, st: outside, v: m.inner, iters: map[*ir.Access]*iterator{}}
	for i, list := range m.operands {
		it := &iterator{stride: 1, unique: true, atom: ir.Atom(i)}
		e.atoms = append(e.atoms, atom{name: list[0].Tensor.Name, iter: it})
		for _, a := range list {
			c := cursor{access: a, level: len(m.outer), pos: loop.Int(0)}
			it.cursor = c
			outside.cursors[a], l.iters[a] = c, it
		}
	}
	e.advance(outside)
	return e, outside, l
}

// visits finds the set of coordinates that the innermost loop visits, and reports
// whether entries of the operands cover it.
func (m *mergedRows) visits() bool {
	e, _, l := m.probe()
	m.set = e.need(m.leaf, l)
	return !m.set.IsAll() && !m.set.IsNone() &&
		!slices.ContainsFunc(m.set.Atoms(nil), func(a ir.Atom) bool { return int(a) >= len(m.operands) })
}

// storedKinds finds out which coordinates of two operands the result stores. It is static if that
// depends on nothing but which of all operands store them.
func (m *mergedRows) storedKinds() (stored ranks.Kinds, static bool) {
	e, outside, _ := m.probe()
	var cases []bool
	for bits := range 1 << len(m.operands) {
		holds := func(operand int) bool { return bits>>operand&1 != 0 }
		st := outside.clone()
		st.index[m.inner] = e.B.Var(m.inner.Name, loop.Int(0))
		for i, list := range m.operands {
			m.bind(st, list, loop.Int(0), loop.Truth(holds(i)))
		}
		e.advance(st)
		cond, ok := e.leafCondition(st, m.leaf).(*loop.Const)
		if !ok && bits > 0 {
			return ranks.Kinds{}, false
		}
		cases = append(cases, ok && cond.Bits != 0 && m.set.Holds(func(a ir.Atom) bool { return holds(int(a)) }))
	}
	if len(m.operands) == 2 {
		stored = ranks.Kinds{First: cases[1], Second: cases[2], Both: cases[3]}
	}
	return stored, true
}

// note tells how the loops run.
func (m *mergedRows) note() {
	names := m.set.Format(func(a ir.Atom) string { return m.operands[a][0].Tensor.Name })
	for _, v := range m.outer {
		note := v.Name + ": ⊤, by whole dimension"
		if m.lists {
			note = fmt.Sprintf("%s: %s, by ranks", v.Name, names)
		}
		m.Notes = append(m.Notes, note)
	}
	m.Notes = append(m.Notes, fmt.Sprintf("%s: %s, by ranks", m.inner.Name, names))
}

// bind places the accesses of an operand at an entry, which may be absent.
func (m *mergedRows) bind(st *state, list []*ir.Access, p, present loop.Expr) {
	if c, ok := present.(*loop.Const); ok && c.Bits != 0 {
		present = nil
	}
	for _, a := range list {
		st.cursors[a] = cursor{access: a, level: len(m.outer) + 1, pos: p, present: present}
	}
}

// place binds the indices and the accesses of operands at an entry.
func (m *mergedRows) place(e *emitter, st *state, x ranks.Entry) {
	m.indices(e, st, x.Coords, x.Row)
	for i, list := range m.operands {
		m.bind(st, list, x.Places[i], x.Present[i])
	}
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
