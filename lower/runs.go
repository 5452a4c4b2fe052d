package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A row of a matrix stored as coordinates is a run of equal ones. A loop over the row
// needs no end found before it, by another loop over the same coordinates whose end
// processors have to predict as well: it goes on while the coordinate stays.
//
// Where nothing happens between rows, there need not even be two loops: entries are
// visited one after the other, whatever their rows.

// openRun is a run whose end is not known yet: it begins at an entry with its coordinate.
type openRun struct {
	crd          loop.BufID
	coord, limit loop.Expr // the run's coordinate; the end of the level
	next         *loop.Ref // its first position, and behind the loop its end
	// single: the entry alone is the run, since nobody asks where rows end.
	single bool
}

// walksRun reports whether the body of w is one loop over the run of it, an inner
// reduction or the store itself, and nothing else asks where the run ends.
func (w *walk) walksRun(it *iterator) bool {
	if w.emitter.counting() || w.counting || len(w.iters) != 1 || !w.step.Result.Format.IsDense() {
		return false
	}
	body := w.f.Body
	if where, ok := body.(*ir.Where); ok {
		if _, ok := where.Consumer.(*ir.Assign); !ok || accessesOf(where.Consumer)[it.access] {
			return false
		}
		body = where.Producer
	}
	inner, ok := body.(*ir.Forall)
	if !ok {
		return false
	}
	leaf, ok := inner.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil && (leaf.Temp.Reduce.In != nil || isArg(leaf.Temp.Reduce.Fold)) || leaf.Temp == nil && leaf.LHS.Tensor.Work != nil {
		return false
	}
	for a := range accessesOf(inner) {
		if a != it.access && !a.Tensor.Format.IsDense() {
			return false
		}
	}
	levels := it.access.Tensor.Format.Physical()
	if it.level+2 != len(levels) || levels[it.level+1].Kind != tensor.SingletonLevel || !levels[it.level+1].Unique {
		return false
	}
	x := it.access.Indices[it.access.Tensor.Format.Order()[it.level+1]]
	return x.Plain() == inner.Index
}

// closeRun finds the end of an iterator's run, where the loop is not one over the run
// alone.
func (e *emitter) closeRun(it *iterator) {
	r := it.run
	it.end = e.b.Let("end", e.segmentEnd(r.crd, it.begin, r.limit, r.coord))
	e.b.Assign(r.next, it.end)
	it.run = nil
}

// run emits the loop over the run of it.
func (w *walk) run(it *iterator, visit func(p loop.Expr)) {
	b, r := w.b, it.run
	if r.single {
		visit(b.Let("p_"+it.access.Tensor.Name, r.next))
		b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		return
	}
	more := b.Var("more", loop.Truth(true))
	sum := w.blockSum()
	if sum == nil {
		w.runUntil(it, r.limit, more, visit)
		return
	}
	acc := w.accs[leafOf(w.f.Body).Temp]
	length := func() loop.Expr { return b.Sub(r.next, it.begin) }
	w.counted(acc, length, func() {
		b.While(more, func() {
			end := b.Let("block", b.Min(r.limit, b.Add(r.next, loop.Int(orderedTerms))))
			w.runUntil(it, end, more, visit)
			b.If(b.Eq(r.next, end), func() {
				w.goOn(it, r.limit, more)
				b.If(more, func() { w.endBlock(acc) }, nil)
			}, nil)
		})
	})
}

// runUntil emits the loop over the run of it up to a position.
func (w *walk) runUntil(it *iterator, end loop.Expr, more *loop.Ref, visit func(p loop.Expr)) {
	b, r := w.b, it.run
	b.While(more, func() {
		visit(b.Let("p_"+it.access.Tensor.Name, r.next))
		b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		w.goOn(it, end, more)
	})
}

// goOn finds out whether the next entry is before a position and in the run of it.
func (w *walk) goOn(it *iterator, end loop.Expr, more *loop.Ref) {
	b, r := w.b, it.run
	b.Assign(more, b.Lt(r.next, end))
	b.If(more, func() { b.Assign(more, b.Eq(b.LoadIndex(r.crd, r.next), r.coord)) }, nil)
}

// storesDirectly reports whether the body of f is a loop that writes the result itself.
func storesDirectly(f *ir.Forall) bool {
	inner, ok := f.Body.(*ir.Forall)
	return ok && leafOf(inner).Temp == nil
}

// flat emits the loops of f and the one inside it as a single loop over all entries of
// a matrix stored by rows, if f runs through the rows of it and nothing else depends on
// the row. It reports whether it did.
func (e *emitter) flat(st *state, f *ir.Forall) bool {
	inner, ok := f.Body.(*ir.Forall)
	if !ok || e.depth > 0 || !e.step.Scatter || !e.step.Result.Format.IsDense() {
		return false
	}
	leaf, ok := inner.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil || leaf.LHS.Tensor.Work != nil || dependsOn(leaf.LHS, f.Index) {
		return false
	}
	var rows *ir.Access
	only := true
	ir.Walk(leaf.Value, func(x ir.Expr) {
		switch x := x.(type) {
		case *ir.Access:
			switch {
			case rowsAlong(x, f.Index, inner.Index) && (rows == nil || rows == x):
				rows = x
			case !x.Tensor.Format.IsDense() || dependsOn(x, f.Index):
				only = false
			}
		case *ir.IndexValue:
			only = only && x.Var != f.Index
		case *ir.TempRef:
			only = false
		}
	})
	if rows == nil || !only {
		return false
	}
	pos := e.read(e.input(rows.Tensor, 1, Positions))
	st = st.clone()
	st.cursors[rows] = cursor{access: rows, level: 1, pos: loop.Int(0), all: &[2]loop.Expr{
		e.b.LoadIndex(pos, loop.Int(0)), e.b.LoadIndex(pos, e.scalar(e.extent(f.Index)))}}
	its := e.iterators(st, inner.Index, inner.Body)
	if len(its) != 1 || !sameAtom(e.need(inner.Body, leaves{e: e, st: st, v: inner.Index, iters: map[*ir.Access]*iterator{rows: its[0]}}), its[0].atom) {
		return false
	}
	e.forall(st, inner)
	return true
}

// rowsAlong reports whether a is an element of a matrix stored by rows like CSR, with
// row i and column j.
func rowsAlong(a *ir.Access, i, j *ir.Index) bool {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	return a.Tensor.Work == nil && len(levels) == 2 && levels[0].Kind == tensor.DenseLevel &&
		levels[1].Kind == tensor.CompressedLevel && levels[1].Ordered && levels[1].Unique &&
		a.Indices[order[0]].Plain() == i && a.Indices[order[1]].Plain() == j
}
