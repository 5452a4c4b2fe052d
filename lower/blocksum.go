package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Numbers that are added one after the other gather a rounding error with each step.
// A long sum is therefore cut into blocks. Inside a block terms are added in order or
// in lanes. The sums of the blocks are added exactly, but for the second order: what
// the addition rounds off is found and kept in a second number (Møller 1965; Knuth,
// The Art of Computer Programming 2, 4.2.2). The error is then that of one block, no
// matter how many there are: Blanchard, Higham and Mary, "A class of fast and accurate
// summation algorithms", SIAM J. Sci. Comput. 42 (2020). Pairwise sums of the blocks
// would need a stack, and are less accurate.
//
// Blocks are counted from the first term on, in the order of the loops: where they end
// follows from the data.

const (
	// orderedTerms is the number of terms in a block whose terms are added in order.
	orderedTerms = 512
	// laneTerms is the number of terms that each lane of a block in lanes gets.
	laneTerms = 512
)

// blockSum is what an accumulator keeps of its finished blocks. The open block is in
// the accumulator's own state.
type blockSum struct {
	total, low *loop.Ref // their sum, and what it rounds off
	closed     *loop.Ref // whether there are any
	// terms is the number of terms in the open block, as far as loops that go on for
	// long count them.
	terms *loop.Ref
	// each: every step counts its own term. used: blocks may be closed before the fold
	// is.
	each, used bool
}

// openBlocks declares the blocks of a fold, nil if it is no sum of numbers that round, or
// if threads of a grid share its loops.
func (e *emitter) openBlocks(r *ir.Reduce) *blockSum {
	t := emit.ComputeType(r.Typ)
	if r.Fold != ir.FoldSum || !t.IsFloat() && !t.IsComplex() || e.counting() || e.opts.Grids {
		return nil
	}
	b := e.B
	zero := emit.Constant(r.Fold.Identity(r.Typ))
	return &blockSum{total: b.Var("total", zero), low: b.Var("low", zero), closed: b.Var("closed", loop.Truth(false)), terms: b.Var("terms", loop.Int(0))}
}

// closeBlock adds the open block to the finished ones and opens another.
func (e *emitter) closeBlock(acc accumulator) {
	b, s := e.B, acc.blocks
	s.add(b, acc.Vars[0])
	b.Assign(acc.Vars[0], emit.Constant(acc.Reduce.Fold.Identity(acc.Reduce.Typ)))
}

// add adds x to total, and what that rounds off to low.
func (s *blockSum) add(b *loop.Builder, x loop.Expr) {
	x = b.Let("x", x)
	sum := b.Let("sum", b.Add(s.total, x))
	part := b.Let("part", b.Sub(sum, s.total))
	b.Assign(s.low, b.Add(s.low, b.Add(b.Sub(s.total, b.Sub(sum, part)), b.Sub(x, part))))
	b.Assign(s.total, sum)
}

// joinBlocks leaves the whole sum in the accumulator's state.
func (e *emitter) joinBlocks(acc accumulator) {
	acc.blocks.add(e.B, acc.Vars[0])
	e.total(acc)
}

// total leaves the sum of the finished blocks in the accumulator's state. Infinite sums
// round off NaN, which says nothing.
func (e *emitter) total(acc accumulator) {
	b, s := e.B, acc.blocks
	low := b.Let("low", s.low)
	finite := b.Eq(b.Sub(low, low), emit.Constant(acc.Reduce.Fold.Identity(acc.Reduce.Typ)))
	b.Assign(acc.Vars[0], b.Select(finite, b.Add(s.total, low), s.total))
}

// settle leaves the whole sum in the accumulator's state where loops may have closed
// blocks.
func (e *emitter) settle(acc accumulator) {
	if s := acc.blocks; s != nil && s.used {
		e.B.If(s.closed, func() { e.joinBlocks(acc) }, nil)
	}
}

// closeFull closes the open block if it has all its terms.
func (e *emitter) closeFull(acc accumulator) {
	b, s := e.B, acc.blocks
	s.used = true
	b.If(b.Ge(s.terms, loop.Int(orderedTerms)), func() {
		e.closeBlock(acc)
		b.Assign(s.terms, loop.Int(0))
		b.Assign(s.closed, loop.Truth(true))
	}, nil)
}

// counted emits the n terms that emit adds to the sum. If that has terms from other loops as well, these are added to each other
// first, so that the additions of one row do not wait for those of the row before; and a block may end before them.
func (e *emitter) counted(acc accumulator, n func() loop.Expr, emitTerms func(acc accumulator)) {
	s := acc.blocks
	if s == nil || len(acc.Reduce.Vars) < 2 {
		emitTerms(acc)
		return
	}
	e.closeFull(acc)
	inner := acc
	inner.Vars = []*loop.Ref{e.B.Var("inner", emit.Constant(acc.Reduce.Fold.Identity(acc.Reduce.Typ)))}
	e.accs[acc.Reduce.Temp] = inner
	emitTerms(inner)
	e.accs[acc.Reduce.Temp] = acc
	e.B.Assign(acc.Vars[0], e.B.Add(acc.Vars[0], inner.Vars[0]))
	e.B.Assign(s.terms, e.B.Add(s.terms, n()))
}

// eachCounted makes the steps that emit emits count their terms.
func (e *emitter) eachCounted(s *blockSum, emit func()) {
	if s == nil {
		emit()
		return
	}
	s.each = true
	emit()
	s.each = false
}

// countTerm counts a step of a fold, if its loop does not.
func (e *emitter) countTerm(acc accumulator) {
	if s := acc.blocks; s != nil && s.each {
		e.B.Assign(s.terms, e.B.Add(s.terms, loop.Int(1)))
		e.closeFull(acc)
	}
}

// blocks are those of the sum that the loop of w is the innermost loop of, nil if it
// is none.
func (w *walk) blockSum() *blockSum {
	leaf := leafOf(w.f.Body)
	if leaf.Temp == nil || !slices.Contains(leaf.Temp.Reduce.Vars, w.f.Index) || hasLoop(w.f.Body) {
		return nil
	}
	return w.accs[leaf.Temp].blocks
}

// hasLoop reports whether there are loops on the way from s to its leaf.
func hasLoop(s ir.Stmt) bool {
	for ; s != nil; s = towardsLeaf(s) {
		if _, ok := s.(*ir.Forall); ok {
			return true
		}
	}
	return false
}
