package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// sharing lets a function in which threads work together emit parts of a nest its own
// way. Each part may be nil.
type sharing struct {
	// loop is asked to emit each loop; it says whether it did.
	loop func(w *walk, s steps) bool
	// workspace emits a workspace with its producers and its consumer.
	workspace func(st *state, s *ir.Workspace)
	// insert takes what a producer puts into a workspace; x is nil in a function that counts.
	insert func(w *gathering, key, x loop.Expr)
}

// steps is a loop that is about to be emitted.
type steps struct {
	begin, end loop.Expr
	// visit emits the body for position or index p of the loop.
	visit func(p loop.Expr)
	// plain says that the loop is no more than its body for each p from begin to end, so
	// that other threads may run other turns.
	plain bool
	// narrow gives the ends of the part of the loop with indices from lo to below hi.
	narrow func(lo, hi loop.Expr) (begin, end loop.Expr)
}

// sharedLoop offers a loop to those who share it.
func (w *walk) sharedLoop(s steps) bool {
	return w.shared != nil && w.shared.loop != nil && w.shared.loop(w, s)
}

// leads is cond where a thread runs the code alone; where several run it, it holds for the one of them that stores.
func (e *emitter) leads(cond loop.Expr) loop.Expr {
	if e.leader == nil {
		return cond
	}
	return e.B.And(e.leader, cond)
}

// steps are those of a loop over entries of an iterator, but for their body.
func (it *iterator) steps(e *emitter, begin, end loop.Expr) steps {
	return steps{begin: begin, end: end, narrow: func(from, to loop.Expr) (first, last loop.Expr) {
		first = level.LowerBound(e.B, it.crd, begin, end, e.B.Let("from", it.coordinate(e.B, from)))
		return first, level.LowerBound(e.B, it.crd, first, end, e.B.Let("to", it.coordinate(e.B, to)))
	}}
}
