package ir

import (
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Fold is a primitive reduction: a commutative monoid, possibly over a pair.
type Fold uint8

// The primitive folds. Every reduction of the language is written through them.
const (
	FoldSum Fold = iota
	FoldProd
	FoldMin
	FoldMax
	FoldOr
	FoldAnd
	FoldLogSumExp // state (m, s): log(s) + m; Gibbs' running maximum form
	FoldArgMin    // state (value, flat index); ties go to the smaller index, NaN wins
	FoldArgMax
)

// FoldFacts are the algebraic facts of a fold that planning and lowering use.
type FoldFacts struct {
	Name string
	// Idempotent: folding a value once is the same as folding it n > 0 times.
	Idempotent bool
	// Pair: the accumulator has two parts, so a plain store cannot accumulate.
	Pair bool
}

// folds is the one table of folds.
var folds = [...]FoldFacts{
	FoldSum:       {Name: "sum"},
	FoldProd:      {Name: "prod"},
	FoldMin:       {Name: "min", Idempotent: true},
	FoldMax:       {Name: "max", Idempotent: true},
	FoldOr:        {Name: "or", Idempotent: true},
	FoldAnd:       {Name: "and", Idempotent: true},
	FoldLogSumExp: {Name: "logsumexp", Pair: true},
	FoldArgMin:    {Name: "argmin", Pair: true},
	FoldArgMax:    {Name: "argmax", Pair: true},
}

// Facts returns the facts of the fold.
func (f Fold) Facts() FoldFacts { return folds[f] }

// String is the fold's name.
func (f Fold) String() string { return folds[f].Name }

// Identity is the fold's neutral element in type dt, for folds that are not pairs.
func (f Fold) Identity(dt tensor.DType) tensor.Scalar {
	switch f {
	case FoldProd, FoldAnd:
		return tensor.One(dt)
	case FoldMin:
		return Highest(dt)
	case FoldMax:
		return Lowest(dt)
	}
	return tensor.Zero(dt)
}

// NaN is NaN in a float type.
func NaN(dt tensor.DType) tensor.Scalar { return tensor.Float(dt, math.NaN()) }

// Lowest is the smallest value of a real type: -inf, the least integer, or false.
func Lowest(dt tensor.DType) tensor.Scalar {
	switch {
	case dt.IsFloat():
		return tensor.Float(dt, math.Inf(-1))
	case dt.IsSigned():
		return tensor.Int(dt, -1<<(8*dt.Size()-1))
	}
	return tensor.Zero(dt)
}

// Highest is the largest value of a real type: +inf, the greatest integer, or true.
func Highest(dt tensor.DType) tensor.Scalar {
	switch {
	case dt.IsFloat():
		return tensor.Float(dt, math.Inf(1))
	case dt.IsSigned():
		return tensor.Int(dt, 1<<(8*dt.Size()-1)-1)
	case dt == tensor.Bool:
		return tensor.One(dt)
	}
	return tensor.Uint(dt, math.MaxUint64>>(64-8*dt.Size()))
}

// annihilator describes a value that decides an operation's result alone.
type annihilator struct {
	left, right bool // on which side it does
	value       annihilatorValue
	// loose: for floats it holds only up to 0·inf, 0·nan, 0/0 and inf-inf, so
	// StrictIEEE turns it off. The result is the annihilating value itself.
	loose bool
}

type annihilatorValue uint8

const (
	zeroValue annihilatorValue = iota
	oneValue
	lowestValue
	highestValue
	infinite // either infinity, floats only
)

// annihilators is the one table of annihilators, by function. Float minimum
// and maximum are not here: NaN overrides an infinity in them.
var annihilators = map[string][]annihilator{
	"*":        {{true, true, zeroValue, true}},
	"/":        {{true, false, zeroValue, true}},
	"mod":      {{true, false, zeroValue, true}},
	"floordiv": {{true, false, zeroValue, true}},
	"+":        {{true, true, infinite, true}},
	"and":      {{true, true, zeroValue, false}},
	"or":       {{true, true, oneValue, false}},
	"bitand":   {{true, true, zeroValue, false}},
	"min":      {{true, true, lowestValue, false}},
	"max":      {{true, true, highestValue, false}},
}

// Annihilates reports whether value v as argument number arg of function fn
// decides the result whatever the other argument is; the result is then v.
func Annihilates(fn string, arg int, v tensor.Scalar, strict bool) bool {
	dt := v.DType()
	for _, a := range annihilators[fn] {
		if arg == 0 && !a.left || arg == 1 && !a.right || arg > 1 {
			continue
		}
		if a.loose && inexact(dt) && strict {
			continue
		}
		switch a.value {
		case zeroValue:
			if isValue(v, tensor.Zero(dt)) {
				return true
			}
		case oneValue:
			if isValue(v, tensor.One(dt)) {
				return true
			}
		case lowestValue:
			if !inexact(dt) && v == Lowest(dt) {
				return true
			}
		case highestValue:
			if !inexact(dt) && v == Highest(dt) {
				return true
			}
		case infinite:
			if dt.IsFloat() && math.IsInf(v.Float64(), 0) {
				return true
			}
		}
	}
	return false
}

// Annihilator is the value of a type without infinities that decides the result of fn as argument
// number arg, if there is one.
func Annihilator(fn string, arg int, dt tensor.DType) (tensor.Scalar, bool) {
	for _, v := range []tensor.Scalar{tensor.Zero(dt), tensor.One(dt), Lowest(dt), Highest(dt)} {
		if Annihilates(fn, arg, v, false) {
			return v, true
		}
	}
	return tensor.Scalar{}, false
}

// MayAnnihilate reports whether an infinity or NaN in the other argument is what makes it matter
// that a float as argument number arg of fn is a gap: values that annihilate in exact arithmetic too
// need no second look.
func (g Algebra) MayAnnihilate(fn string, arg int) bool {
	for _, a := range annihilators[fn] {
		if a.loose && !g.Strict && (arg == 0 && a.left || arg == 1 && a.right) {
			return true
		}
	}
	return false
}

// isValue compares by value, so that -0 counts as 0.
func isValue(v, w tensor.Scalar) bool {
	if v.DType().IsComplex() || v.DType().IsFloat() {
		return v.Complex128() == w.Complex128()
	}
	return v == w
}

// IsIdentity reports whether folding v changes nothing.
func (f Fold) IsIdentity(v tensor.Scalar) bool {
	return !f.Facts().Pair && isValue(v, f.Identity(v.DType()))
}

// IsNeutral reports whether an expression is known to be a value that folding changes nothing.
func (f Fold) IsNeutral(e Expr) bool {
	v, ok := ConstValue(e)
	return ok && f.IsIdentity(v)
}

// AnyOrder reports whether a fold of values of a type is the same in any order: threads may then fold copies of a result.
func (f Fold) AnyOrder(t tensor.DType) bool {
	switch f {
	case FoldSum, FoldProd:
		return t == tensor.Bool || t.IsInteger()
	case FoldMin, FoldMax, FoldOr, FoldAnd:
		return true
	}
	return false
}
