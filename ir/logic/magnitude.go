package logic

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// bound is a number e for which the value of an expression is certainly below 2^e in size, and no nan; +inf if there is
// none, but for fills that are not finite (endless). Nothing can then be infinite, or nan, in any order of computing. Integers are exact modulo 2^64 in any order: their bound is 0
// unless they are converted.
func (s *statement) bound(e lang.Expr) float64 {
	dt := e.DType()
	if !dt.IsFloat() && !dt.IsComplex() {
		return 0
	}
	b := s.boundOf(e)
	if b > rangeOf(dt) {
		return math.Inf(1)
	}
	return b
}

func (s *statement) boundOf(e lang.Expr) float64 {
	switch e := e.(type) {
	case *lang.Literal:
		z := e.Value.Complex128()
		return max(0, math.Ceil(math.Log2(math.Hypot(real(z), imag(z))))+1)
	case *lang.Access:
		b := s.facts[e.Tensor].exponent
		if fill, reads := s.fillOf(e); reads && finite(fill) {
			b = max(b, log2(cmplx.Abs(fill))+1)
		}
		return b
	case *lang.Cast:
		if from := e.X.DType(); !from.IsFloat() && !from.IsComplex() {
			return float64(8 * from.Size())
		}
		return s.bound(e.X)
	case *lang.IndexValue:
		return 63
	case *lang.Select:
		return max(s.bound(e.Then), s.bound(e.Else))
	case *lang.Reduce:
		return s.boundOfReduce(e)
	case *lang.Call:
		return s.boundOfCall(e)
	}
	return math.Inf(1)
}

func (s *statement) boundOfReduce(e *lang.Reduce) float64 {
	b := s.bound(e.Body)
	switch e.Op {
	case lang.Sum:
		for _, v := range e.Vars {
			b += math.Log2(max(2*s.extents[v.Var], 1)) // extents are rounded
		}
		return b
	case lang.Min, lang.Max:
		return b // over nothing they are refused
	}
	return math.Inf(1)
}

func (s *statement) boundOfCall(e *lang.Call) float64 {
	args := make([]float64, len(e.Args))
	most, all := 0.0, 0.0
	for i, a := range e.Args {
		args[i] = s.bound(a)
		most, all = max(most, args[i]), all+args[i]
	}
	switch e.Fn {
	case "+", "-":
		return most + 1
	case "*":
		return all + 1
	case "square":
		return 2*all + 1
	case "/":
		if l, ok := e.Args[1].(*lang.Literal); ok && !l.Value.IsZero() {
			z := l.Value.Complex128()
			return args[0] + max(0, -math.Floor(math.Log2(math.Hypot(real(z), imag(z)))))
		}
	case "^", "pow":
		if l, ok := e.Args[1].(*lang.Literal); ok && l.Value.Complex128() == 2 {
			return 2*args[0] + 1
		}
	case "sqrt":
		if s.unsigned(e.Args[0]) {
			return most/2 + 1
		}
	case "neg", "abs", "min", "max", "relu", "conj", "real", "imag", "copysign", "floor", "ceil", "trunc", "round":
		return most + 1
	case "sigmoid", "tanh", "sin", "cos", "sign", "erf", "heaviside":
		if most < math.Inf(1) {
			return 1
		}
	}
	return math.Inf(1)
}

// fillOf is the fill that an access may read.
func (s *statement) fillOf(a *lang.Access) (fill complex128, reads bool) {
	f := s.facts[a.Tensor]
	outside := slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Plain() == nil })
	if !f.fill.DType().Valid() || f.dense && !outside {
		return 0, false
	}
	return f.fill.Complex128(), true
}

// endless reports whether an expression reads fills that are not finite, of which its bound says nothing: in shortest paths these are what there is no way to.
func (s *statement) endless(e lang.Expr) bool {
	return slices.ContainsFunc(lang.Accesses(e), func(a *lang.Access) bool {
		fill, reads := s.fillOf(a)
		return s.facts[a.Tensor].endless || reads && !finite(fill)
	})
}

func finite(z complex128) bool { return !cmplx.IsNaN(z) && !cmplx.IsInf(z) }

// unsigned reports whether a number is not below 0, so that it has a root, if what it is computed from is finite.
func (s *statement) unsigned(e lang.Expr) bool {
	if !e.DType().IsFloat() {
		return false
	}
	switch e := e.(type) {
	case *lang.Literal:
		return e.Value.Float64() >= 0
	case *lang.Access:
		return s.unsignedAccess(e)
	case *lang.Reduce:
		return e.Op == lang.Sum && s.unsigned(e.Body)
	case *lang.Call:
		switch e.Fn {
		case "square", "abs":
			return true
		case "^", "pow":
			l, ok := e.Args[1].(*lang.Literal)
			return ok && l.Value.Complex128() == 2
		case "sqrt":
			return s.unsigned(e.Args[0])
		case "+", "*":
			return !slices.ContainsFunc(e.Args, func(a lang.Expr) bool { return !s.unsigned(a) })
		}
	}
	return false
}

// unsignedAccess is unsigned for an element of a tensor.
func (s *statement) unsignedAccess(a *lang.Access) bool {
	fill, reads := s.fillOf(a)
	return s.facts[a.Tensor].nonNegative && (!reads || real(fill) >= 0 && !math.Signbit(real(fill)))
}

// isZero reports whether an expression is the number 0.
func isZero(e lang.Expr) bool {
	switch e := e.(type) {
	case *lang.Literal:
		return e.Value.IsZero()
	case *lang.Cast:
		return isZero(e.X)
	}
	return false
}

// gapIs reports whether elements of a tensor that are not stored are x.
func gapIs(fill tensor.Scalar, x float64) bool {
	return fill.DType().Valid() && fill.Same(tensor.Float(tensor.Float64, x).Convert(fill.DType()))
}
