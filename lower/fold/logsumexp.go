package fold

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// A logarithm of a sum of exponentials is a pair (m, s), which stands for log(s) + m.

// Pass is what is folded where the same elements are gone through twice: for the maximum, and for the sum of the
// exponentials relative to it.
type Pass uint8

// The passes.
const (
	BothAtOnce Pass = iota
	LargestOnly
	SumOnly
)

// Scaled is what the first pass folds where it adds up, too.
type Scaled struct {
	Top *loop.Ref // the maximum, in f32
	Sum *loop.Ref // of the exponentials
}

// ZeroScale is how far from 0 a logarithm may be for exponentials that are not relative to it: f64 has room for them.
// Beyond, the scale is that logarithm or near it, and then x-c is exact
// by Sterbenz's lemma for x from c/2 to 2c, or so far below that it does not count.
const ZeroScale = 256

// Narrow reports whether a fold's result is rounded to 32 bits or fewer, which
// needs no functions that are right to the last bit of 64.
func Narrow(r *ir.Reduce) bool {
	t := emit.Type(r.Typ)
	return t == loop.F32 || t == loop.F16 || t == loop.BF16
}

// exp is the exponential of differences from a maximum.
func (s State) exp() string {
	if s.grids && Narrow(s.Reduce) {
		return "_expnarrow_f64"
	}
	return "exp_f64"
}

// foldExp folds n copies of exp(x), or does what of that belongs to the pass.
func (s State) foldExp(x, n loop.Expr) {
	b, m, sum := s.b, s.Vars[0], s.Vars[1]
	if scaled := s.Scaled; scaled != nil && s.Pass == LargestOnly {
		x = b.Let("x", b.Cast(loop.F32, x))
		b.Assign(scaled.Top, b.Max(scaled.Top, x))
		b.Assign(scaled.Sum, b.Add(scaled.Sum, b.Mul(n, b.Call("_expscaled_f64", loop.F64, x))))
		return
	}
	x = b.Let("x", b.Cast(loop.F64, x))
	switch s.Pass {
	case LargestOnly:
		b.Assign(m, b.Max(m, x))
	case SumOnly:
		w := b.Call(s.exp(), loop.F64, Distance(b, x, m))
		b.Assign(sum, b.Add(sum, b.Mul(n, w)))
	default:
		s.rescale(x, n)
	}
}

// rescale adds n copies of exp(x) to the pair. Equal values are told apart first so that infinities never meet
// in a difference. A NaN sticks to s, and leaves m alone: m is then what processors
// do in one operation. There are no branches: steps for neighbouring lines make vectors.
func (s State) rescale(x, n loop.Expr) {
	b, m, sum := s.b, s.Vars[0], s.Vars[1]
	d := b.Let("d", Distance(b, x, m))
	w := b.Let("w", b.Call(s.exp(), loop.F64, Exponent(d)))
	up := b.Let("up", b.Gt(d, loop.Float(loop.F64, 0)))
	b.Assign(sum, b.Select(up, b.Add(b.Mul(sum, w), n), b.Add(sum, b.Mul(n, w))))
	b.Assign(m, Larger(b, x, m))
}

// Distance is x - m, and 0 for equal infinities.
func Distance(b *loop.Builder, x, m loop.Expr) loop.Expr {
	return b.Select(b.Eq(x, m), loop.Float(loop.F64, 0), b.Sub(x, m))
}

// Exponent is the logarithm of the factor that brings the smaller of two terms to
// the scale of the larger, d being the distance of their logarithms.
func Exponent(d loop.Expr) loop.Expr {
	return loop.NewUnary(loop.Neg, loop.NewUnary(loop.Abs, d))
}

// Larger is the larger of x and m, m if x is NaN.
func Larger(b *loop.Builder, x, m loop.Expr) loop.Expr { return b.Select(b.Gt(x, m), x, m) }
