// Package fold emits the monoids of reductions: the state in which a function folds elements, one step, the combination of two
// states, many copies of one element in closed form, and the value at the end. What is folded, and where, is up to the caller.
package fold

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// State is the state of an open fold.
type State struct {
	Reduce *ir.Reduce
	// Vars are one variable, or two for the pairs (logsumexp, argmin, argmax).
	Vars []*loop.Ref
	// Seen says whether anything was folded.
	Seen *loop.Ref
	// Pass is what of a logsumexp is folded, and Scaled what its first pass adds up, if it does.
	Pass   Pass
	Scaled *Scaled
	// Blocks are those of a sum of numbers that round; nil where it is not cut into any.
	Blocks *Blocks

	b     *loop.Builder
	grids bool
}

// IsArg reports whether a fold gives an index.
func IsArg(f ir.Fold) bool { return f == ir.FoldArgMin || f == ir.FoldArgMax }

// Types are the types of a fold's state.
func Types(r *ir.Reduce) []loop.Type {
	switch {
	case r.Fold == ir.FoldLogSumExp:
		return []loop.Type{loop.F64, loop.F64}
	case IsArg(r.Fold):
		return []loop.Type{emit.ComputeType(ir.TypeOf(r.Body)), loop.I64}
	}
	return []loop.Type{emit.ComputeType(r.Typ)}
}

// Open declares a fold's state at its neutral element. grids says that many threads fold.
func Open(b *loop.Builder, r *ir.Reduce, grids bool) State {
	var vars []*loop.Ref
	switch {
	case r.Fold == ir.FoldLogSumExp:
		vars = []*loop.Ref{b.Var("m", loop.Float(loop.F64, math.Inf(-1))), b.Var("s", loop.Float(loop.F64, 0))}
	case IsArg(r.Fold):
		t := emit.ComputeType(ir.TypeOf(r.Body))
		vars = []*loop.Ref{b.Var("best", loop.Number(t, 0)), b.Var("arg", loop.Int(-1))}
	default:
		vars = []*loop.Ref{b.Var("acc", emit.Constant(r.Fold.Identity(r.Typ)))}
	}
	return Of(b, r, grids, vars, b.Var("seen", loop.Truth(false)))
}

// Of is the state that variables hold.
func Of(b *loop.Builder, r *ir.Reduce, grids bool, vars []*loop.Ref, seen *loop.Ref) State {
	return State{Reduce: r, Vars: vars, Seen: seen, b: b, grids: grids}
}

// Fold folds the value x, at flat index flat for arg folds, into the state.
func (s State) Fold(x, flat loop.Expr) {
	switch {
	case s.Reduce.Fold == ir.FoldLogSumExp:
		s.foldExp(x, loop.Float(loop.F64, 1))
	case IsArg(s.Reduce.Fold):
		s.FoldArg(s.b.Let("x", x), s.b.Let("k", flat))
	default:
		s.b.Assign(s.Vars[0], Step(s.b, s.Reduce.Fold, s.Vars[0], x))
	}
}

// Step is one step of a fold whose state is the value itself.
func Step(b *loop.Builder, f ir.Fold, x, y loop.Expr) loop.Expr {
	switch f {
	case ir.FoldSum:
		return b.Add(x, y)
	case ir.FoldProd:
		return b.Mul(x, y)
	case ir.FoldMin:
		return b.Min(x, y)
	case ir.FoldMax:
		return b.Max(x, y)
	case ir.FoldOr:
		return b.Or(x, y)
	case ir.FoldAnd:
		return b.And(x, y)
	}
	panic("BUG: the state of " + f.String() + " is not a value")
}

// FoldArg keeps the better of two (value, index) pairs: a NaN beats everything,
// the smaller index wins a tie, and index -1 is no entry.
func (s State) FoldArg(x, k loop.Expr) {
	b, best, arg := s.b, s.Vars[0], s.Vars[1]
	better := b.Lt(x, best)
	if s.Reduce.Fold == ir.FoldArgMax {
		better = b.Gt(x, best)
	}
	tie := b.Eq(x, best)
	if x.Type().IsFloat() {
		xNaN, bestNaN := b.Ne(x, x), b.Ne(best, best)
		better = b.Or(better, b.And(xNaN, b.Not(bestNaN)))
		tie = b.Or(tie, b.And(xNaN, bestNaN))
	}
	wins := b.Or(b.Lt(arg, loop.Int(0)), b.Or(better, b.And(tie, b.Lt(k, arg))))
	b.If(b.And(b.Ge(k, loop.Int(0)), wins), func() {
		b.Assign(best, x)
		b.Assign(arg, k)
	}, nil)
}

// Absorb folds another state into s.
func (s State) Absorb(vars []loop.Expr, seen loop.Expr) {
	s.Combine(vars)
	s.b.Assign(s.Seen, s.b.Or(s.Seen, seen))
}

// Combine folds another state into that of s, whatever either has seen.
func (s State) Combine(vars []loop.Expr) {
	b := s.b
	switch {
	case s.Reduce.Fold == ir.FoldLogSumExp:
		// Where the sum is 0, nothing was folded.
		b.If(b.Ne(vars[1], loop.Float(loop.F64, 0)), func() { s.rescale(vars[0], vars[1]) }, nil)
	case IsArg(s.Reduce.Fold):
		s.FoldArg(vars[0], vars[1])
	default:
		b.Assign(s.Vars[0], Step(b, s.Reduce.Fold, s.Vars[0], vars[0]))
	}
}

// Finish is the value of a fold.
func (s State) Finish() loop.Expr {
	b := s.b
	switch {
	case s.Reduce.Fold == ir.FoldLogSumExp:
		sum := b.Add(s.Vars[0], b.Call("log_f64", loop.F64, s.Vars[1]))
		return b.Let("lse", b.Cast(emit.ComputeType(s.Reduce.Typ), sum))
	case IsArg(s.Reduce.Fold):
		return b.Let("arg", s.Vars[1])
	}
	return b.Let("t", s.Vars[0])
}

// FoldCopies folds copies of x, as many as the product of the counts, in closed
// form; not for arg folds.
func (s State) FoldCopies(x loop.Expr, counts []loop.Expr) {
	b := s.b
	switch s.Reduce.Fold {
	case ir.FoldSum:
		for _, n := range counts {
			x = b.Let("copies", scalar.ByReal(loop.Mul, x, b.Cast(x.Type().Real(), n)))
		}
		b.Assign(s.Vars[0], b.Add(s.Vars[0], x))
	case ir.FoldProd:
		for _, n := range counts {
			x = power(b, x, n)
		}
		b.Assign(s.Vars[0], b.Mul(s.Vars[0], x))
	case ir.FoldLogSumExp:
		n := loop.Expr(loop.Float(loop.F64, 1))
		for _, c := range counts {
			n = b.Mul(n, b.Cast(loop.F64, c))
		}
		s.foldExp(x, b.Let("n", n))
	default:
		b.Assign(s.Vars[0], Step(b, s.Reduce.Fold, s.Vars[0], x))
	}
}

// power is x to the n-th, n > 0, by repeated squaring: exact where the repeated
// product is.
func power(b *loop.Builder, x, n loop.Expr) loop.Expr {
	result, square, k := b.Var("power", loop.Number(x.Type(), 1)), b.Var("square", x), b.Var("k", n)
	b.While(b.Gt(k, loop.Int(0)), func() {
		b.If(b.Ne(b.And(k, loop.Int(1)), loop.Int(0)), func() { b.Assign(result, b.Mul(result, square)) }, nil)
		b.Assign(square, b.Mul(square, square))
		b.Assign(k, loop.NewBinary(loop.Shr, k, loop.Int(1)))
	})
	return b.Let("power", result)
}
