package lower

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// merge emits a loop over the union and intersection of several operands'
// entries, in the order of their coordinates. The set says when to go on (an
// intersection stops with its first exhausted operand) and which coordinates
// to visit; the code grows linearly with the number of operands.
func (w *walk) merge(set ir.SetExpr) {
	b := w.B
	plain := w.plainUnion(set)
	if len(plain) == 2 {
		w.mergeTwo(plain[0], plain[1])
		return
	}
	if w.counting {
		w.startCount(w.gapFirst())
	}
	for _, it := range w.iters {
		it.at = b.Var("p_"+it.access.Tensor.Name, it.begin)
	}
	required := w.required(set)
	w.findLong(slices.Concat(w.coiterated, w.located), required, func(it *iterator) loop.Expr { return it.begin }, func(it *iterator) loop.Expr { return it.end })
	for _, it := range w.coiterated {
		w.settle(it)
	}
	w.alike(plain)
	alive := func(a ir.Atom) loop.Expr {
		if it := w.atoms[a].iter; it != nil {
			return b.Lt(it.at, it.end)
		}
		return w.atoms[a].flag
	}
	b.While(w.holds(set, alive), func() {
		w.mergeStep(set)
		w.catchUp(required)
	})
	w.finishMerge()
}

func (w *walk) finishMerge() {
	if w.count != nil {
		w.visited = w.count
	} else {
		w.visited = loop.Int(0)
	}
}

// mergeStep visits the smallest coordinate that some co-iterated operand is at.
func (w *walk) mergeStep(set ir.SetExpr) {
	b := w.B
	here := make([]loop.Expr, len(w.coiterated))
	var i loop.Expr
	for k, it := range w.coiterated {
		if set.Inside(ir.AtomOf(it.atom)) {
			here[k] = b.Let("i_"+it.access.Tensor.Name, it.index(b, it.at))
		} else {
			c := b.Var("i_"+it.access.Tensor.Name, loop.Int(math.MaxInt64))
			b.If(b.Lt(it.at, it.end), func() { b.Assign(c, it.index(b, it.at)) }, nil)
			here[k] = b.Let("i_"+it.access.Tensor.Name, c)
		}
		if i == nil {
			i = here[k]
		} else {
			i = b.Min(i, here[k])
		}
	}
	i = b.Let(w.f.Index.Name, i)
	present := map[ir.Atom]loop.Expr{}
	for k, it := range w.coiterated {
		present[it.atom] = b.Let("has_"+it.access.Tensor.Name, b.Eq(here[k], i))
	}
	in := func(a ir.Atom) loop.Expr {
		if p, ok := present[a]; ok {
			return p
		}
		return w.atoms[a].flag
	}
	visit := w.holds(set, in)
	if set.IsUnionOfAtoms() {
		visit = loop.Truth(true) // the smallest coordinate is some co-iterated operand's
	}
	b.If(visit, func() {
		var cursors []cursor
		for _, it := range w.coiterated {
			p := present[it.atom]
			if set.Inside(ir.AtomOf(it.atom)) {
				p = nil
			}
			cursors = append(cursors, w.arrive(it, i, p))
		}
		w.body(i, append(cursors, w.follow(i)...))
		w.moveOn(w.located)
	}, nil)
	for _, it := range w.coiterated {
		it.next = nil // segments were computed inside the If: find them again
		if it.unique {
			b.Assign(it.at, b.Add(it.at, b.Cast(loop.I64, present[it.atom])))
		} else {
			b.If(present[it.atom], func() { b.Assign(it.at, w.runEnd(it, it.at, i)) }, nil)
		}
		w.settle(it)
	}
}

// settle moves an operand with a stride on to an entry that has a loop index.
func (w *walk) settle(it *iterator) {
	if it.stride == 1 {
		return
	}
	b := w.B
	between := b.Var("between", b.Lt(it.at, it.end))
	b.While(between, func() {
		b.If(it.matches(b, it.at), func() { b.Assign(between, loop.Truth(false)) }, func() {
			b.Assign(it.at, b.Add(it.at, loop.Int(1)))
			b.Assign(between, b.Lt(it.at, it.end))
		})
	})
}

// plainUnion returns the iterators when the set is the union of several, each
// without repeated coordinates and strides, around an innermost body, and nil
// otherwise.
func (w *walk) plainUnion(set ir.SetExpr) []*iterator {
	if !set.IsUnion() || len(w.located) > 0 || w.counting {
		return nil
	}
	if _, leaf := w.f.Body.(*ir.Assign); !leaf {
		return nil
	}
	var its []*iterator
	for _, f := range set.Args() {
		a, ok := f.IsAtom()
		if !ok || w.atoms[a].iter == nil || !w.atoms[a].iter.unique || w.atoms[a].iter.stride > 1 {
			return nil
		}
		its = append(its, w.atoms[a].iter)
	}
	return its
}

// mergeTwo emits the union of two operands as loops one after another: what both
// begin with alike; while both have
// entries, neither needs a guard, and the choice between them costs no branch;
// then each one's rest, of which there is little as a rule: loops that LLVM does not
// vectorise, which would cost more than it saves.
func (w *walk) mergeTwo(x, y *iterator) {
	b := w.B
	for _, it := range []*iterator{x, y} {
		it.at = b.Var("p_"+it.access.Tensor.Name, it.begin)
	}
	w.alike([]*iterator{x, y})
	b.While(b.And(b.Lt(x.at, x.end), b.Lt(y.at, y.end)), func() {
		ix := b.Let("i_"+x.access.Tensor.Name, x.index(b, x.at))
		iy := b.Let("i_"+y.access.Tensor.Name, y.index(b, y.at))
		hasX := b.Let("has_"+x.access.Tensor.Name, b.Le(ix, iy))
		hasY := b.Let("has_"+y.access.Tensor.Name, b.Le(iy, ix))
		cx, cy := x.child(b.Let("p", x.at), nil, hasX), y.child(b.Let("p", y.at), nil, hasY)
		cx.exact, cy.exact = true, true
		w.emitter.either = []loop.Expr{hasX, hasY}
		w.body(b.Let(w.f.Index.Name, b.Min(ix, iy)), []cursor{cx, cy})
		w.emitter.either = nil
		b.Assign(x.at, b.Add(x.at, b.Cast(loop.I64, hasX)))
		b.Assign(y.at, b.Add(y.at, b.Cast(loop.I64, hasY)))
	})
	rest := func(it, gone *iterator) {
		b.While(b.Lt(it.at, it.end), func() {
			p := b.Let("p", it.at)
			absent := gone.child(loop.Int(0), nil, loop.Truth(false))
			w.body(b.Let(w.f.Index.Name, it.index(b, p)), []cursor{it.child(p, nil, nil), absent})
			b.Assign(it.at, b.Add(it.at, loop.Int(1)))
		})
	}
	rest(x, y)
	rest(y, x)
	w.finishMerge()
}

// alike emits, before a merge, a loop over the coordinates that the operands begin with
// alike, up to the first that one of them lacks. Matrices of one mesh have the same
// pattern: then this is all there is to do, and as fast as memory, since a processor
// foresees its branches, where a merge has it wait for coordinates to know what comes
// next. To operands that differ it costs a comparison for each row. Lanes of a grid
// have no such foresight.
func (w *walk) alike(its []*iterator) {
	if len(its) < 2 || w.opts.Grids {
		return
	}
	b := w.B
	all := func(its []*iterator, holds func(*iterator) loop.Expr) loop.Expr {
		cond := holds(its[0])
		for _, it := range its[1:] {
			cond = b.And(cond, holds(it))
		}
		return cond
	}
	alive := func(it *iterator) loop.Expr { return b.Lt(it.at, it.end) }
	equal := func(it *iterator) loop.Expr { return b.Eq(it.index(b, it.at), its[0].index(b, its[0].at)) }
	step := func() {
		i := b.Let(w.f.Index.Name, its[0].index(b, its[0].at))
		var cursors []cursor
		for _, it := range its {
			cursors = append(cursors, it.child(b.Let("p", it.at), nil, nil))
		}
		w.body(i, cursors)
		for _, it := range its {
			b.Assign(it.at, b.Add(it.at, loop.Int(1)))
		}
	}
	b.If(all(its, alive), func() {
		// The first two tell most operands that differ: others are not looked at then.
		b.If(equal(its[1]), func() {
			same := b.Var("same", loop.Truth(true))
			if len(its) > 2 {
				b.Assign(same, all(its[2:], equal))
			}
			b.While(same, func() {
				step()
				b.Assign(same, all(its, alive))
				b.If(same, func() { b.Assign(same, all(its[1:], equal)) }, nil)
			})
		}, nil)
	}, nil)
}
