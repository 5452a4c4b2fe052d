package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/product"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// sharing lets a function in which threads work together emit parts of a nest its own
// way. Each part may be nil.
type sharing struct {
	// loop is asked to emit each loop; it says whether it did.
	loop func(w *walk, l product.Loop) bool
	// workspace emits a workspace with its producers and its consumer.
	workspace func(st *state, s *ir.Workspace)
	// insert takes what a producer puts into a workspace; x is nil in a function that counts.
	insert func(w *gathering, key, x loop.Expr)
}

// sharedLoop offers a loop to those who share it.
func (w *walk) sharedLoop(l product.Loop) bool {
	if w.shared == nil || w.shared.loop == nil {
		return false
	}
	l.Root, l.Inner = w.depth == 1, inserts(w.f.Body)
	if f, ok := w.f.Body.(*ir.Forall); ok {
		l.Outer = inserts(f.Body)
	}
	l.Columns = l.Inner && w.f.Body.(*ir.Assign).LHS.Indices[0].Plain() == w.f.Index
	return w.shared.loop(w, l)
}

// leads is cond where a thread runs the code alone; where several run it, it holds for the one of them that stores.
func (e *emitter) leads(cond loop.Expr) loop.Expr {
	if e.leader == nil {
		return cond
	}
	return e.B.And(e.leader, cond)
}

// steps are those of a loop over entries of an iterator, but for their body.
func (it *iterator) steps(e *emitter, begin, end loop.Expr) product.Loop {
	return product.Loop{Begin: begin, End: end, Narrow: func(from, to loop.Expr) (first, last loop.Expr) {
		first = level.LowerBound(e.B, it.crd, begin, end, e.B.Let("from", it.coordinate(e.B, from)))
		return first, level.LowerBound(e.B, it.crd, first, end, e.B.Let("to", it.coordinate(e.B, to)))
	}}
}
