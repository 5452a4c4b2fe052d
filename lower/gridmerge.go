package lower

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// On grids, two operands that are stored alike, in rows or as lists of coordinates, and a
// result like them are not merged row by row: a thread takes an entry, whatever its row.
// It finds the rank of the entry in the other operand, the number of entries there that
// come before it, by bisection, and whether that operand stores the coordinates as well. Running
// sums over the matches then tell the place of every entry in the result: of p entries
// of one operand and q of the other that come before, m of them in both,
//
//	p-m are in the first one only, q-m in the second one only, and m in both,
//
// and the result has all of a kind or none. So its rows need not be counted, and no
// thread has more to do than others where rows differ in length. (The merging of
// sorted lists by ranks: S. Odeh, O. Green, Z. Mwassi, O. Shmueli and Y. Birk, "Merge
// Path: Parallel Merging Made Simple", 2012, has the same places for lists without
// matches.)

// kinds tells something of the coordinates that only the first operand stores, only the
// second one, or both.
type kinds struct{ first, second, both bool }

// mergedRows is a sparse result whose entries are placed by ranks.
type mergedRows struct {
	*kernel
	outer    []*ir.Index // of the loops over rows
	inner    *ir.Index   // of the loop over a row
	leaf     *ir.Assign
	lists    bool            // not rows
	operands [2][]*ir.Access // the accesses that read each operand
	others   []*ir.Access    // dense
	stored   kinds           // which coordinates the result stores
	byRow    bool            // what is computed depends on coordinates of rows

	rows, matches loop.ScalarID
	count, words  [2]loop.ScalarID // of an operand's entries, and of words of 32 that they fill
	// marks are, of rows, that of the first entry of each word, and of the last entry; of
	// lists, the rank of the first entry of each word in the other list, and its length.
	marks      [2]loop.BufferID
	ranks      loop.BufferID // of the first operand's entries in the second one
	bits, sums loop.BufferID // matches of each word, and how many there are before it
	totals     loop.BufferID // one element: all matches
}

// mergeWarps is the size of a block.
const mergeWarps = 8

// mergedRows finds out whether the nest merges two operands whose ranks tell all; nil if
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
	n := 0
	for _, a := range k.accessesIn(body) {
		if a.Tensor.Format.IsDense() {
			m.others = append(m.others, a)
			continue
		}
		at := 0
		for at < n && m.operands[at][0].Tensor != a.Tensor {
			at++
		}
		if at == len(m.operands) || a.Tensor.Work != nil || !a.Tensor.FillKnown || !fits(a, loops) {
			return nil
		}
		m.operands[at] = append(m.operands[at], a)
		n = max(n, at+1)
	}
	if n < len(m.operands) || !m.storedKinds() {
		return nil
	}
	m.byRow = m.readsRow()
	return m
}

// inRows reports whether the loops go through a tensor in the order of its levels, all of
// them dense but the last, which stores only some coordinates, each once.
func inRows(a *ir.Access, loops []*ir.Index) bool {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	if len(levels) != len(loops) {
		return false
	}
	for l, level := range levels {
		x := a.Indices[order[l]]
		if x.Plain() != loops[l] || x.Pad {
			return false
		}
		last := l == len(levels)-1
		if !last && level.Kind != tensor.DenseLevel || last && (level.Kind != tensor.CompressedLevel || !level.Ordered || !level.Unique) {
			return false
		}
	}
	return true
}

// inList reports whether a tensor is a sorted list of the coordinates that the loops go
// through, each once.
func inList(a *ir.Access, loops []*ir.Index) bool {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	if len(levels) != len(loops) || !levels[len(levels)-1].Unique {
		return false
	}
	for l, level := range levels {
		x, kind := a.Indices[order[l]], tensor.SingletonLevel
		if l == 0 {
			kind = tensor.CompressedLevel
		}
		if level.Kind != kind || !level.Ordered || x.Plain() != loops[l] || x.Pad {
			return false
		}
	}
	return true
}

// readsRow reports whether the leaf reads anything that depends on the row but entries.
func (m *mergedRows) readsRow() bool {
	for _, v := range m.outer {
		for _, a := range m.others {
			if dependsOn(a, v) {
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

// storedKinds finds out which coordinates the result stores. It is not ok if that depends
// on more than which operands store them. Afterwards coordinates that only one operand
// stores are of the first one, if only one kind of them is in the result.
func (m *mergedRows) storedKinds() bool {
	e := m.gridEmitter("probe", 1, 1).emitter
	e.quiet = true
	outside := e.start(m.others)
	for _, v := range m.outer {
		outside.index[v] = e.b.Var(v.Name, loop.Int(0)) // of which nothing is known
	}
	var its [2]*iterator
	l := leaves{e: e, st: outside, v: m.inner, iters: map[*ir.Access]*iterator{}}
	for i, list := range m.operands {
		c := cursor{access: list[0], level: len(m.outer), pos: loop.Int(0)}
		its[i] = &iterator{cursor: c, stride: 1, unique: true, atom: ir.Atom(len(e.atoms))}
		e.atoms = append(e.atoms, atom{name: list[0].Tensor.Name, iter: its[i]})
		for _, a := range list {
			c.access = a
			outside.cursors[a], l.iters[a] = c, its[i]
		}
	}
	e.advance(outside)
	set := e.need(m.leaf, l)
	if set.IsAll() || set.IsNone() || slices.ContainsFunc(set.Atoms(nil), func(a ir.Atom) bool { return e.atoms[a].iter == nil }) {
		return false
	}
	known := true
	holds := func(first, second bool) bool {
		is := []bool{first, second}
		st := outside.clone()
		st.index[m.inner] = e.b.Var(m.inner.Name, loop.Int(0))
		for i, list := range m.operands {
			m.bind(st, list, loop.Int(0), loop.Truth(is[i]))
		}
		e.advance(st)
		cond, ok := e.leafCondition(st, m.leaf).(*loop.Const)
		known = known && ok
		return ok && cond.Bits != 0 && set.Holds(func(a ir.Atom) bool { return is[a-its[0].atom] })
	}
	m.stored = kinds{first: holds(true, false), second: holds(false, true), both: holds(true, true)}
	if m.stored.second && !m.stored.first {
		m.operands[0], m.operands[1] = m.operands[1], m.operands[0]
		m.stored.first, m.stored.second = true, false
	}
	if !known || m.stored == (kinds{}) {
		return false
	}
	for _, v := range m.outer {
		m.notes = append(m.notes, v.Name+": ⊤, by whole dimension")
	}
	names := set.Format(func(a ir.Atom) string { return e.atoms[a].name })
	m.notes = append(m.notes, fmt.Sprintf("%s: %s, by ranks", m.inner.Name, names))
	return true
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
