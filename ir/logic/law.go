package logic

import (
	"math"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// law says that a product distributes over a reduction: fold_j (a*b(j)) = a * fold_j b(j).
type law struct {
	fold    lang.Reduction
	product string // the name of the function
	// gap is what elements that are not stored must be: it annihilates.
	gap float64
	// holds says for which element types, given what is known of the data. All of it is finite in any case where the
	// type has what is not.
	holds func(tensor.DType) bool
	// nonNegative says that it holds for factors that are not negative only.
	nonNegative bool
	// grows says that a product of numbers may be beyond the range of its type.
	grows bool
}

// laws are all pairs of operators that distribute. Not in it are min and max with + of integers, whose sums
// wrap; floats that are narrower than f32, as intermediates would be rounded to them; and what is finite
// only within a range, which bound sees to. NaN, and infinities in products, break the laws: they are excluded by
// statistics. The sign of a zero may change, where there is an order in which zeros of both signs are added.
var laws = []law{
	{lang.Sum, "*", 0, summable, false, true},
	{lang.Min, "+", math.Inf(1), wideFloat, false, true},
	{lang.Max, "+", math.Inf(-1), wideFloat, false, true},
	{lang.Max, "*", 0, wideFloat, true, true},
	{lang.Any, "and", 0, boolean, false, false},
	{lang.All, "or", 1, boolean, false, false},
}

// summable are the types with sums in a ring: floats, complex numbers, and integers of 64 bits, whose sums and products are
// exact modulo 2^64. Narrower ones are converted before they are summed.
func summable(dt tensor.DType) bool {
	return wideFloat(dt) || dt.IsComplex() || dt == tensor.Int64 || dt == tensor.Uint64
}

func wideFloat(dt tensor.DType) bool { return dt == tensor.Float64 || dt == tensor.Float32 }
func boolean(dt tensor.DType) bool   { return dt == tensor.Bool }

// lawOf is the law of a reduction whose body is of its own type; nil if there is none. Where a reduction distributes
// over several operators, the body says which.
func lawOf(r *lang.Reduce) *law {
	for i := range laws {
		l := &laws[i]
		if l.fold == r.Op && l.holds(r.Typ) && r.Body.DType() == r.Typ && (r.Op != lang.Max || l.product == "*" == uses(r.Body, "*")) {
			return l
		}
	}
	return nil
}

// uses reports whether a body is a call of a function, or a reduction of one.
func uses(e lang.Expr, fn string) bool {
	switch e := e.(type) {
	case *lang.Call:
		return e.Fn == fn
	case *lang.Reduce:
		return uses(e.Body, fn)
	}
	return false
}

// range of a type: numbers below 2^e in size are safe.
func rangeOf(dt tensor.DType) float64 {
	switch dt {
	case tensor.Float64, tensor.Complex128:
		return 1000
	case tensor.Float32, tensor.Complex64:
		return 120
	}
	return math.Inf(1)
}
