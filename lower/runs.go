package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A row of a matrix stored as coordinates is a run of equal ones. A loop over the row
// needs no end found before it, by another loop over the same coordinates whose end
// processors have to predict as well: it goes on while the coordinate stays.

// openRun is a run whose end is not known yet: it begins at an entry with its coordinate.
type openRun struct {
	crd          loop.BufID
	coord, limit loop.Expr // the run's coordinate; the end of the level
	next         *loop.Ref // its first position, and behind the loop its end
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
	more := b.Var("more", loop.Truth(true))
	b.While(more, func() {
		visit(b.Let("p_"+it.access.Tensor.Name, r.next))
		b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		b.Assign(more, b.Lt(r.next, r.limit))
		b.If(more, func() { b.Assign(more, b.Eq(b.LoadIndex(r.crd, r.next), r.coord)) }, nil)
	})
	w.visited = b.Sub(r.next, it.begin)
}
