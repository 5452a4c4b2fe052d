package oracle

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// folding is a reduction over the values of its body.
type folding struct {
	op   lang.Reduction
	in   tensor.DType // of the values
	out  tensor.DType // of the result, in which is computed
	list []Value
	flat []int64 // row-major position of each value
	// stored says that the values are those at stored coordinates: then there is
	// an answer over nothing.
	stored bool
	q      Value  // order of a quantile
	method string // of a quantile
}

// value folds the list.
func (f *folding) value() (Value, error) {
	v, err := f.plain()
	// Folds annihilate nothing: 0*inf in a product is NaN.
	v.State, v.Omissible, v.Disputed, v.Varies = Uniform, omissible(f.list), false, f.extentDecides(v)
	for _, x := range f.list {
		state := x.State
		if state == Gap && x.Varies {
			state = Unknown // kernels note what they have seen by patterns, which do not tell that it annihilated
		}
		v.State, v.Disputed, v.Varies = max(v.State, state), v.Disputed || x.Disputed, v.Varies || x.Varies
		if math.IsInf(x.Err, 1) {
			v.Err = math.Inf(1)
		}
	}
	return v, err
}

// extentDecides reports whether the fold of nothing but gaps depends on their number.
func (f *folding) extentDecides(v Value) bool {
	switch f.op {
	case lang.Sum, lang.Any, lang.Count, lang.Norm:
		return truth(f.out, v)
	case lang.Prod:
		return distance(f.out, v, convert(tensor.Int64, f.out, Value{I: 1})) != 0
	case lang.All:
		return !v.B
	case lang.Min, lang.Max, lang.ArgMin, lang.ArgMax:
		return false
	}
	return true
}

func (f *folding) plain() (Value, error) {
	switch f.op {
	case lang.Sum:
		return sum(f.in, f.list), nil
	case lang.Prod:
		return prod(f.in, f.list), nil
	case lang.Min, lang.Max:
		return f.extreme()
	case lang.Any, lang.All, lang.Count:
		return f.truths(), nil
	case lang.Mean:
		return f.mean(f.in, f.list), nil
	case lang.Var:
		return f.variance(), nil
	case lang.Norm:
		return f.norm(), nil
	case lang.LogSumExp:
		return f.logSumExp(), nil
	case lang.ArgMin, lang.ArgMax:
		return f.position()
	case lang.Median, lang.Quantile, lang.NanQuantile:
		return f.quantile(), nil
	}
	return Value{}, fmt.Errorf("oracle: reduction %v", f.op)
}

// sum adds in extra precision, so that it judges any order of addition.
func sum(dt tensor.DType, list []Value) Value {
	if !inexact(dt) {
		acc := Value{}
		for _, v := range list {
			acc = call("+", dt, dt, []Value{acc, v})
		}
		return acc
	}
	var re, im compensated
	size, errs, exact := 0.0, 0.0, true
	special := false
	for _, v := range list {
		re.add(real(v.C))
		im.add(imag(v.C))
		size += finiteSize(v.C)
		errs += v.Err
		exact = exact && whole(v.C)
		special = special || !finite(v.C)
	}
	z := round(dt, number(complex(re.total(), im.total())))
	z.Err = errs
	switch {
	case special && !dt.IsComplex():
		// Infinities and NaN give the same in every order.
	case !special && !finite(z.C):
		z.Err = math.Inf(1) // whether a partial sum overflows depends on the order
	case !exact || !exactIn(dt, size):
		z.Err += float64(len(list)+2) * unit(dt) * size
	}
	return z
}

// finiteSize is the modulus of the finite parts of a number.
func finiteSize(c complex128) float64 {
	size := 0.0
	for _, part := range []float64{real(c), imag(c)} {
		if !math.IsInf(part, 0) && !math.IsNaN(part) {
			size = math.Hypot(size, part)
		}
	}
	return size
}

// compensated is Neumaier's sum.
type compensated struct{ sum, lost float64 }

func (c *compensated) add(x float64) {
	t := c.sum + x
	if math.Abs(c.sum) >= math.Abs(x) {
		c.lost += (c.sum - t) + x
	} else {
		c.lost += (x - t) + c.sum
	}
	c.sum = t
}

func (c *compensated) total() float64 {
	if math.IsNaN(c.lost) || math.IsInf(c.lost, 0) {
		return c.sum
	}
	return c.sum + c.lost
}

// prod multiplies in order; the product of whole numbers is the same in every
// order while all partial products are exact.
func prod(dt tensor.DType, list []Value) Value {
	acc := convert(tensor.Int64, dt, Value{I: 1})
	if !inexact(dt) {
		for _, v := range list {
			acc = call("*", dt, dt, []Value{acc, v})
		}
		return acc
	}
	exact, special, size := true, false, 1.0
	for _, v := range list {
		exact = exact && whole(v.C)
		special = special || !finite(v.C)
		size *= math.Max(1, magnitude(v))
		acc = apply("*", dt, dt, acc, v)
	}
	switch {
	case special && !dt.IsComplex():
	case !finite(acc.C) || special || !finite(round(dt, number(complex(size, 0))).C):
		acc.Err = math.Inf(1) // in another order, a partial product may overflow before a 0 comes
	case !exact || !exactIn(dt, size):
		acc.Err += 2 * float64(len(list)+4) * unit(dt) * magnitude(acc)
	}
	return acc
}

// extreme is the least or the greatest value.
func (f *folding) extreme() (Value, error) {
	name := "min"
	if f.op == lang.Max {
		name = "max"
	}
	if len(f.list) == 0 {
		if f.stored {
			return identity(f.op, f.in), nil
		}
		return Value{}, ErrEmpty
	}
	acc := f.list[0]
	for _, v := range f.list[1:] {
		e := math.Max(acc.Err, v.Err)
		acc = call(name, f.in, f.in, []Value{acc, v})
		acc.Err = e
	}
	return acc, nil
}

// identity is the least value of a type for max, the greatest for min.
func identity(op lang.Reduction, dt tensor.DType) Value {
	sign := 1
	if op == lang.Max {
		sign = -1
	}
	switch {
	case dt.IsFloat():
		return number(complex(math.Inf(sign), 0))
	case dt == tensor.Bool:
		return Value{B: sign > 0}
	case dt.IsSigned() && sign > 0:
		return Value{I: 1<<(8*dt.Size()-1) - 1}
	case dt.IsSigned():
		return Value{I: -1 << (8*dt.Size() - 1)}
	case sign > 0:
		return Value{I: int64(uint64(math.MaxUint64) >> (64 - 8*dt.Size()))}
	}
	return Value{}
}

// truths is any, all or count.
func (f *folding) truths() Value {
	all, count := true, int64(0)
	for _, v := range f.list {
		if truth(f.in, v) {
			count++
		} else {
			all = false
		}
	}
	switch f.op {
	case lang.Any:
		return Value{B: count > 0}
	case lang.All:
		return Value{B: all}
	}
	return Value{I: count}
}

func (f *folding) mean(dt tensor.DType, list []Value) Value {
	if len(list) == 0 {
		return number(complex(math.NaN(), 0))
	}
	re := dt.Real()
	n := convert(tensor.Int64, re, Value{I: int64(len(list))})
	total := sum(dt, list)
	if !dt.IsComplex() {
		return apply("/", dt, dt, total, n)
	}
	var parts []Value // each is divided by the count, which has no imaginary part
	for _, part := range []string{"real", "imag"} {
		parts = append(parts, apply("/", re, re, apply(part, dt, re, total), n))
	}
	return apply("complex", re, dt, parts...)
}

// variance is the mean squared distance from the mean.
func (f *folding) variance() Value {
	mu := f.mean(f.in, f.list)
	squares := make([]Value, len(f.list))
	for i, v := range f.list {
		squares[i] = apply("square", f.in, f.in, apply("-", f.in, f.in, v, mu))
	}
	return f.mean(f.in, squares)
}

func (f *folding) norm() Value {
	squares := make([]Value, len(f.list))
	re := f.in.Real()
	for i, v := range f.list {
		if !f.in.IsComplex() {
			squares[i] = apply("square", f.in, f.in, v)
			continue
		}
		x, y := apply("real", f.in, re, v), apply("imag", f.in, re, v)
		squares[i] = apply("+", re, re, apply("square", re, re, x), apply("square", re, re, y))
	}
	return apply("sqrt", re, re, sum(re, squares))
}

func (f *folding) logSumExp() Value {
	acc := math.Inf(-1)
	errs, largest := 0.0, 0.0
	for _, v := range f.list {
		acc = logAddExp(acc, real(v.C))
		errs = math.Max(errs, v.Err)
		largest = math.Max(largest, magnitude(v))
	}
	z := round(f.out, number(complex(acc, 0)))
	if len(f.list) > 1 || errs > 0 {
		z.Err = errs + libraryUnits*float64(len(f.list)+1)*0x1p-53*(1+largest) + unit(f.out)*magnitude(z)
	}
	return z
}

// position is argmin or argmax.
func (f *folding) position() (Value, error) {
	if len(f.list) == 0 {
		if f.stored {
			return Value{I: -1}, nil
		}
		return Value{}, ErrEmpty
	}
	best := 0
	for i := range f.list {
		if better(f.op, f.in, f.list[i], f.list[best]) {
			best = i
		}
	}
	z := Value{I: f.flat[best]}
	for i, v := range f.list {
		if i != best && within(v, f.list[best]) {
			z.Err = math.Inf(1)
		}
	}
	return z, nil
}

// better reports whether x beats the earlier best y for argmin or argmax.
func better(op lang.Reduction, dt tensor.DType, x, y Value) bool {
	if dt.IsFloat() {
		a, b := real(x.C), real(y.C)
		if math.IsNaN(a) {
			return !math.IsNaN(b)
		}
		if op == lang.ArgMin {
			return a < b
		}
		return a > b
	}
	less := call("<", dt, tensor.Bool, []Value{x, y}).B
	more := call(">", dt, tensor.Bool, []Value{x, y}).B
	if op == lang.ArgMin {
		return less
	}
	return more
}

func logAddExp(a, b float64) float64 {
	hi, lo := math.Max(a, b), math.Min(a, b)
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	if math.IsInf(hi, 0) {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}
