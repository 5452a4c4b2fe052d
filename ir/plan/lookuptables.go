package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
)

// This file puts tables into nests. An innermost loop over the common entries of
// two operands, of which one lies in the same place for many iterations of the loop
// around it, would go through that one again each time. Instead its entries are
// entered once into a table by coordinate; the loop then goes through the other
// operand alone and looks each of its entries up. That is the sparse accumulator
// of Gilbert, Moler and Schreiber ("Sparse matrices in MATLAB", SIMAX 1992) used to
// intersect, and how triangles are counted row by row. Terms arise in the order in
// which a merge would find them, so the bits of sums stay the same.

// tabulator rebuilds a nest with tables.
type tabulator struct {
	alg       ir.Algebra
	at        depths
	converted conversions
	// tables are all that were made.
	tables []*ir.Tabulate
}

// wanted is a table to be made around the loop at depth.
type wanted struct {
	access *ir.Access
	index  *ir.Index
	depth  int
}

// tabulate returns the nest with tables where they save going through an operand
// again, and those tables.
func (s *scheduler) tabulate(c *candidate, converted conversions) (ir.Stmt, []*ir.Tabulate) {
	t := &tabulator{alg: s.alg, at: c.at, converted: converted}
	body, _ := t.stmt(c.body, nil)
	return body, t.tables
}

// stmt rebuilds st, which stands inside loops over the indices of outer, and
// returns the tables that are to be made further outside.
func (t *tabulator) stmt(st ir.Stmt, outer []*ir.Index) (ir.Stmt, []wanted) {
	switch st := st.(type) {
	case *ir.Forall:
		var list []wanted
		var body ir.Stmt
		if leaf, ok := st.Body.(*ir.Assign); ok {
			body, list = leaf, t.leaf(st.Index, leaf, outer)
		} else {
			body, list = t.stmt(st.Body, append(outer[:len(outer):len(outer)], st.Index))
		}
		var here ir.Stmt = &ir.Forall{Index: st.Index, Body: body}
		var rest []wanted
		for _, w := range list {
			if w.depth < len(outer) {
				rest = append(rest, w)
				continue
			}
			table := &ir.Tabulate{Access: w.access, Index: w.index, Body: here}
			t.tables = append(t.tables, table)
			here = table
		}
		return here, rest
	case *ir.Where:
		producer, list := t.stmt(st.Producer, outer)
		consumer, more := t.stmt(st.Consumer, outer)
		return &ir.Where{Temp: st.Temp, Producer: producer, Consumer: consumer}, append(list, more...)
	case *ir.Workspace:
		w := &ir.Workspace{Tensor: st.Tensor, Mask: st.Mask}
		var list []wanted
		for _, p := range st.Producers {
			producer, more := t.stmt(p, outer)
			w.Producers, list = append(w.Producers, producer), append(list, more...)
		}
		consumer, more := t.stmt(st.Consumer, outer)
		w.Consumer = consumer
		return w, append(list, more...)
	}
	return st, nil
}

// leaf lists the tables for an innermost loop over v.
func (t *tabulator) leaf(v *ir.Index, leaf *ir.Assign, outer []*ir.Index) []wanted {
	if leaf.Temp != nil && leaf.Temp.Reduce.In != nil {
		return nil
	}
	leaves := &tableLeaves{alg: t.alg, tabulator: t, v: v}
	set := t.alg.Of(leaf.Value, leaves).Set
	if !set.IsIntersection() {
		return nil
	}
	var list []wanted
	innermost := -1 // depth at which the operand is bound that changes most often
	for _, part := range set.Args() {
		a, ok := part.IsAtom()
		if !ok {
			return nil
		}
		access := leaves.accesses[a]
		depth := t.boundAt(access, v, outer)
		innermost = max(innermost, depth)
		list = append(list, wanted{access, v, depth})
	}
	// A table at the depth of the loop itself would be used once.
	var kept []wanted
	for _, w := range list {
		if w.depth < innermost {
			kept = append(kept, w)
		}
	}
	return kept
}

// boundAt is the number of loops of outer after which everything but v that the
// access depends on is bound.
func (t *tabulator) boundAt(a *ir.Access, v *ir.Index, outer []*ir.Index) int {
	depth := 0
	for _, w := range a.Vars(nil) {
		for d, u := range outer {
			if u == w && w != v {
				depth = max(depth, d+1)
			}
		}
	}
	return depth
}

// tableLeaves describes leaves along an innermost loop, with an atom for each
// operand whose entries the loop may walk or look up.
type tableLeaves struct {
	*tabulator
	alg      ir.Algebra
	v        *ir.Index
	accesses []*ir.Access // by atom
}

// Access implements Leaves.
func (l *tableLeaves) Access(a *ir.Access) ir.Support {
	if !slices.Contains(a.Vars(nil), l.v) {
		return ir.Constant(a)
	}
	if !a.Tensor.FillKnown || a.Tensor.Work != nil {
		return ir.Everywhere()
	}
	format := l.converted.format(a)
	order, levels := format.Order(), format.Physical()
	last := len(levels) - 1
	for level, axis := range order {
		x := a.Indices[axis]
		if x.Gather != nil || level < last && slices.Contains(x.Vars(nil), l.v) {
			return ir.Everywhere()
		}
	}
	if kind := levels[last]; a.Indices[order[last]].Plain() != l.v || !kind.Ranges() || !kind.Unique || !kind.Ordered {
		return ir.Everywhere()
	}
	for i, b := range l.accesses {
		if a == b {
			return l.atom(i, a)
		}
	}
	l.accesses = append(l.accesses, a)
	return l.atom(len(l.accesses)-1, a)
}

func (l *tableLeaves) atom(i int, a *ir.Access) ir.Support {
	return ir.Support{Set: ir.AtomOf(ir.Atom(i)), Background: ir.GapOf(a.Tensor)}
}

// Index implements Leaves.
func (l *tableLeaves) Index(v *ir.Index) ir.Support {
	if v == l.v {
		return ir.Everywhere()
	}
	return ir.Constant(&ir.IndexValue{Var: v})
}

// Temp implements Leaves: a temporary is computed outside an innermost loop.
func (l *tableLeaves) Temp(t *ir.Temp) ir.Behaviour {
	return ir.Same(ir.Constant(&ir.TempRef{Temp: t}))
}
