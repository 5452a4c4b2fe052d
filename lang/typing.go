package lang

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// weak says whether a value adapts to the type it meets, as Python numbers do in
// NumPy 2 (NEP 50): literals and what is computed from literals alone are weak.
type weak uint8

const (
	strong weak = iota
	weakInt
	weakFloat
	weakComplex
)

// value is a checked expression on the way up; a nil Expr marks one with an error.
type value struct {
	Expr
	weak weak
}

func (v value) ok() bool { return v.Expr != nil }

// weakOf is the weakness of a constant expression of type dt.
func weakOf(dt tensor.DType) weak {
	switch {
	case dt.IsInteger():
		return weakInt
	case dt.IsFloat():
		return weakFloat
	case dt.IsComplex():
		return weakComplex
	}
	return strong
}

// meet returns the type in which the values meet, and how weak the result is: it
// is strong if any of them is.
func meet(args ...value) (tensor.DType, weak) {
	dt, w := tensor.Invalid, strong
	constant := tensor.Invalid
	for _, a := range args {
		if a.weak != strong {
			w = max(w, a.weak)
			constant = promoteKnown(constant, a.DType())
			continue
		}
		dt = promoteKnown(dt, a.DType())
	}
	if dt == tensor.Invalid {
		return constant, weakOf(constant)
	}
	return adapt(dt, w), strong
}

func promoteKnown(a, b tensor.DType) tensor.DType {
	if a == tensor.Invalid {
		return b
	}
	return tensor.Promote(a, b)
}

// adapt is the type in which a value of type dt meets a weak one.
func adapt(dt tensor.DType, w weak) tensor.DType {
	switch {
	case w == weakInt && dt == tensor.Bool:
		return tensor.Int64
	case w == weakFloat && (dt == tensor.Bool || dt.IsInteger()):
		return tensor.Float64
	case w == weakComplex && dt.IsComplex():
		return dt
	case w == weakComplex && (dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16):
		return tensor.Complex64
	case w == weakComplex:
		return tensor.Complex128
	}
	return dt
}

// floating is the type in which functions like exp compute values of type dt.
func floating(dt tensor.DType) tensor.DType {
	if dt == tensor.Bool || dt.IsInteger() {
		return tensor.Float64
	}
	return dt
}

// coerce converts v to type to. A constant takes the type if its value fits.
func (c *checker) coerce(v value, to tensor.DType) Expr {
	if v.DType() == to {
		return v.Expr
	}
	lit, ok := v.Expr.(*Literal)
	if !ok {
		return &Cast{Pos: v.Position(), To: to, X: v.Expr}
	}
	if v.weak == weakInt && to.IsInteger() && !fits(lit.Value, to) {
		c.fail(ErrRange, lit.Pos, "convert the other operand to a wider type, for example i64(…)", "%s does not fit %s", lit.Value, to)
		return lit
	}
	return &Literal{Pos: lit.Pos, Value: lit.Value.Convert(to)}
}

// toBool converts v to bool by v != 0.
func (c *checker) toBool(v value) Expr { return c.coerce(v, tensor.Bool) }

// fits says whether an integer keeps its value as type dt.
func fits(x tensor.Scalar, dt tensor.DType) bool {
	y := x.Convert(dt)
	negative := x.DType() == tensor.Int64 && x.Int64() < 0
	if negative && dt.IsUnsigned() || x.DType() == tensor.Uint64 && x.Uint64() > math.MaxInt64 && dt != tensor.Uint64 {
		return false
	}
	return y.Convert(x.DType()) == x
}

// operands are the arguments of a function, ready to be typed.
type operands struct {
	fn   *Function
	pos  Pos
	args []value
}

// apply types the application of a function to checked arguments. min and max
// of more than two arguments become nested calls.
func (c *checker) apply(fn *Function, pos Pos, args []value) value {
	for _, a := range args {
		if !a.ok() {
			return value{}
		}
	}
	o := operands{fn, pos, args}
	in, out, why := o.types()
	if why != "" {
		c.fail(ErrType, pos, o.advice(), "%s", why)
		return value{}
	}
	w := strong
	if _, all := meet(args...); all != strong {
		w = weakOf(out)
	}
	exprs := make([]Expr, len(args))
	for i, a := range args {
		exprs[i] = c.coerce(a, in)
	}
	if fn.Arity >= 0 {
		return value{&Call{Pos: pos, Fn: fn.Name, Args: exprs, Typ: out}, w}
	}
	x := exprs[0]
	for _, y := range exprs[1:] {
		x = &Call{Pos: pos, Fn: fn.Name, Args: []Expr{x, y}, Typ: out}
	}
	return value{x, w}
}

// types returns the type of the arguments and of the result, or why there is none.
func (o operands) types() (in, out tensor.DType, why string) {
	dt, _ := meet(o.args...)
	number := func(in, out tensor.DType) (tensor.DType, tensor.DType, string) {
		if dt == tensor.Bool {
			return 0, 0, o.refuse("bool")
		}
		return in, out, ""
	}
	realOnly := func(in, out tensor.DType) (tensor.DType, tensor.DType, string) {
		if dt.IsComplex() {
			return 0, 0, o.refuse("complex numbers")
		}
		return in, out, ""
	}
	switch o.fn.Typing {
	case Arithmetic:
		return o.arithmetic(dt)
	case Division, Floating:
		return floating(dt), floating(dt), ""
	case RealFloating:
		return realOnly(floating(dt), floating(dt))
	case Comparison:
		dt = o.comparable(dt)
		if o.fn.Name == "==" || o.fn.Name == "!=" {
			return dt, tensor.Bool, ""
		}
		return realOnly(dt, tensor.Bool)
	case Logical:
		return tensor.Bool, tensor.Bool, ""
	case Rounding:
		if o.fn.Arity == 1 && dt == tensor.Bool {
			return 0, 0, o.refuse("bool")
		}
		return realOnly(dt, dt)
	case Magnitude, RealPart:
		return number(dt, dt.Real())
	case Same:
		return number(dt, dt)
	case Test:
		return number(dt, tensor.Bool)
	case Bitwise:
		if dt.IsInteger() || dt == tensor.Bool {
			return dt, dt, ""
		}
		return 0, 0, o.refuse(dt.String())
	case MakeComplex:
		if narrow := dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16; narrow {
			return tensor.Float32, tensor.Complex64, ""
		}
		return realOnly(tensor.Float64, tensor.Complex128)
	case Integral:
		if dt == tensor.Bool {
			return 0, 0, o.refuse("bool")
		}
		return realOnly(dt, dt)
	}
	panic(fmt.Sprintf("BUG: function %s has the unknown typing %d", o.fn.Name, o.fn.Typing))
}

// arithmetic types + - * and powers. Bools add by or and multiply by and; there is
// no difference of bools, as in NumPy, and powers of bools are integers.
func (o operands) arithmetic(dt tensor.DType) (in, out tensor.DType, why string) {
	power := o.fn.Name == "^" || o.fn.Name == "pow"
	if dt == tensor.Bool && o.fn.Name == "-" {
		return 0, 0, o.refuse("bool")
	}
	if dt == tensor.Bool && power {
		dt = tensor.Int64
	}
	exponent, ok := o.args[len(o.args)-1].Expr.(*Literal)
	if !ok || !power || !dt.IsInteger() || exponent.Value.Float64() >= 0 {
		return dt, dt, ""
	}
	if _, w := meet(o.args...); w != strong {
		return tensor.Float64, tensor.Float64, "" // 2^-1 is a constant like 1/2
	}
	return 0, 0, "an integer to a negative power is not an integer"
}

// comparable widens the type of a comparison with an integer constant that does not
// fit it: u8 < 300 is a fair question.
func (o operands) comparable(dt tensor.DType) tensor.DType {
	if !dt.IsInteger() {
		return dt
	}
	for _, a := range o.args {
		if lit, ok := a.Expr.(*Literal); ok && a.weak == weakInt && !fits(lit.Value, dt) {
			return tensor.Promote(dt, lit.Value.DType())
		}
	}
	return dt
}

func (o operands) refuse(what string) string {
	return fmt.Sprintf("%s is not defined for %s", o.fn.Name, what)
}

// advice says what to write instead of an ill-typed application.
func (o operands) advice() string {
	dt, _ := meet(o.args...)
	switch {
	case dt == tensor.Bool && o.fn.Name == "-":
		return "use xor(a, b), or convert: i64(a) - i64(b)"
	case dt == tensor.Bool:
		return "convert the argument, for example i64(…)"
	case dt.IsComplex():
		return "take abs(…), real(…) or imag(…) first"
	case o.fn.Typing == Bitwise:
		return "the bitwise functions take integers and bool"
	case o.fn.Typing == Arithmetic:
		return "convert the base: f64(…)^-1"
	}
	return ""
}

// reductionTypes returns the type in which op folds a body of type dt and the type
// of its result, or ok false when there is none (SEMANTICS of sum and prod follow
// NumPy: bool and narrow integers answer in i64).
func reductionTypes(op Reduction, dt tensor.DType) (in, out tensor.DType, ok bool) {
	switch op {
	case Sum, Prod:
		if dt == tensor.Bool || dt.IsInteger() && dt != tensor.Uint64 {
			return tensor.Int64, tensor.Int64, true
		}
		return dt, dt, true
	case Any, All:
		return tensor.Bool, tensor.Bool, true
	case Count:
		return tensor.Bool, tensor.Int64, true
	case Min, Max:
		return dt, dt, !dt.IsComplex()
	case ArgMin, ArgMax:
		return dt, tensor.Int64, !dt.IsComplex()
	case Mean:
		return floating(dt), floating(dt), true
	case Norm:
		return floating(dt), floating(dt).Real(), true
	case Var, LogSumExp, Median, Quantile, NanQuantile:
		return floating(dt), floating(dt), !dt.IsComplex()
	}
	panic(fmt.Sprintf("BUG: unknown reduction %v", op))
}

// scanTypes is reductionTypes for scans.
func scanTypes(op ScanOp, dt tensor.DType) (in, out tensor.DType, ok bool) {
	switch op {
	case CumSum, CumProd:
		return reductionTypes(Sum, dt)
	case CumMin, CumMax, Sort:
		return dt, dt, !dt.IsComplex()
	case ArgSort:
		return dt, tensor.Int64, !dt.IsComplex()
	case LogCumSumExp:
		return floating(dt), floating(dt), !dt.IsComplex()
	}
	panic(fmt.Sprintf("BUG: unknown scan %v", op))
}
