package fold

import (
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

// OrderedTerms is the number of terms in a block whose terms are added in order.
const OrderedTerms = 512

// Blocks is what a sum keeps of its finished blocks. The open block is in the state itself.
type Blocks struct {
	// Terms is the number of terms in the open block, as far as loops that go on for
	// long count them; with Each, every step counts its own.
	Terms *loop.Ref
	Each  bool

	total, low *loop.Ref // the sum of the blocks, and what it rounds off
	closed     *loop.Ref // whether there are any
	used       bool      // blocks may be closed before the fold is
}

// NewBlocks declares the blocks of a fold, nil if it is no sum of numbers that round.
func NewBlocks(b *loop.Builder, r *ir.Reduce) *Blocks {
	if t := emit.ComputeType(r.Typ); r.Fold != ir.FoldSum || !t.IsFloat() && !t.IsComplex() {
		return nil
	}
	zero := emit.Constant(r.Fold.Identity(r.Typ))
	return &Blocks{total: b.Var("total", zero), low: b.Var("low", zero), closed: b.Var("closed", loop.Truth(false)), Terms: b.Var("terms", loop.Int(0))}
}

// add adds x to total, and what that rounds off to low.
func (s *Blocks) add(b *loop.Builder, x loop.Expr) {
	x = b.Let("x", x)
	sum := b.Let("sum", b.Add(s.total, x))
	part := b.Let("part", b.Sub(sum, s.total))
	b.Assign(s.low, b.Add(s.low, b.Add(b.Sub(s.total, b.Sub(sum, part)), b.Sub(x, part))))
	b.Assign(s.total, sum)
}

// identity is the neutral element of a fold whose state is the value itself.
func (s State) identity() loop.Expr { return emit.Constant(s.Reduce.Fold.Identity(s.Reduce.Typ)) }

// CloseBlock adds the open block to the finished ones and opens another.
func (s State) CloseBlock() {
	s.Blocks.add(s.b, s.Vars[0])
	s.b.Assign(s.Vars[0], s.identity())
}

// JoinBlocks leaves the whole sum in the state.
func (s State) JoinBlocks() {
	s.Blocks.add(s.b, s.Vars[0])
	s.JoinClosed()
}

// JoinClosed leaves the sum of the finished blocks in the state. Infinite sums round off NaN, which says nothing.
func (s State) JoinClosed() {
	b, of := s.b, s.Blocks
	low := b.Let("low", of.low)
	finite := b.Eq(b.Sub(low, low), s.identity())
	b.Assign(s.Vars[0], b.Select(finite, b.Add(of.total, low), of.total))
}

// Settle leaves the whole sum in the state where loops may have closed blocks.
func (s State) Settle() {
	if of := s.Blocks; of != nil && of.used {
		s.b.If(of.closed, s.JoinBlocks, nil)
	}
}

// CloseFull closes the open block if it has all its terms.
func (s State) CloseFull() {
	b, of := s.b, s.Blocks
	of.used = true
	b.If(b.Ge(of.Terms, loop.Int(OrderedTerms)), func() {
		s.CloseBlock()
		b.Assign(of.Terms, loop.Int(0))
		b.Assign(of.closed, loop.Truth(true))
	}, nil)
}

// Inner is the state in which terms are added to each other before they are added to s, so that the additions of one row do
// not wait for those of the row before.
func (s State) Inner() State {
	s.Vars = []*loop.Ref{s.b.Var("inner", s.identity())}
	return s
}

// AddInner adds the sum of n terms. A block may end behind them: with the branch for that before them, rows of a few entries took a third longer.
func (s State) AddInner(inner State, n loop.Expr) {
	s.b.Assign(s.Vars[0], s.b.Add(s.Vars[0], inner.Vars[0]))
	s.b.Assign(s.Blocks.Terms, s.b.Add(s.Blocks.Terms, n))
	s.CloseFull()
}

// EachCounted makes the steps that emit emits count their terms.
func (s *Blocks) EachCounted(emit func()) {
	if s == nil {
		emit()
		return
	}
	s.Each = true
	emit()
	s.Each = false
}

// CountTerm counts a step of a fold, if its loop does not.
func (s State) CountTerm() {
	if of := s.Blocks; of != nil && of.Each {
		s.b.Assign(of.Terms, s.b.Add(of.Terms, loop.Int(1)))
		s.CloseFull()
	}
}
